/** Finds the text and the reasoning in a chat message or delta, wherever the upstream puts them. */

import { argumentsFragment } from '../../conversation/arguments.ts'
import type { OutputMember } from '../../conversation/event-template.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'

export interface SpokenParts {
  readonly text: string
  readonly reasoning: string
}

/**
 * Separates text and reasoning. `content` is a string, null, or a list of parts, some of which may be reasoning. Reasoning may
 * also be in one of three fields; if several are set, their content is the same.
 */
export function spokenParts(message: JsonObject): SpokenParts {
  const field =
    textOrNull(message.reasoning_content) ?? textOrNull(message.reasoning) ?? detailsText(message.reasoning_details)
  if (typeof message.content === 'string') return { text: message.content, reasoning: field }
  const parts = arrayOrEmpty(message.content).map(part => objectOrNull(part))
  return {
    text: parts.map(part => (part?.type === 'text' ? (textOrNull(part.text) ?? '') : '')).join(''),
    reasoning: field || parts.map(part => (part?.type === 'thinking' ? thinkingText(part.thinking) : '')).join(''),
  }
}

/** Returns what a message or delta adds to its tool calls: arguments, or the input of free-form tools. */
export function callTexts({ tool_calls, function_call }: JsonObject): string[] {
  return [...arrayOrEmpty(tool_calls), { function: function_call ?? null }].map(call => {
    const { function: fn, custom } = objectOrNull(call) ?? {}
    return argumentsFragment(objectOrNull(fn)?.arguments ?? objectOrNull(custom)?.input)
  })
}

function thinkingText(thinking: JsonValue | undefined): string {
  if (typeof thinking === 'string') return thinking
  return arrayOrEmpty(thinking)
    .map(part => textOrNull(objectOrNull(part)?.text) ?? '')
    .join('')
}

function detailsText(details: JsonValue | undefined): string {
  return arrayOrEmpty(details)
    .map(detail => textOrNull(objectOrNull(detail)?.text) ?? '')
    .join('')
}

/** Returns the key of the member that carries a delta's output. Null if there is no output, or if several members carry some. */
export function deltaMember(value: JsonObject[string]): OutputMember | null {
  const delta = objectOrNull(value)
  if (delta === null || isObject(delta.function_call)) return null
  const { text, reasoning } = spokenParts(delta)
  const calls = arrayOrEmpty(delta.tool_calls)
  const isPlain = textOrNull(delta.refusal) === null && !Array.isArray(delta.content)
  if (!isPlain || [text !== '', reasoning !== '', calls.length > 0].filter(Boolean).length !== 1) return null
  if (text !== '') return '"content":'
  if (reasoning !== '') return delta.reasoning_content === reasoning ? '"reasoning_content":' : null
  const written = objectOrNull(objectOrNull(calls[0])?.function)?.arguments
  return calls.length === 1 && textOrNull(written) !== null ? '"arguments":' : null
}
