/** Images and documents in the results of a chat request: most upstreams take text there and nothing else. */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, textOrNull } from '../../lib/json.ts'
import { withMember } from '../copy.ts'
import type { Dialect } from '../words.ts'

/** By type of the part. */
const MEDIA: Readonly<Record<string, string>> = { image_url: 'image', file: 'document' }

/** The messages with what does not fit into results in the user message behind them, or noted as left out. */
export function withResults(messages: readonly JsonValue[], where: Dialect['tools']['resultImages']): JsonValue[] {
  if (where === 'native' || !messages.some(holdsMedia)) return messages as JsonValue[]
  const written: JsonValue[] = []
  let attached: JsonObject[] = []
  for (const message of messages) {
    if (isObject(message) && isResult(message)) {
      written.push(holdsMedia(message) ? textResult(message, where) : message)
      if (where === 'following_user') attached.push(...attachments(message))
      continue
    }
    if (attached.length > 0) written.push(behind(attached, message))
    if (attached.length === 0 || !isUser(message)) written.push(message)
    attached = []
  }
  if (attached.length > 0) written.push({ role: 'user', content: attached })
  return written
}

/** What was attached, in the user message that follows where there is one. */
function behind(attached: JsonObject[], next: JsonValue): JsonObject {
  if (!isObject(next) || !isUser(next)) return { role: 'user', content: attached }
  const { content } = next
  const own: readonly JsonValue[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : arrayOrEmpty(content)
  return withMember(next, 'content', [...attached, ...own])
}

function attachments(message: JsonObject): JsonObject[] {
  const media = arrayOrEmpty(message.content).filter(isMedia)
  if (media.length === 0) return []
  const id = textOrNull(message.tool_call_id) ?? ''
  return [{ type: 'text', text: `Attached to the result of tool call ${id}:` }, ...media]
}

function textResult(message: JsonObject, where: Dialect['tools']['resultImages']): JsonObject {
  const lines: string[] = []
  const notes: string[] = []
  for (const part of arrayOrEmpty(message.content)) {
    if (!isObject(part)) continue
    const kind = mediaKind(part)
    if (kind !== null) notes.push(`[${kind}: ${where === 'placeholder' ? 'omitted' : 'see the next user message'}]`)
    else if (typeof part.text === 'string') lines.push(part.text)
  }
  return withMember(message, 'content', resultText([...lines, ...notes]))
}

/** A result that failed says so in a part of its own, where it holds anything but text. */
export function resultText(lines: readonly string[]): string {
  const text = lines.filter(line => line !== '').join('\n')
  return lines[0] === 'Error:' ? text.replace('\n', ' ') : text
}

function holdsMedia(message: JsonValue): boolean {
  return isObject(message) && isResult(message) && arrayOrEmpty(message.content).some(isMedia)
}

function isMedia(part: JsonValue): part is JsonObject {
  return isObject(part) && mediaKind(part) !== null
}

function mediaKind({ type }: JsonObject): string | null {
  return typeof type === 'string' && Object.hasOwn(MEDIA, type) ? (MEDIA[type] ?? null) : null
}

function isResult(message: JsonObject): boolean {
  return message.role === 'tool' || message.role === 'function'
}

function isUser(message: JsonValue): boolean {
  return isObject(message) && message.role === 'user'
}
