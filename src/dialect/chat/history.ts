/** Moves reasoning and signatures in the history of a chat request to where the upstream expects them. */

import { isEnvelope } from '../../conversation/envelope.ts'
import {
  arrayOrEmpty,
  atPointer,
  isObject,
  type JsonObject,
  type JsonValue,
  memberOf,
  objectAtPointer,
  textOrNull,
} from '../../lib/json.ts'
import { mapList, withMember, withMemberRenamed, withoutMembers } from '../copy.ts'
import type { DialectReasoning, DialectTools } from '../words.ts'

const FIELDS = ['reasoning_content', 'reasoning'] as const

/**
 * Moves an assistant message's reasoning to the field that the upstream reads, or removes it. The dialect word `echo` says
 * whether the upstream expects reasoning in the history.
 */
export function withEcho(message: JsonObject, { echo, echoPlaceholder, field }: DialectReasoning): JsonObject {
  if (echo === 'never') return withoutThought(message)
  const thought = thoughtOf(message)
  const text = thought === '' && echo === 'always' ? (echoPlaceholder ?? '') : thought
  const isMissing = thought === '' && echo === 'if_present'
  if (field === 'content_parts') return text === '' ? withoutThought(message) : withParts(withoutThought(message), text)
  if (isMissing || field === 'item_content') return message
  const from = FIELDS.find(name => textOrNull(message[name]) !== null)
  const bare = withoutParts(message)
  const moved = from === undefined ? bare : withMemberRenamed(bare, from, field, text)
  return withoutMembers(withThought(moved, field, text), field === 'reasoning' ? ['reasoning_content'] : ['reasoning'])
}

/** Sets the reasoning field. A new field goes before the tool calls. */
function withThought(message: JsonObject, field: string, text: string): JsonObject {
  if (message.tool_calls === undefined || Object.hasOwn(message, field)) return withMember(message, field, text)
  const { tool_calls, ...rest } = message
  return { ...rest, [field]: text, tool_calls }
}

/**
 * Removes envelopes, in which this gateway gave the client a provider's sealed reasoning (see `conversation/envelope.ts`). Chat
 * upstreams cannot read them.
 */
export function withoutEnvelopes(message: JsonObject): JsonObject {
  if (message.reasoning_details === undefined) return message
  const details = arrayOrEmpty(message.reasoning_details)
  const others = details.filter(detail => !isObject(detail) || !isEnvelope(textOrNull(detail.data) ?? ''))
  if (others.length === details.length) return message
  if (others.length === 0) return withoutMembers(message, ['reasoning_details'])
  return withMember(message, 'reasoning_details', others)
}

/** Returns the reasoning text from whichever field has it; '' for none. */
function thoughtOf(message: JsonObject): string {
  for (const field of FIELDS) if (typeof message[field] === 'string' && message[field] !== '') return message[field]
  if (!Array.isArray(message.content)) return ''
  return message.content
    .filter(isThought)
    .map(part => textOfThought(part.thinking))
    .join('')
}

function textOfThought(thinking: JsonValue | undefined): string {
  if (typeof thinking === 'string') return thinking
  return arrayOrEmpty(thinking)
    .map(part => (isObject(part) ? (textOrNull(part.text) ?? '') : ''))
    .join('')
}

function withoutThought(message: JsonObject): JsonObject {
  return withoutMembers(withoutParts(message), FIELDS)
}

function withoutParts(message: JsonObject): JsonObject {
  const { content } = message
  if (!Array.isArray(content) || !content.some(isThought)) return message
  return withMember(
    message,
    'content',
    mapList(content, part => (isThought(part) ? undefined : part)),
  )
}

function withParts(message: JsonObject, text: string): JsonObject {
  const { content } = message
  const thought = { type: 'thinking', thinking: [{ type: 'text', text }] }
  const shown: readonly JsonValue[] =
    textOrNull(content) === null ? arrayOrEmpty(content) : [{ type: 'text', text: content as string }]
  return withMember(message, 'content', [thought, ...shown])
}

function isThought(part: JsonValue): part is JsonObject {
  return memberOf(part, 'type') === 'thinking'
}

/**
 * Adds a placeholder signature to the turn's first call unless one of the calls is signed. Upstreams that require signatures
 * accept the placeholder on calls that another model made.
 */
export function withSignature(message: JsonObject, { path, placeholder }: DialectTools['signature']): JsonObject {
  if (path === null || placeholder === null) return message
  const calls = arrayOrEmpty(message.tool_calls)
  const call = calls[0]
  if (!isObject(call)) return message
  const [key] = Object.keys(objectAtPointer(path, null))
  if (key === undefined || call[key] !== undefined) return message
  if (calls.some(each => atPointer(each, path) !== undefined)) return message
  return withMember(message, 'tool_calls', [{ ...call, ...objectAtPointer(path, placeholder) }, ...calls.slice(1)])
}
