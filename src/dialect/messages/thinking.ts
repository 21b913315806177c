/** Handles thinking blocks of earlier turns in a messages request. */

import { isEnvelope } from '../../conversation/envelope.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, memberOf, textOrNull } from '../../lib/json.ts'
import { mapList } from '../copy.ts'

/**
 * Removes thinking blocks of other vendors' models, because an upstream refuses a request with even one of them. Such a block
 * has no signature, or in its place an envelope of this gateway, whether valid or not (see `conversation/envelope.ts`).
 */
export function withoutForeignThinking(content: JsonValue | undefined): JsonValue | undefined {
  if (!Array.isArray(content)) return content
  return mapList(content, block => (isForeign(block) ? undefined : block))
}

function isForeign(block: JsonValue): boolean {
  switch (memberOf(block, 'type')) {
    case 'thinking': {
      const signature = textOrNull(memberOf(block, 'signature'))
      return signature === null || isEnvelope(signature)
    }
    case 'redacted_thinking':
      return isEnvelope(textOrNull(memberOf(block, 'data')) ?? '')
    default:
      return false
  }
}

/** Whether the last assistant turn has tool calls without signed thinking. After such a turn, thinking cannot be enabled. */
export function endsInUnsignedToolTurn(body: JsonObject): boolean {
  const thinking = thinkingOfToolTurn(body)
  return thinking !== null && (thinking.length === 0 || thinking.some(isForeign))
}

/** Whether the last assistant turn has tool calls, and thinking that `withoutForeignThinking` removes. */
export function endsInForeignToolTurn(body: JsonObject): boolean {
  return thinkingOfToolTurn(body)?.some(isForeign) === true
}

/** Returns the thinking blocks of the last assistant turn; null if it has no tool calls. */
function thinkingOfToolTurn(body: JsonObject): JsonObject[] | null {
  const messages = arrayOrEmpty(body.messages).filter(isObject)
  const blocks = arrayOrEmpty(messages.findLast(message => message.role === 'assistant')?.content).filter(isObject)
  if (!blocks.some(block => block.type === 'tool_use')) return null
  return blocks.filter(({ type }) => type === 'thinking' || type === 'redacted_thinking')
}
