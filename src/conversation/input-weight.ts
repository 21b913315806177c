/** What counts as input tokens in a request. Each chat format has its own function that collects it. */

import { type JsonValue, textOrNull } from '../lib/json.ts'
import { type PictureSize, pictureSize } from '../lib/picture.ts'

export interface InputWeight {
  /** All text that the model reads, including the JSON of tool definitions and calls. */
  readonly texts: string[]
  /** Sizes in pixels; null for an image whose size cannot be read from the request. */
  readonly images: (PictureSize | null)[]
  /** Number of pages in documents that are not plain text. */
  documentPages: number
  turns: number
  tools: number
}

/**
 * How many Base64 characters of an image are decoded, at most. Only metadata can come before an image's size, so they are enough
 * to find it.
 */
const HEADER_CHARACTERS_MAX = 512 * 1024
/** Most Base64 characters of a document in which to count pages. */
const DOCUMENT_CHARACTERS_MAX = 8 * 1024 * 1024
/** Assumed bytes per page when the pages of a document cannot be counted. */
const BYTES_PER_PAGE = 50_000

export function noInput(): InputWeight {
  return { texts: [], images: [], documentPages: 0, turns: 0, tools: 0 }
}

/** Returns the data of a data URL; null for other URLs. */
export function base64Of(url: JsonValue | undefined): string | null {
  const text = textOrNull(url)
  return text?.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : null
}

/** Returns the size of a base64 image; null if there is no data or no size in it. */
export function imageSize(data: string | null): PictureSize | null {
  return data === null ? null : pictureSize(Buffer.from(data.slice(0, HEADER_CHARACTERS_MAX), 'base64'))
}

/**
 * Returns the number of pages of a base64 PDF, counted by its page objects or, if none are found, estimated by its size; 1 if
 * there is no data.
 */
export function pagesOf(data: string | null): number {
  if (data === null) return 1
  const bytes = Buffer.from(data.slice(0, DOCUMENT_CHARACTERS_MAX), 'base64')
  const found = bytes.toString('latin1').match(/\/Type ?\/Page(?![a-zA-Z])/g)?.length ?? 0
  if (found > 0) return Math.ceil((found * data.length) / Math.min(data.length, DOCUMENT_CHARACTERS_MAX))
  return Math.max(1, Math.round((data.length * 0.75) / BYTES_PER_PAGE))
}
