/** Adapts the roles and the order of a chat request's messages. */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { withMember } from '../copy.ts'
import { joined, joinedTexts, merged } from '../joining.ts'
import type { FormatPath } from '../types.ts'
import type { Dialect } from '../words.ts'

type Turns = Dialect['turns']

export function isSystem(message: JsonValue | undefined): message is JsonObject {
  return isObject(message) && (message.role === 'system' || message.role === 'developer')
}

/** Returns the index of the first message that is not a leading instruction. */
function firstTurn(messages: readonly JsonValue[]): number {
  const first = messages.findIndex(message => !isSystem(message))
  return first < 0 ? messages.length : first
}

/** Appends text to the leading system messages, or adds a system message if there are none. */
export function withInstruction(messages: readonly JsonValue[], text: string, { systemRole }: Turns): JsonValue[] {
  const at = firstTurn(messages) - 1
  const last = messages[at]
  if (!isSystem(last))
    return [{ role: systemRole === 'developer' ? 'developer' : 'system', content: text }, ...messages]
  const content =
    typeof last.content === 'string'
      ? joinedTexts([last.content, text])
      : [...arrayOrEmpty(last.content), { type: 'text', text }]
  return messages.with(at, withMember(last, 'content', content))
}

/**
 * Moves system messages that come later in the conversation to the top or makes them user messages, as the upstream requires.
 * Merges neighbouring turns if roles must alternate, and has the model answer tool results before a user turn follows.
 */
export function placed(messages: readonly JsonValue[], { midSystem, alternate }: Turns): JsonValue[] {
  const set = midSystem === 'keep' ? (messages as JsonValue[]) : placeSystem(messages, midSystem)
  // Tool results and messages with calls are never merged.
  return alternate ? answered(merged(set, ({ role, tool_calls }) => role !== 'tool' && tool_calls === undefined)) : set
}

function answered(messages: readonly JsonValue[]): JsonValue[] {
  const followsResult = (message: JsonValue, index: number) => {
    const previous = messages[index - 1]
    return isObject(message) && message.role === 'user' && isObject(previous) && previous.role === 'tool'
  }
  if (!messages.some(followsResult)) return messages as JsonValue[]
  return messages.flatMap((message, index) =>
    followsResult(message, index) ? [{ role: 'assistant', content: 'OK.' }, message] : [message],
  )
}

/** Leaves one system message, at the top: hosts that refuse later ones refuse a second one as well. */
function placeSystem(messages: readonly JsonValue[], midSystem: 'hoist' | 'user_text'): JsonValue[] {
  const first = firstTurn(messages)
  const leading = messages.slice(0, first)
  const rest = messages.slice(first)
  const later = rest.filter(isSystem)
  if (leading.length < 2 && later.length === 0) return messages as JsonValue[]
  if (midSystem === 'user_text') {
    return [
      ...joinedSystem(leading.filter(isSystem)),
      ...rest.map(message => (isSystem(message) ? withMember(message, 'role', 'user') : message)),
    ]
  }
  return [...joinedSystem([...leading.filter(isSystem), ...later]), ...rest.filter(message => !isSystem(message))]
}

function joinedSystem(messages: readonly JsonObject[]): readonly JsonObject[] {
  return messages.length < 2 ? messages : [joined(messages)]
}

/**
 * Makes the model continue a trailing assistant message: sets the upstream's flag for that, or adds a user turn. The flag is only
 * set in converted calls, because chat clients set it themselves if they want the reply to be continued.
 */
export function withPrefill(messages: readonly JsonValue[], { prefill }: Turns, formatPath: FormatPath): JsonValue[] {
  const last = messages.at(-1)
  const isHistory = !isObject(last) || last.role !== 'assistant' || last.tool_calls !== undefined
  if (isHistory || prefill === 'continue' || prefill === 'unsupported') return messages as JsonValue[]
  if (prefill === 'user_turn') return [...messages, { role: 'user', content: 'Continue.' }]
  return formatPath === 'converted' && last[prefill] === undefined
    ? messages.with(-1, withMember(last, prefill, true))
    : (messages as JsonValue[])
}
