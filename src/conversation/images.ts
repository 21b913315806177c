/** Images and files as the two formats write them: data URLs, media types, and URLs to be fetched by somebody else. */

import type { ImageSource } from './request.ts'

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

export interface DataUrl {
  /** Lower case, without parameters; '' when the URL names none. */
  readonly mediaType: string
  /** Base64 without blanks. */
  readonly data: string
}

/** Reads a data URL tolerantly: parameters, blanks, URL-safe base64 and percent-encoded text are understood. Null for other URLs. */
export function readDataUrl(url: string): DataUrl | null {
  if (!/^data:/i.test(url)) return null
  const comma = url.indexOf(',')
  if (comma < 0) return null
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).split(';')
  const isBase64 = parameters.some(parameter => parameter.trim().toLowerCase() === 'base64')
  const payload = url.slice(comma + 1)
  const data = isBase64 ? normalBase64(payload) : Buffer.from(decodePercent(payload)).toString('base64')
  return { mediaType: mediaType.trim().toLowerCase(), data }
}

/** The media type as providers name it, or null when it is not one of the four image types. */
export function imageMediaType(mediaType: string): string | null {
  const lower = mediaType.trim().toLowerCase()
  const known = lower === 'image/jpg' || lower === 'image/pjpeg' ? 'image/jpeg' : lower
  return IMAGE_TYPES.has(known) ? known : null
}

export function dataUrl(mediaType: string, data: string): string {
  return `data:${mediaType};base64,${data}`
}

/** The URL of an image part of a chat request. */
export function imageUrl(source: ImageSource): string {
  return source.type === 'url' ? source.url : dataUrl(source.mediaType, source.data)
}

export function isHttpUrl(url: string): boolean {
  return /^https?:\/\//i.test(url)
}

/** Base64 with the standard alphabet and without blanks; the usual case is returned as it is. */
function normalBase64(text: string): string {
  const bare = /[\s%]/.test(text) ? decodePercent(text).replace(/\s+/g, '') : text
  return /[-_]/.test(bare) ? bare.replaceAll('-', '+').replaceAll('_', '/') : bare
}

function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
