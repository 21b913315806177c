/** Reads the content of chat messages as conversation parts. Refuses other parts, such as audio; the error gives the path. */

import { imageDetail, isHttpUrl } from '../../conversation/images.ts'
import { readFile, readImageSource, readImageUrl, refuseFileId } from '../../conversation/read-media.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { DocumentPart, ImagePart, ResultContent, TextPart } from '../../conversation/request.ts'
import { isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'

type MediaPart = TextPart | ImagePart | DocumentPart

/** Reads content that is a string, null, or an array of parts. `place`: path of the content, such as `messages[2].content`. */
export function readContent(content: JsonValue | undefined, place: string): MediaPart[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return [{ kind: 'text', text: content }]
  return partsOf(content, place).flatMap((part, index) => readPartAt(part, `${place}[${index}]`))
}

/** Returns content that must be a list, if it is neither a string nor missing. */
export function partsOf(content: JsonValue | undefined, place: string): JsonValue[] {
  if (content === null || content === undefined) return []
  return Array.isArray(content) ? content : refuse(place, 'expected a string or an array of content parts')
}

const REASONING: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking', 'reasoning'])

/**
 * Reads one part. Skips reasoning from an earlier reply, which the model would refuse without a valid signature. `place`: path
 * of the part.
 */
export function readPartAt(part: JsonValue, place: string): MediaPart[] {
  return isObject(part) && REASONING.has(part.type) ? [] : [readPart(part, place)]
}

/** Reads the content of a tool message. */
export function readResultContent(content: JsonValue | undefined, place: string): ResultContent[] {
  // Some clients send the result as an object. The model gets it as JSON text.
  if (isObject(content)) return [{ kind: 'text', text: JSON.stringify(content) }]
  return readContent(content, place)
}

function readPart(value: JsonValue, place: string): MediaPart {
  if (typeof value === 'string') return { kind: 'text', text: value }
  const part = objectOrNull(value) ?? refuse(place, 'expected a content part, e.g. {"type": "text", "text": "…"}')
  switch (part.type) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textPiece(part, part.text, place)
    case 'refusal':
      return textPiece(part, part.refusal, place)
    case 'image_url':
      return readImage(part, place)
    case 'image':
      return { ...readImageSource(part.source, `${place}.source`), ...cacheControl(part) }
    case 'file':
      return readFilePart(part, place)
    case 'input_audio':
      return refuse(place, 'this model does not accept audio; send text, images or files')
    default:
      return refuse(place, `content parts of type ${JSON.stringify(part.type ?? null)} are not supported by this model`)
  }
}

function textPiece(part: JsonObject, text: JsonValue | undefined, place: string): TextPart {
  if (typeof text !== 'string') refuse(`${place}.text`, 'expected a string')
  return { kind: 'text', text, ...cacheControl(part) }
}

function readImage(part: JsonObject, place: string): ImagePart {
  const image = part.image_url
  const url = typeof image === 'string' ? image : textOrNull(objectOrNull(image)?.url)
  if (url === null) refuse(`${place}.image_url.url`, 'expected a data URL or an http(s) URL')
  const detail = imageDetail(objectOrNull(image)?.detail)
  return { ...readImageUrl(url, `${place}.image_url.url`), ...detail, ...cacheControl(part) }
}

function readFilePart(part: JsonObject, place: string): MediaPart {
  const file = objectOrNull(part.file)
  const content = textOrNull(file?.file_data)
  if (content === null) refuseFileId(`${place}.file`)
  const title = textOrNull(file?.filename) ?? ''
  // Some clients put a document's URL here.
  if (isHttpUrl(content)) {
    return {
      kind: 'document',
      source: { type: 'url', url: content },
      title,
      place: `${place}.file`,
      ...cacheControl(part),
    }
  }
  const places = { place: `${place}.file.file_data`, documentPlace: `${place}.file` }
  return { ...readFile({ content, title, bareType: 'application/pdf', ...places }), ...cacheControl(part) }
}

/** Keeps `cache_control`, a Messages field that some chat clients send, too. The dialect decides whether to forward it. */
export function cacheControl(part: JsonObject): { cacheControl?: JsonObject } {
  return isObject(part.cache_control) ? { cacheControl: part.cache_control } : {}
}
