/** A reference image or a mask: either bytes with an image's signature, or a URL to fetch later. */

import { GatewayError } from '../../errors.ts'
import { withoutWhiteSpace } from '../../lib/byte-text.ts'
import { type PictureType, pictureType } from '../../lib/picture.ts'
import type { FetchedImage, ImageCall, ImageFetcher } from '../../upstream/fetch-image.ts'

export type Reference =
  | { readonly kind: 'image'; readonly image: FetchedImage }
  | { readonly kind: 'url'; readonly field: string; readonly url: string }

const FILE_ENDINGS: Readonly<Record<PictureType, string>> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
}

export function fileNameOf({ mediaType }: FetchedImage, name: string): string {
  return `${name}.${FILE_ENDINGS[mediaType]}`
}

/** Makes a reference from bytes. Throws GatewayError `invalid_request` unless they are PNG, JPEG, WebP or GIF. */
export function referenceOfBytes(field: string, bytes: Buffer): Reference {
  const mediaType = pictureType(bytes)
  if (mediaType !== null) return { kind: 'image', image: { bytes, mediaType } }
  throw new GatewayError('invalid_request', {
    message: `${field}: not a PNG, JPEG, WebP or GIF image (judged by its first bytes, not its name)`,
  })
}

/** Makes a reference from a data URL, an http(s) URL or base64. Throws GatewayError `invalid_request` for anything else. */
export function referenceOfText(field: string, text: string): Reference {
  const trimmed = text.trim()
  if (/^https?:\/\//i.test(trimmed)) return { kind: 'url', field, url: trimmed }
  const dataUrl = /^data:[^,]{0,200},/i.exec(trimmed)
  if (dataUrl && !/;\s*base64\s*,$/i.test(dataUrl[0])) throw unreadable(field)
  const base64 = withoutWhiteSpace(trimmed.slice(dataUrl?.[0].length ?? 0))
  if (base64 === '' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64)) throw unreadable(field)
  return referenceOfBytes(field, Buffer.from(base64, 'base64'))
}

function unreadable(field: string): GatewayError {
  return new GatewayError('invalid_request', {
    message: `${field}: write a base64 data URL, plain base64, or a public http(s) URL`,
  })
}

/** The image itself, fetched if the reference is a URL. Rejects with GatewayError when the URL does not lead to an image. */
export async function imageOf(
  reference: Reference,
  fetcher: ImageFetcher,
  call: Omit<ImageCall, 'field'>,
): Promise<FetchedImage> {
  if (reference.kind === 'image') return reference.image
  return fetcher.fetch(reference.url, { field: reference.field, ...call })
}
