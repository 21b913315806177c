/** The parts of a request that count as input tokens. Each chat format has a function that collects them. */

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
 * Maximum number of Base64 characters decoded to find the size of an image. Only metadata can precede the size, so this is
 * enough.
 */
const HEADER_CHARACTERS_MAX = 512 * 1024
/** Maximum number of Base64 characters of a document that are searched for pages. */
const DOCUMENT_CHARACTERS_MAX = 8 * 1024 * 1024
/** Assumed bytes per page when the pages of a document cannot be counted. */
const BYTES_PER_PAGE = 50_000

export function noInput(): InputWeight {
  return { texts: [], images: [], documentPages: 0, turns: 0, tools: 0 }
}

/** Returns the data of a data URL, or null for other URLs. */
export function base64Of(url: JsonValue | undefined): string | null {
  const text = textOrNull(url)
  return text?.startsWith('data:') ? text.slice(text.indexOf(',') + 1) : null
}

/** Returns the size of a Base64 image; null if there is no data, or the size cannot be found. */
export function imageSize(data: string | null): PictureSize | null {
  return data === null ? null : pictureSize(Buffer.from(data.slice(0, HEADER_CHARACTERS_MAX), 'base64'))
}

/**
 * Returns the number of pages of a Base64 PDF, counted by its page objects or, if none are found, estimated from its size.
 * Returns 1 if there is no data.
 */
export function pagesOf(data: string | null): number {
  if (data === null) return 1
  const bytes = Buffer.from(data.slice(0, DOCUMENT_CHARACTERS_MAX), 'base64')
  const found = bytes.toString('latin1').match(/\/Type ?\/Page(?![a-zA-Z])/g)?.length ?? 0
  if (found > 0) return Math.ceil((found * data.length) / Math.min(data.length, DOCUMENT_CHARACTERS_MAX))
  return Math.max(1, Math.round((data.length * 0.75) / BYTES_PER_PAGE))
}
