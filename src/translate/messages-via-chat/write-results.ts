/** Results of tool calls as `tool` messages, and what does not fit into them as content of the user message behind. */

import type { JsonObject, JsonValue } from '../../lib/json.ts'
import type { ResultContent, ResultPiece, TextPiece } from '../pieces.ts'
import { type ContentWriting, writePart } from './write-content.ts'

export interface WrittenResult {
  readonly message: JsonObject
  /** Images and documents of the result, for the following user message. */
  readonly following: readonly ResultContent[]
}

/** `id`: of the call, as the upstream gets it. */
export function writeResult(piece: ResultPiece, id: string, writing: ContentWriting): WrittenResult {
  const attached = piece.content.filter(content => isAttached(content, writing))
  const inline = piece.content.filter(content => content.kind === 'text' || !attached.includes(content))
  const native = writing.dialect.tools.resultImages === 'native' && inline.some(content => content.kind !== 'text')
  const content = native ? nativeContent(piece, inline, writing) : textContent(piece, inline, attached, writing)
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

function nativeContent(piece: ResultPiece, inline: readonly ResultContent[], writing: ContentWriting): JsonValue {
  const parts = inline.map(content => writePart(content, piece.place, writing))
  return piece.isError ? [{ type: 'text', text: 'Error:' }, ...parts] : parts
}

function textContent(
  piece: ResultPiece,
  inline: readonly ResultContent[],
  attached: readonly ResultContent[],
  writing: ContentWriting,
): string {
  const lines = inline.map(content => writePart(content, piece.place, writing).text).filter(line => line !== '')
  const where = writing.dialect.tools.resultImages === 'following_user' ? 'see the next user message' : 'omitted'
  const notes = attached.map(content => `[${content.kind}: ${where}]`)
  const text = [...lines, ...notes].join('\n')
  return piece.isError ? `Error: ${text}` : text
}

function label(id: string): TextPiece {
  return { kind: 'text', text: `Attached to the result of tool call ${id}:` }
}
