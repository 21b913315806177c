/** Replaces or refuses images and documents that an upstream does not accept. */

import { readDataUrl } from '../conversation/images.ts'
import { refuse, refuseCapability } from '../conversation/refuse.ts'
import type { DialectFacts } from './types.ts'

/** Whether documents stay what they are. How a chat request carries them is up to its format. */
export function takesDocuments({ content }: DialectFacts['dialect']): boolean {
  return content.documents === 'file' || content.documents === 'image_url'
}

/** Whether the upstream restricts images or documents. If not, content need not be inspected. */
export function asksOfMedia({ dialect: { content }, hasVision }: DialectFacts): boolean {
  return !hasVision || content.imageUrl !== 'pass' || content.documents !== 'file'
}

/**
 * Returns the text that replaces an image; null if the image stays. Throws GatewayError `invalid_request` for an image that the
 * upstream does not accept and that has no replacement.
 */
export function textForImage({ dialect, hasVision }: DialectFacts, place: string, isUrl: boolean): string | null {
  if (!hasVision) {
    if (dialect.content.imagesUnsupported === 'placeholder') return '[image omitted: this model does not accept images]'
    return refuseCapability('image_block', `${place}: this model does not accept images`)
  }
  if (dialect.content.imageUrl === 'pass' || !isUrl) return null
  return refuse(place, 'this model does not accept image URLs; send the image as base64')
}

export interface GivenDocument {
  /** The full text of a text document, including its title; null for a document of another type. */
  readonly text: string | null
  /** Note that stands in for the document. */
  readonly note: string
}

/**
 * Returns the text that replaces a document, for upstreams that take no documents. Throws GatewayError `invalid_request` if it
 * cannot be replaced.
 */
export function textForDocument({ dialect }: DialectFacts, place: string, { text, note }: GivenDocument): string {
  if (text !== null) return text
  if (dialect.content.documents === 'placeholder') return note
  return refuseCapability('document_block', `${place}: this model does not accept documents`)
}

/** Describes a file, given its name and its content as a data URL. */
export function givenFile(filename: string | null, content: string | null): GivenDocument {
  const title = filename ?? 'document.pdf'
  const data = content === null ? null : readDataUrl(content)
  const isText = data !== null && (data.mediaType.startsWith('text/') || data.mediaType === 'application/json')
  const text = isText ? `${title}\n\n${Buffer.from(data.data, 'base64').toString('utf8')}` : null
  return { text, note: `[document ${title} omitted: this model does not accept documents]` }
}
