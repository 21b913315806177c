/** Results of tool calls as `tool` messages, and what does not fit into them as content of the user message behind. */

import type { ResultContent, ResultPart, TextPart } from '../../conversation/request.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'
import { type ContentWriting, writePart } from './write-content.ts'

export interface WrittenResult {
  readonly message: JsonObject
  /** Images and documents of the result, for the following user message. */
  readonly following: readonly ResultContent[]
}

/** `id`: of the call, as the upstream gets it. */
export function writeResult(part: ResultPart, id: string, writing: ContentWriting): WrittenResult {
  const attached = part.content.filter(content => isAttached(content, writing))
  const inline = part.content.filter(content => content.kind === 'text' || !attached.includes(content))
  const native = writing.dialect.tools.resultImages === 'native' && inline.some(content => content.kind !== 'text')
  const content = native ? nativeContent(part, inline, writing) : textContent(part, inline, attached, writing)
  const following = writing.dialect.tools.resultImages === 'following_user' ? attached : []
  return {
    message: { role: 'tool', tool_call_id: id, content },
    following: following.length === 0 ? [] : [label(id), ...following],
  }
}

/** Images and documents stand outside the tool message, unless the upstream takes them there. */
function isAttached(content: ResultContent, { dialect, hasVision }: ContentWriting): boolean {
  if (content.kind === 'text' || dialect.tools.resultImages === 'native') return false
  if (content.kind === 'image') return hasVision || dialect.content.imagesUnsupported === 'reject'
  return dialect.content.documents !== 'placeholder'
}

function nativeContent(part: ResultPart, inline: readonly ResultContent[], writing: ContentWriting): JsonValue {
  const parts = inline.map(content => writePart(content, part.place, writing))
  return part.isError ? [{ type: 'text', text: 'Error:' }, ...parts] : parts
}

function textContent(
  part: ResultPart,
  inline: readonly ResultContent[],
  attached: readonly ResultContent[],
  writing: ContentWriting,
): string {
  const lines = inline.map(content => writePart(content, part.place, writing).text).filter(line => line !== '')
  const where = writing.dialect.tools.resultImages === 'following_user' ? 'see the next user message' : 'omitted'
  const notes = attached.map(content => `[${content.kind}: ${where}]`)
  const text = [...lines, ...notes].join('\n')
  return part.isError ? `Error: ${text}` : text
}

function label(id: string): TextPart {
  return { kind: 'text', text: `Attached to the result of tool call ${id}:` }
}
