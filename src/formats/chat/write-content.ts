/** Writes text, images and documents as the content of a chat message. */

import { dataUrl, imageUrl, pdfName } from '../../conversation/images.ts'
import { refuseDocumentUrl } from '../../conversation/read-media.ts'
import type { DocumentPart, ImagePart, ResultContent, ResultPart, TextPart } from '../../conversation/request.ts'
import type { Dialect } from '../../generated/types.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'

/**
 * Writes content. A lone text part without a cache breakpoint becomes a plain string, which most upstreams handle best. Throws
 * GatewayError `invalid_request` for a document given by URL.
 */
export function writeContent(parts: readonly ResultContent[], dialect: Dialect): JsonValue {
  const [only] = parts
  if (parts.length === 1 && only?.kind === 'text' && only.cacheControl === undefined) return only.text
  return parts.map(part => writePart(part, dialect))
}

/** Writes the content of a tool message: a single string, unless the result has images or documents. */
export function writeResult({ content, isError }: ResultPart, dialect: Dialect): JsonValue {
  const texts = content.filter(part => part.kind === 'text').map(part => part.text)
  if (texts.length < content.length) {
    const parts = content.map(part => writePart(part, dialect))
    return isError ? [{ type: 'text', text: 'Error:' }, ...parts] : parts
  }
  const text = texts.filter(line => line !== '').join('\n')
  return isError ? `Error: ${text}` : text
}

function writePart(part: ResultContent, dialect: Dialect): JsonObject {
  switch (part.kind) {
    case 'text':
      return textPart(part)
    case 'image':
      return { type: 'image_url', image_url: { url: imageUrl(part.source), ...detail(part) }, ...breakpoint(part) }
    case 'document':
      return { type: 'file', file: { filename: pdfName(part.title), ...data(part, dialect) } }
  }
}

export function textPart(part: TextPart): JsonObject {
  return { type: 'text', text: part.text, ...breakpoint(part) }
}

/**
 * Returns a document's data. Throws GatewayError `invalid_request` for a document given by URL, which this format cannot
 * express. If the upstream takes no documents at all, returns nothing: the dialect needs only the name to replace or refuse the
 * document.
 */
function data({ source, place }: DocumentPart, { content }: Dialect): JsonObject {
  if (source.type === 'base64') return { file_data: dataUrl(source.mediaType, source.data) }
  if (content.documents === 'placeholder' || content.documents === 'reject') return {}
  return refuseDocumentUrl(place)
}

function detail({ detail }: ImagePart): JsonObject {
  return detail === undefined || detail === 'original' ? {} : { detail }
}

function breakpoint({ cacheControl }: TextPart | ImagePart): JsonObject {
  return cacheControl === undefined ? {} : { cache_control: cacheControl }
}
