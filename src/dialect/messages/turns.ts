/** Adapts the roles and the order of the messages in a messages request. */

import { refuse } from '../../conversation/refuse.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { mapList, withMember, withoutMembers } from '../copy.ts'
import { joinedContents, merged } from '../joining.ts'
import type { DialectFacts } from '../types.ts'
import type { Dialect } from '../words.ts'

type Turns = Dialect['turns']

/** Appends an instruction to `system`. */
export function withInstruction(body: JsonObject, text: string): JsonObject {
  return withSystem(body, joinedSystem([body.system, text]))
}

function joinedSystem(contents: readonly (JsonValue | undefined)[]): JsonValue {
  const filled = contents.filter(isFilled)
  return filled.length === 1 ? (filled[0] as JsonValue) : joinedContents(filled, '\n')
}

function isFilled(content: JsonValue | undefined): content is JsonValue {
  return content !== undefined && content !== null && content !== ''
}

/** Adapts instructions between turns, neighbouring turns of the same role, and a final assistant turn. */
export function placed(body: JsonObject, { dialect: { turns }, formatPath }: DialectFacts): JsonObject {
  if (!Array.isArray(body.messages)) return body
  const { midSystem, alternate, prefill } = turns
  let changed = body
  if (midSystem === 'hoist') changed = hoisted(changed, body.messages)
  else if (midSystem === 'user_text') changed = withMember(changed, 'messages', mapList(body.messages, asUserText))
  else if (formatPath === 'converted') changed = withMember(changed, 'messages', mapList(body.messages, placedMessage))
  if (alternate)
    changed = withMember(
      changed,
      'messages',
      merged(changed.messages as JsonValue[], () => true),
    )
  return withPrefill(changed, prefill)
}

function hoisted(body: JsonObject, messages: readonly JsonValue[]): JsonObject {
  const later = messages.filter(isSystem)
  if (later.length === 0) return body
  const system = joinedSystem([body.system, ...later.map(({ content }) => content)])
  const turns = messages.filter(message => !isSystem(message))
  return { ...withSystem(body, system), messages: turns }
}

/** Sets `system`. A new `system` goes right before `messages`. */
function withSystem(body: JsonObject, system: JsonValue): JsonObject {
  if (Object.hasOwn(body, 'system')) return withMember(body, 'system', system)
  return Object.fromEntries(
    Object.entries(body).flatMap(([key, value]) =>
      key === 'messages' ? [['system', system] as const, [key, value] as const] : [[key, value] as const],
    ),
  )
}

/**
 * Turns a system message into a user message; other messages stay. Returns undefined for a system message without content: it
 * only carries settings (`output_config`).
 */
function asUserText(message: JsonValue): JsonValue | undefined {
  if (!isSystem(message)) return message
  const { content } = message
  if (!isFilled(content) || (Array.isArray(content) && content.length === 0)) return undefined
  return withMember(withoutMembers(message, ['output_config']), 'role', 'user')
}

/**
 * Keeps a system message where the format allows it: after a user turn, and at the end or before an assistant turn. Anywhere else
 * it becomes a user message.
 */
function placedMessage(message: JsonValue, index: number, messages: readonly JsonValue[]): JsonValue | undefined {
  const isAssistant = (other: JsonValue | undefined) => isObject(other) && other.role === 'assistant'
  const previous = messages[index - 1]
  const next = messages[index + 1]
  // A system message right before this one has become a user message.
  const isPlaced = previous !== undefined && !isAssistant(previous) && (next === undefined || isAssistant(next))
  return isPlaced ? message : asUserText(message)
}

/** User message for models that do not continue a final assistant message by themselves. */
const GO_ON = 'Continue.'

/**
 * Makes the model continue a final assistant message. Throws GatewayError `invalid_request` if the model does not support it.
 */
function withPrefill(body: JsonObject, prefill: Turns['prefill']): JsonObject {
  const messages = body.messages as JsonValue[]
  const last = messages.at(-1)
  if (!isObject(last) || !isPrefill(last)) return body
  switch (prefill) {
    case 'user_turn':
      return withMember(body, 'messages', [...messages, { role: 'user', content: GO_ON }])
    case 'unsupported':
      return refuse(
        'messages',
        'This model does not support assistant message prefill. The conversation must end with a user message.',
      )
    default:
      return withMember(body, 'messages', messages.with(-1, withMember(last, 'content', trimmed(last.content))))
  }
}

/**
 * Whether a message is an assistant turn that consists of text or thinking only. Any other assistant turn, such as one that was
 * paused during a server-side tool call, is continued by every model.
 */
function isPrefill({ role, content }: JsonObject): boolean {
  if (role !== 'assistant') return false
  if (typeof content === 'string') return content !== ''
  const own = ['text', 'thinking', 'redacted_thinking']
  return (
    Array.isArray(content) &&
    content.length > 0 &&
    content.every(block => isObject(block) && own.includes(String(block.type)))
  )
}

/** Removes trailing whitespace, which the format forbids at the end of a final assistant message. */
function trimmed(content: JsonValue | undefined): JsonValue {
  if (typeof content === 'string') return content.trimEnd()
  if (!Array.isArray(content)) return content ?? ''
  const last = content.at(-1)
  if (!isObject(last) || typeof last.text !== 'string') return content
  const text = last.text.trimEnd()
  if (text === last.text) return content
  return text === '' ? content.slice(0, -1) : content.with(-1, withMember(last, 'text', text))
}

function isSystem(message: JsonValue): message is JsonObject {
  return isObject(message) && message.role === 'system'
}
