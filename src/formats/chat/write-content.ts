/** Text, images and documents as content of a chat message. */

import { dataUrl, imageUrl } from '../../conversation/images.ts'
import { refuse, refuseCapability } from '../../conversation/refuse.ts'
import type { DocumentPart, ImagePart, ResultContent, TextPart } from '../../conversation/request.ts'
import type { Dialect } from '../../generated/types.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'

export interface ContentWriting {
  readonly dialect: Dialect
  readonly hasVision: boolean
}

/**
 * Content of a message: one text alone is a string, as most upstreams like it best; several parts are parts, or one
 * string where the dialect wants strings for text.
 */
export function writeContent(parts: readonly ResultContent[], place: string, writing: ContentWriting): JsonValue {
  const written = parts.map(part => writePart(part, place, writing))
  const texts = written.map(part => (part.type === 'text' && part.cache_control === undefined ? part.text : null))
  if (texts.length === 1 && typeof texts[0] === 'string') return texts[0]
  const joins = writing.dialect.content.text === 'string' && texts.every(text => typeof text === 'string')
  return joins ? texts.join('\n\n') : written
}

export function writePart(part: ResultContent, place: string, writing: ContentWriting): JsonObject {
  switch (part.kind) {
    case 'text':
      return textPart(part, writing.dialect)
    case 'image':
      return imagePart(part, place, writing)
    case 'document':
      return documentPart(part, place, writing)
  }
}

export function textPart(part: TextPart, dialect: Dialect): JsonObject {
  return { type: 'text', text: part.text, ...mark(part, dialect) }
}

function imagePart(part: ImagePart, place: string, { dialect, hasVision }: ContentWriting): JsonObject {
  if (!hasVision) {
    if (dialect.content.imagesUnsupported === 'placeholder') return note('image omitted: this model takes no images')
    return refuseCapability('image_block', `${place}: this model takes no images`)
  }
  if (part.source.type === 'url' && dialect.content.imageUrl !== 'pass') {
    refuse(place, 'this model takes no image URLs; send the image as base64')
  }
  return { type: 'image_url', image_url: { url: imageUrl(part.source) }, ...mark(part, dialect) }
}

function documentPart(part: DocumentPart, place: string, { dialect }: ContentWriting): JsonObject {
  const title = part.title === '' ? 'document.pdf' : part.title
  if (dialect.content.documents === 'placeholder')
    return note(`document ${title} omitted: this model takes no documents`)
  if (dialect.content.documents === 'reject')
    refuseCapability('document_block', `${place}: this model takes no documents`)
  if (part.source.type === 'url') {
    refuse(part.place, 'documents by URL are not supported by this model; send the document as base64')
  }
  return { type: 'file', file: { filename: title, file_data: dataUrl(part.source.mediaType, part.source.data) } }
}

function note(text: string): JsonObject {
  return { type: 'text', text: `[${text}]` }
}

function mark(part: TextPart | ImagePart, dialect: Dialect): { cache_control?: JsonObject } {
  return part.cacheControl !== undefined && dialect.content.cacheControl === 'pass'
    ? { cache_control: part.cacheControl }
    : {}
}
