/** Reads the content of messages and tool outputs in a responses request as conversation parts. */

import { imageDetail } from '../../conversation/images.ts'
import { readFile, readImageUrl } from '../../conversation/read-media.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { ImagePart, ResultContent, TextPart } from '../../conversation/request.ts'
import { isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'

const FILE_IDS = 'file ids belong to one provider and cannot be used here'

/**
 * Reads content that is a string, null, or an array of parts; drops empty texts. `place`: path of the content, such as
 * `input[2].content`.
 */
export function readContent(content: JsonValue | undefined, place: string): ResultContent[] {
  return readParts(content, place).filter(part => part.kind !== 'text' || part.text !== '')
}

/** Reads content that must be text: a model's message, or instructions. */
export function readTexts(content: JsonValue | undefined, place: string): TextPart[] {
  const texts = readParts(content, place).map((part, index) =>
    part.kind === 'text' ? part : refuse(`${place}[${index}]`, 'images and files are only allowed in user messages'),
  )
  return texts.filter(part => part.text !== '')
}

function readParts(content: JsonValue | undefined, place: string): ResultContent[] {
  if (content === null || content === undefined) return []
  if (typeof content === 'string') return [textPart(content)]
  if (!Array.isArray(content)) refuse(place, 'expected a string or an array of content parts')
  return content.map((part, index) => readPart(part, `${place}[${index}]`))
}

/** Reads a tool's output. Some clients send an object, which the model gets as JSON text. */
export function readOutput(output: JsonValue | undefined, place: string): ResultContent[] {
  return isObject(output) ? [textPart(JSON.stringify(output))] : readContent(output, place)
}

function readPart(value: JsonValue, place: string): ResultContent {
  if (typeof value === 'string') return textPart(value)
  const part = objectOrNull(value) ?? refuse(place, 'expected a content part, e.g. {"type": "input_text", "text": "…"}')
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return textPart(part.text ?? '', `${place}.text`)
    case 'refusal':
      return textPart(part.refusal ?? '', `${place}.refusal`)
    case 'input_image':
      return readImage(part, place)
    case 'input_file':
      return readFilePart(part, place)
    case 'input_audio':
      return refuse(place, 'this model does not accept audio; send text, images or files')
    default:
      return refuse(place, `content parts of type ${JSON.stringify(part.type ?? null)} are not supported by this model`)
  }
}

function textPart(text: JsonValue, place = ''): TextPart {
  return { kind: 'text', text: typeof text === 'string' ? text : refuse(place, 'expected a string') }
}

function readImage(part: JsonObject, place: string): ImagePart {
  const given = part.image_url
  const url = textOrNull(given) ?? textOrNull(objectOrNull(given)?.url)
  if (url === null) {
    if (textOrNull(part.file_id) !== null) refuse(`${place}.file_id`, `${FILE_IDS}; send the image as a data URL`)
    refuse(`${place}.image_url`, 'expected a data URL or an http(s) URL')
  }
  return { ...readImageUrl(url, `${place}.image_url`), ...imageDetail(part.detail) }
}

function readFilePart(part: JsonObject, place: string): ResultContent {
  const title = textOrNull(part.filename) ?? ''
  const url = textOrNull(part.file_url)
  const content = textOrNull(part.file_data)
  if (content === null) {
    if (url !== null) return { kind: 'document', source: { type: 'url', url }, title, place }
    if (textOrNull(part.file_id) !== null) refuse(`${place}.file_id`, `${FILE_IDS}; send the content as file_data`)
    refuse(`${place}.file_data`, 'expected a data URL; send any other URL as file_url')
  }
  return readFile({ content, title, bareType: mediaTypeOf(title), place: `${place}.file_data`, documentPlace: place })
}

/** Guesses the media type of bare base64 from the file name; PDF by default. */
function mediaTypeOf(filename: string): string {
  if (/\.(txt|md|csv|tsv|log|html?|xml|ya?ml|[cm]?[jt]sx?|py|css)$/i.test(filename)) return 'text/plain'
  return /\.json$/i.test(filename) ? 'application/json' : 'application/pdf'
}
