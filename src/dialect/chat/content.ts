/** Adapts the content of chat messages: images, documents, and lists of text parts that must become plain strings. */

import { imageUrl, isHttpUrl } from '../../conversation/images.ts'
import { readFile, refuseDocumentUrl, refuseFileId } from '../../conversation/read-media.ts'
import { isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { mapList, withMember } from '../copy.ts'
import { asksOfMedia, givenFile, textForDocument, textForImage } from '../media.ts'
import { resultText } from '../results.ts'
import type { DialectFacts } from '../types.ts'

/** What to adapt in content. `media`: images and documents. `strings`: lists of text parts, which are joined into a string. */
export interface ContentRules {
  readonly facts: DialectFacts
  readonly media: boolean
  readonly strings: boolean
}

export function contentRules(facts: DialectFacts): ContentRules | null {
  const media = asksOfMedia(facts)
  const strings = facts.dialect.content.text === 'string'
  return media || strings ? { facts, media, strings } : null
}

export function withContent(message: JsonObject, place: string, { facts, media, strings }: ContentRules): JsonObject {
  const { content } = message
  if (!Array.isArray(content)) return message
  const written = media ? mapList(content, part => partFor(part, place, facts)) : content
  const texts = written === content && !strings ? null : plainTexts(written)
  const isResult = message.role === 'tool'
  if (texts === null || (!strings && !isResult && texts.length > 1)) return withMember(message, 'content', written)
  return withMember(message, 'content', isResult ? resultText(texts) : texts.join('\n\n'))
}

/** Returns the texts if every part is a text without a cache breakpoint; otherwise null. */
function plainTexts(parts: readonly JsonValue[]): string[] | null {
  const texts = parts.map(part =>
    isObject(part) && part.type === 'text' && part.cache_control === undefined ? part.text : null,
  )
  return texts.every(text => typeof text === 'string') ? texts : null
}

function partFor(part: JsonValue, place: string, facts: DialectFacts): JsonValue {
  if (!isObject(part)) return part
  if (part.type === 'file' && facts.dialect.content.documents === 'image_url') return pictured(part, place)
  const text = textFor(part, place, facts)
  return text === null ? part : { type: 'text', text }
}

/** Returns a file in the form of an image, whose URL contains it; a text file as text. */
function pictured(part: JsonObject, place: string): JsonValue {
  const file = objectOrNull(part.file)
  const content = textOrNull(file?.file_data) ?? refuseFileId(place)
  if (isHttpUrl(content)) refuseDocumentUrl(place)
  const title = textOrNull(file?.filename) ?? ''
  const read = readFile({ content, title, bareType: 'application/pdf', place, documentPlace: place })
  if (read.kind === 'text') return { type: 'text', text: read.text }
  const { source } = read
  return { type: 'image_url', image_url: { url: imageUrl(source) } }
}

/** Returns the text that replaces an image or document; null if the part stays as it is. */
function textFor(part: JsonObject, place: string, facts: DialectFacts): string | null {
  if (part.type === 'image_url') {
    const url = typeof part.image_url === 'string' ? part.image_url : objectOrNull(part.image_url)?.url
    return textForImage(facts, place, typeof url === 'string' && isHttpUrl(url))
  }
  if (part.type !== 'file' || facts.dialect.content.documents === 'file') return null
  const file = objectOrNull(part.file)
  return textForDocument(facts, place, givenFile(textOrNull(file?.filename), textOrNull(file?.file_data)))
}
