/** Moves images and documents out of tool results, where most upstreams accept only text. */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, textOrNull } from '../lib/json.ts'
import { withMember } from './copy.ts'
import type { Dialect } from './words.ts'

/** How a format represents tool results and user messages. */
export interface ResultForm {
  readonly isResult: (value: JsonValue) => value is JsonObject
  readonly isUser: (value: JsonValue) => value is JsonObject
  /** Key of a tool result's content. */
  readonly contentKey: string
  /** Key of the id of the tool call in a tool result. */
  readonly idKey: string
  /** The types of parts that are images or documents, each with its name in notes, such as `image`. */
  readonly media: Readonly<Record<string, string>>
  /** The `type` of text parts in user messages, such as `input_text`. */
  readonly textType: string
  readonly userMessage: (content: JsonObject[]) => JsonObject
}

type Where = Dialect['tools']['resultImages']

/** Moves images and documents from tool results to the following user message, or replaces them with notes. */
export function withResults(list: readonly JsonValue[], where: Where, form: ResultForm): JsonValue[] {
  const holdsMedia = (value: JsonValue) => form.isResult(value) && mediaOf(value, form).length > 0
  if (where === 'native' || !list.some(holdsMedia)) return list as JsonValue[]
  const written: JsonValue[] = []
  let attached: JsonObject[] = []
  for (const value of list) {
    if (form.isResult(value)) {
      written.push(holdsMedia(value) ? textResult(value, where, form) : value)
      if (where === 'following_user') attached.push(...attachments(value, form))
      continue
    }
    const joins = attached.length > 0 && form.isUser(value)
    if (attached.length > 0 && !joins) written.push(form.userMessage(attached))
    written.push(joins ? withMember(value, 'content', [...attached, ...ownParts(value, form)]) : value)
    attached = []
  }
  if (attached.length > 0) written.push(form.userMessage(attached))
  return written
}

function ownParts({ content }: JsonObject, { textType }: ResultForm): readonly JsonValue[] {
  return typeof content === 'string' ? [{ type: textType, text: content }] : arrayOrEmpty(content)
}

function attachments(result: JsonObject, form: ResultForm): JsonObject[] {
  const media = mediaOf(result, form)
  if (media.length === 0) return []
  const id = textOrNull(result[form.idKey]) ?? ''
  return [{ type: form.textType, text: `Attached to the result of tool call ${id}:` }, ...media]
}

function textResult(result: JsonObject, where: Where, form: ResultForm): JsonObject {
  const lines: string[] = []
  const notes: string[] = []
  for (const part of arrayOrEmpty(result[form.contentKey])) {
    if (!isObject(part)) continue
    const kind = mediaKind(part, form)
    if (kind !== null) notes.push(`[${kind}: ${where === 'placeholder' ? 'omitted' : 'see the next user message'}]`)
    else if (typeof part.text === 'string') lines.push(part.text)
  }
  return withMember(result, form.contentKey, resultText([...lines, ...notes]))
}

/** Joins the lines of a tool result. A leading `Error:`, which marks a failed result, goes on the line of the text after it. */
export function resultText(lines: readonly string[]): string {
  const text = lines.filter(line => line !== '').join('\n')
  return lines[0] === 'Error:' ? text.replace('\n', ' ') : text
}

function mediaOf(result: JsonObject, form: ResultForm): JsonObject[] {
  return arrayOrEmpty(result[form.contentKey])
    .filter(isObject)
    .filter(part => mediaKind(part, form) !== null)
}

function mediaKind({ type }: JsonObject, { media }: ResultForm): string | null {
  return typeof type === 'string' && Object.hasOwn(media, type) ? (media[type] ?? null) : null
}
