/** Images and files in requests: data URLs, media types, and URLs for the upstream to fetch. */

import { withoutWhiteSpace } from '../lib/byte-text.ts'
import type { JsonValue } from '../lib/json.ts'
import { pictureType } from '../lib/picture.ts'
import type { ImageDetail, ImageSource } from './request.ts'

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** Longest part of a data URL before its data, in characters. */
const DATA_URL_HEAD_MAX = 4_000

export interface DataUrl {
  /** In lower case, without parameters; '' if the URL has none. */
  readonly mediaType: string
  /** Base64 without whitespace. */
  readonly data: string
}

/**
 * Parses a data URL leniently: accepts parameters, whitespace, URL-safe base64 and percent-encoded text. Null for any other URL,
 * and if there is no data within the first 4,000 characters.
 */
export function readDataUrl(url: string): DataUrl | null {
  if (!/^data:/i.test(url)) return null
  const comma = url.slice(0, DATA_URL_HEAD_MAX).indexOf(',')
  if (comma < 0) return null
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).split(';')
  const isBase64 = parameters.some(parameter => parameter.trim().toLowerCase() === 'base64')
  const payload = url.slice(comma + 1)
  const data = isBase64 ? normalBase64(payload) : Buffer.from(decodePercent(payload)).toString('base64')
  return { mediaType: mediaType.trim().toLowerCase(), data }
}

/** Returns the media type as providers spell it; null if it is not one of the four supported image types. */
function imageMediaType(mediaType: string): string | null {
  const lower = mediaType.trim().toLowerCase()
  const known = lower === 'image/jpg' || lower === 'image/pjpeg' ? 'image/jpeg' : lower
  return IMAGE_TYPES.has(known) ? known : null
}

/** Base64 characters of an image's first bytes that show its type. */
const HEAD_CHARACTERS = 32

/**
 * Returns the type of a base64 image: what its first bytes say, or else what the client says. Clients often say something else, and
 * Anthropic refuses an image that is not what it is called (reports of users, read 2026-11). Null if it is not one of the four
 * supported types.
 */
export function imageTypeOf(data: string, said: string): string | null {
  return pictureType(Buffer.from(data.slice(0, HEAD_CHARACTERS), 'base64')) ?? imageMediaType(said)
}

export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`
}

/** Returns the URL to send for an image in a chat request; a data URL if the image came as base64. */
export function imageUrl(source: ImageSource): string {
  return source.type === 'url' ? source.url : dataUrl(source.mediaType, source.data)
}

/**
 * Returns the name under which to send a PDF. OpenAI judges files by the ending of their names, and refuses one without `.pdf`
 * (`Expected context stuffing file type to be a supported format`, reports of users, read 2026-11).
 */
export function pdfName(title: string): string {
  if (title === '') return 'document.pdf'
  return /\.pdf$/i.test(title) ? title : `${title}.pdf`
}

/** Reads how closely the model should look at an image; nothing if the client does not say. */
export function imageDetail(detail: JsonValue | undefined): { detail?: ImageDetail } {
  return detail === 'low' || detail === 'high' || detail === 'original' ? { detail } : {}
}

export function isHttpUrl(url: string): boolean {
  return /^https?:\/\//i.test(url)
}

/** Returns base64 in the standard alphabet, without whitespace. Input that already has this form is returned as is. */
function normalBase64(text: string): string {
  const bare = /[\s%]/.test(text) ? withoutWhiteSpace(decodePercent(text)) : text
  return /[-_]/.test(bare) ? inStandardAlphabet(bare) : bare
}

/** Replaces the two characters that URLs have instead of `+` and `/`. For millions of them, `replaceAll` takes seconds. */
function inStandardAlphabet(text: string): string {
  const bytes = Buffer.from(text, 'utf8')
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 0x2d) bytes[at] = 0x2b
    else if (bytes[at] === 0x5f) bytes[at] = 0x2f
  }
  return bytes.toString('utf8')
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
