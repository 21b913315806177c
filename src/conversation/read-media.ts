/** Reads images and files from the URLs in requests. Throws GatewayError `invalid_request` for media that no model accepts. */

import { type JsonValue, objectOrNull, textOrNull } from '../lib/json.ts'
import { imageTypeOf, isHttpUrl, readDataUrl } from './images.ts'
import { refuse } from './refuse.ts'
import type { DocumentPart, ImagePart, TextPart } from './request.ts'

/** `place` is the path of the URL in the request, for error messages. */
export function readImageUrl(url: string, place: string): ImagePart {
  if (isHttpUrl(url)) return { kind: 'image', source: { type: 'url', url } }
  const data = readDataUrl(url) ?? refuse(place, 'expected a data URL or an http(s) URL')
  const mediaType = imageTypeOf(data.data, data.mediaType)
  if (mediaType === null || data.data === '') {
    refuse(place, 'expected a base64 image of type image/png, image/jpeg, image/gif or image/webp')
  }
  return { kind: 'image', source: { type: 'base64', mediaType, data: data.data } }
}

/** Reads the `source` of an image block as the messages format has it. `place`: its path in the request. */
export function readImageSource(given: JsonValue | undefined, place: string): ImagePart {
  const source = objectOrNull(given)
  const url = textOrNull(source?.url)
  if (source?.type === 'url' && url !== null) return { kind: 'image', source: { type: 'url', url } }
  if (source?.type === 'file') {
    refuse(place, 'file ids belong to one provider and cannot be used here; send the image as base64')
  }
  const data = textOrNull(source?.data)
  const mediaType = imageTypeOf(data ?? '', textOrNull(source?.media_type) ?? '')
  if (source?.type !== 'base64' || mediaType === null || data === null) {
    const types = "'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
    refuse(place, `expected a base64 image with a media_type of ${types}, or a URL`)
  }
  return { kind: 'image', source: { type: 'base64', mediaType, data } }
}

export interface GivenFile {
  /** A data URL or bare base64. */
  readonly content: string
  /** File name; '' if none was given. */
  readonly title: string
  /** Media type to assume for bare base64. */
  readonly bareType: string
  /** Path of the content in the request, for error messages. */
  readonly place: string
  /** Path of the document that the content belongs to, for error messages. */
  readonly documentPlace: string
}

/** `place`: path of the document. */
export function refuseDocumentUrl(place: string): never {
  refuse(place, 'documents by URL are not supported by this model; send the document as base64')
}

/** `place`: path of the file. */
export function refuseFileId(place: string): never {
  refuse(place, 'file ids belong to one provider and cannot be used here; send the content as file_data')
}

export function readFile(file: GivenFile): ImagePart | DocumentPart | TextPart {
  const { content, title, bareType, place, documentPlace } = file
  const { mediaType, data } = readDataUrl(content) ?? { mediaType: bareType, data: content }
  if (mediaType === 'application/pdf') {
    return { kind: 'document', source: { type: 'base64', mediaType, data }, title, place: documentPlace }
  }
  const image = imageTypeOf(data, mediaType)
  if (image !== null) return { kind: 'image', source: { type: 'base64', mediaType: image, data } }
  if (mediaType.startsWith('text/') || mediaType === 'application/json') {
    const text = Buffer.from(data, 'base64').toString('utf8')
    return { kind: 'text', text: title === '' ? text : `${title}\n\n${text}` }
  }
  return refuse(place, `files of type ${JSON.stringify(mediaType)} are not supported; send a PDF, text or an image`)
}
