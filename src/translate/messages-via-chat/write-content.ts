/** Text, images and documents as content of a chat message. */

import type { JsonObject, JsonValue } from '../../lib/json.ts'
import type { Dialect } from '../dialect.ts'
import { dataUrl, imageUrl } from '../images.ts'
import type { DocumentPiece, ImagePiece, ResultContent, TextPiece } from '../pieces.ts'
import { refuse, refuseCapability } from '../refuse.ts'

export interface ContentWriting {
  readonly dialect: Dialect
  readonly hasVision: boolean
}

/**
 * Content of a message: one text alone is a string, as most upstreams like it best; several pieces are parts, or one
 * string where the dialect wants strings for text.
 */
export function writeContent(pieces: readonly ResultContent[], place: string, writing: ContentWriting): JsonValue {
  const parts = pieces.map(piece => writePart(piece, place, writing))
  const texts = parts.map(part => (part.type === 'text' && part.cache_control === undefined ? part.text : null))
  if (texts.length === 1 && typeof texts[0] === 'string') return texts[0]
  const joins = writing.dialect.content.text === 'string' && texts.every(text => typeof text === 'string')
  return joins ? texts.join('\n\n') : parts
}

export function writePart(piece: ResultContent, place: string, writing: ContentWriting): JsonObject {
  switch (piece.kind) {
    case 'text':
      return textPart(piece, writing.dialect)
    case 'image':
      return imagePart(piece, place, writing)
    case 'document':
      return documentPart(piece, place, writing)
  }
}

export function textPart(piece: TextPiece, dialect: Dialect): JsonObject {
  return { type: 'text', text: piece.text, ...mark(piece, dialect) }
}

function imagePart(piece: ImagePiece, place: string, { dialect, hasVision }: ContentWriting): JsonObject {
  if (!hasVision) {
    if (dialect.content.imagesUnsupported === 'placeholder') return note('image omitted: this model takes no images')
    return refuseCapability('image_block', `${place}: this model takes no images`)
  }
  if (piece.source.type === 'url' && dialect.content.imageUrl !== 'pass') {
    refuse(place, 'this model takes no image URLs; send the image as base64')
  }
  return { type: 'image_url', image_url: { url: imageUrl(piece.source) }, ...mark(piece, dialect) }
}

function documentPart(piece: DocumentPiece, place: string, { dialect }: ContentWriting): JsonObject {
  const title = piece.title === '' ? 'document.pdf' : piece.title
  if (dialect.content.documents === 'placeholder')
    return note(`document ${title} omitted: this model takes no documents`)
  if (dialect.content.documents === 'reject')
    refuseCapability('document_block', `${place}: this model takes no documents`)
  return { type: 'file', file: { filename: title, file_data: dataUrl(piece.mediaType, piece.data) } }
}

function note(text: string): JsonObject {
  return { type: 'text', text: `[${text}]` }
}

function mark(piece: TextPiece | ImagePiece, dialect: Dialect): { cache_control?: JsonObject } {
  return piece.cacheControl !== undefined && dialect.content.cacheControl === 'pass'
    ? { cache_control: piece.cacheControl }
    : {}
}
