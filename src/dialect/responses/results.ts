/** Images and files in the outputs of a responses request, for hosts that take text there and nothing else. */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, textOrNull } from '../../lib/json.ts'
import { withMember } from '../copy.ts'
import type { Dialect } from '../words.ts'
import { isMessage, isOutput } from './items.ts'

/** By type of the part. */
const MEDIA: Readonly<Record<string, string>> = { input_image: 'image', input_file: 'document' }

/** The items with what does not fit into outputs in the user message behind them, or noted as left out. */
export function withResults(items: readonly JsonValue[], where: Dialect['tools']['resultImages']): JsonValue[] {
  if (where === 'native' || !items.some(holdsMedia)) return items as JsonValue[]
  const written: JsonValue[] = []
  let attached: JsonObject[] = []
  for (const item of items) {
    if (isOutput(item)) {
      written.push(holdsMedia(item) ? withTextOnly(item, where) : item)
      if (where === 'following_user') attached.push(...attachments(item))
      continue
    }
    const joins = attached.length > 0 && isMessage(item) && item.role === 'user'
    if (joins) written.push(withMember(item, 'content', [...attached, ...partsOf(item.content)]))
    else if (attached.length > 0) written.push(message(attached))
    if (!joins) written.push(item)
    attached = []
  }
  if (attached.length > 0) written.push(message(attached))
  return written
}

function message(content: JsonObject[]): JsonObject {
  return { type: 'message', role: 'user', content }
}

function partsOf(content: JsonValue | undefined): readonly JsonValue[] {
  return typeof content === 'string' ? [{ type: 'input_text', text: content }] : arrayOrEmpty(content)
}

function attachments(item: JsonObject): JsonObject[] {
  const media = arrayOrEmpty(item.output).filter(isMedia)
  if (media.length === 0) return []
  const text = `Attached to the result of tool call ${textOrNull(item.call_id) ?? ''}:`
  return [{ type: 'input_text', text }, ...media]
}

function withTextOnly(item: JsonObject, where: Dialect['tools']['resultImages']): JsonObject {
  const lines: string[] = []
  const notes: string[] = []
  for (const part of arrayOrEmpty(item.output)) {
    if (!isObject(part)) continue
    const kind = mediaKind(part)
    if (kind !== null) notes.push(`[${kind}: ${where === 'placeholder' ? 'omitted' : 'see the next user message'}]`)
    else if (typeof part.text === 'string' && part.text !== '') lines.push(part.text)
  }
  return withMember(item, 'output', [...lines, ...notes].join('\n'))
}

function holdsMedia(item: JsonValue): boolean {
  return isOutput(item) && arrayOrEmpty(item.output).some(isMedia)
}

function isMedia(part: JsonValue): part is JsonObject {
  return isObject(part) && mediaKind(part) !== null
}

function mediaKind({ type }: JsonObject): string | null {
  return typeof type === 'string' && Object.hasOwn(MEDIA, type) ? (MEDIA[type] ?? null) : null
}
