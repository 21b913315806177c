/** Text and reasoning of a chat message or of a delta, wherever the upstream puts them. */

import { arrayOrEmpty, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'

export interface SpokenParts {
  readonly text: string
  readonly reasoning: string
}

/**
 * `content` is a string, null, or parts of which some are reasoning. Reasoning stands in one of three fields too; where
 * several are filled they say the same.
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
