/** Reads image requests, JSON or multipart, and refuses bad ones in the provider's own words. */

import { missing, unsupported, wrongType, wrongValue } from '../chat/refusals.ts'
import { isObject, type Json, type JsonObject } from '../json.ts'
import { invalid, type ModelFacts } from '../model.ts'
import { type PictureInfo, pictureInfo } from '../picture-info.ts'
import { PICTURE_FORMATS, type PictureFormat } from './encode.ts'

const LIMITS = { images: 10, references: 16, promptCharacters: 32_000, sideMin: 16, sideMax: 4_096 } as const
const SIZES = ['1024x1024', '1024x1536', '1536x1024', 'auto']

export interface ImageRequest {
  readonly prompt: string
  readonly count: number
  readonly width: number
  readonly height: number
  readonly streamed: boolean
  readonly partialImages: number
  readonly asUrl: boolean
  readonly format: PictureFormat
  /** 0 to 100; only used for lossy formats. */
  readonly quality: number
  readonly references: readonly PictureInfo[]
  readonly masked: boolean
}

/** The fields of an image request. Numbers and booleans in multipart forms have been converted from text. */
export interface ImageFields {
  readonly body: JsonObject
  readonly images: readonly Buffer[]
  readonly mask: Buffer | null
}

/** Reads a multipart body. Rejects with ProviderError; a truncated body is refused entirely. */
export async function readMultipart(bytes: Buffer, contentType: string): Promise<ImageFields> {
  let form: FormData
  try {
    form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } }).formData()
  } catch {
    throw invalid('Could not parse multipart form')
  }
  const body: JsonObject = {}
  const images: Buffer[] = []
  let mask: Buffer | null = null
  for (const [name, value] of form.entries()) {
    if (typeof value === 'string') body[name] = fieldValue(name, value)
    else if (name === 'mask') mask = Buffer.from(await value.arrayBuffer())
    else if (name === 'image' || name === 'image[]') images.push(Buffer.from(await value.arrayBuffer()))
    else throw invalid(`Unknown parameter: '${name}'.`, { param: name, code: 'unknown_parameter' })
  }
  return { body, images, mask }
}

/** Reads the images of a JSON body: `image` is one or more data URLs or base64 texts; `images` are objects with `image_url`. */
export function readJsonImages(body: JsonObject): ImageFields {
  const listed = [body.image ?? [], body.images ?? []].flat() as Json[]
  const images = listed.map((entry, index) => decodeImage(isObject(entry) ? entry.image_url : entry, `image[${index}]`))
  const mask = isObject(body.mask) ? body.mask.image_url : body.mask
  return { body, images, mask: mask === undefined || mask === null ? null : decodeImage(mask, 'mask') }
}

/** Checks a request. Throws ProviderError for the first fault. */
export function checkImageRequest(fields: ImageFields, facts: ModelFacts, isEdit: boolean): ImageRequest {
  const { body } = fields
  for (const field of facts.refuses ?? []) if (Object.hasOwn(body, field)) throw unsupported(field)
  if (typeof body.prompt !== 'string' || body.prompt.trim() === '') throw missing('prompt')
  if (body.prompt.length > LIMITS.promptCharacters) {
    throw invalid(
      `Invalid 'prompt': string too long. Expected a string with maximum length ${LIMITS.promptCharacters}, but got a string with length ${body.prompt.length} instead.`,
      { param: 'prompt', code: 'string_above_max_length' },
    )
  }
  if (isEdit && fields.images.length === 0) throw missing('image')
  if (fields.images.length > LIMITS.references)
    throw invalid(`At most ${LIMITS.references} images are accepted.`, { param: 'image' })
  if (fields.mask !== null) checkedPicture(fields.mask, 'mask')
  return {
    prompt: body.prompt,
    count: checkedCount(body.n, { name: 'n', least: 1, most: LIMITS.images, otherwise: 1 }),
    ...checkedSize(body.size),
    streamed: body.stream === true,
    partialImages: checkedCount(body.partial_images, { name: 'partial_images', least: 0, most: 3, otherwise: 0 }),
    asUrl: body.response_format === 'url',
    format: checkedFormat(body.output_format),
    quality: checkedCount(body.output_compression, { name: 'output_compression', least: 0, most: 100, otherwise: 100 }),
    references: fields.images.map((image, index) => checkedPicture(image, `image[${index}]`)),
    masked: fields.mask !== null,
  }
}

function fieldValue(name: string, value: string): Json {
  if (['n', 'partial_images', 'output_compression'].includes(name) && /^\d+$/.test(value)) return Number(value)
  return name === 'stream' ? value === 'true' : value
}

function decodeImage(value: Json | undefined, at: string): Buffer {
  if (typeof value !== 'string') throw wrongType(at, 'a string', value)
  if (/^https?:\/\//.test(value)) {
    throw invalid(`Failed to download image from ${at}: the sandbox fetches nothing; send the image itself.`, {
      param: at,
    })
  }
  return Buffer.from(value.slice(value.indexOf(',') + 1), 'base64')
}

function checkedPicture(bytes: Buffer, at: string): PictureInfo {
  const info = pictureInfo(bytes)
  if (info !== null && info.mediaType !== 'image/gif') return info
  throw invalid(
    `Invalid file '${at}': unsupported mimetype ('${info?.mediaType ?? 'application/octet-stream'}'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.`,
    { param: at, code: 'unsupported_file_mimetype' },
  )
}

interface CountBounds {
  readonly name: string
  readonly least: number
  readonly most: number
  readonly otherwise: number
}

function checkedCount(value: Json | undefined, { name, least, most, otherwise }: CountBounds): number {
  if (value === undefined || value === null) return otherwise
  if (!Number.isInteger(value)) throw wrongType(name, 'an integer', value)
  const count = value as number
  if (count >= least && count <= most) return count
  const side = count < least ? 'below minimum' : 'above maximum'
  const bound = count < least ? `>= ${least}` : `<= ${most}`
  throw invalid(`Invalid '${name}': integer ${side} value. Expected a value ${bound}, but got ${count} instead.`, {
    param: name,
    code: count < least ? 'integer_below_min_value' : 'integer_above_max_value',
  })
}

function checkedFormat(format: Json | undefined): PictureFormat {
  if (format === undefined || format === null || format === 'auto') return 'png'
  const known = PICTURE_FORMATS.find(candidate => candidate === format)
  if (known === undefined) throw wrongValue('output_format', format, PICTURE_FORMATS)
  return known
}

function checkedSize(size: Json | undefined): { width: number; height: number } {
  if (size === undefined || size === null || size === 'auto') return { width: 1024, height: 1024 }
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(String(size)) ?? []
  const sides = { width: Number(width), height: Number(height) }
  const fits = (side: number) => side >= LIMITS.sideMin && side <= LIMITS.sideMax
  if (fits(sides.width) && fits(sides.height)) return sides
  throw wrongValue('size', size, SIZES)
}
