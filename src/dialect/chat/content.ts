/** Content of the messages of a chat request: images, documents, and texts that must be plain strings. */

import { isHttpUrl, readDataUrl } from '../../conversation/images.ts'
import { refuse, refuseCapability } from '../../conversation/refuse.ts'
import { isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { mapList, withMember } from '../copy.ts'
import type { DialectFacts } from '../types.ts'
import { resultText } from './results.ts'

/** What the facts ask of contents; null where every content may stay as it is. */
export interface ContentRules {
  readonly facts: DialectFacts
  readonly media: boolean
  readonly strings: boolean
}

export function contentRules(facts: DialectFacts): ContentRules | null {
  const { content } = facts.dialect
  const media = !facts.hasVision || content.imageUrl !== 'pass' || content.documents !== 'file'
  const strings = content.text === 'string'
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

/** The texts of a content that holds nothing else, and no marks; null for others. */
function plainTexts(parts: readonly JsonValue[]): string[] | null {
  const texts = parts.map(part =>
    isObject(part) && part.type === 'text' && part.cache_control === undefined ? part.text : null,
  )
  return texts.every(text => typeof text === 'string') ? texts : null
}

function partFor(part: JsonValue, place: string, facts: DialectFacts): JsonValue {
  if (!isObject(part)) return part
  if (part.type === 'image_url') return imageFor(part, place, facts)
  return part.type === 'file' ? fileFor(part, place, facts) : part
}

function imageFor(part: JsonObject, place: string, { dialect, hasVision }: DialectFacts): JsonObject {
  if (!hasVision) {
    if (dialect.content.imagesUnsupported === 'placeholder') return note('image omitted: this model takes no images')
    return refuseCapability('image_block', `${place}: this model takes no images`)
  }
  if (dialect.content.imageUrl === 'pass') return part
  const url = typeof part.image_url === 'string' ? part.image_url : objectOrNull(part.image_url)?.url
  if (typeof url !== 'string' || !isHttpUrl(url)) return part
  return refuse(place, 'this model takes no image URLs; send the image as base64')
}

function fileFor(part: JsonObject, place: string, { dialect }: DialectFacts): JsonObject {
  if (dialect.content.documents === 'file') return part
  const file = objectOrNull(part.file)
  const title = textOrNull(file?.filename) ?? 'document.pdf'
  const text = textOf(textOrNull(file?.file_data))
  if (text !== null) return { type: 'text', text: `${title}\n\n${text}` }
  if (dialect.content.documents === 'placeholder') {
    return note(`document ${title} omitted: this model takes no documents`)
  }
  return refuseCapability('document_block', `${place}: this model takes no documents`)
}

/** Text of a document that is nothing else; null for others. */
function textOf(content: string | null): string | null {
  const data = content === null ? null : readDataUrl(content)
  if (data === null || !(data.mediaType.startsWith('text/') || data.mediaType === 'application/json')) return null
  return Buffer.from(data.data, 'base64').toString('utf8')
}

function note(text: string): JsonObject {
  return { type: 'text', text: `[${text}]` }
}
