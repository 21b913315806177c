/** Images and documents that an upstream does not take: the text that stands for them, or a refusal. */

import { readDataUrl } from '../conversation/images.ts'
import { refuse, refuseCapability } from '../conversation/refuse.ts'
import type { DialectFacts } from './types.ts'

/** Whether the facts ask anything of images and documents. */
export function asksOfMedia({ dialect: { content }, hasVision }: DialectFacts): boolean {
  return !hasVision || content.imageUrl !== 'pass' || content.documents !== 'file'
}

/** The text that stands for an image; null for one that stays. Throws GatewayError `invalid_request`. */
export function textForImage({ dialect, hasVision }: DialectFacts, place: string, isUrl: boolean): string | null {
  if (!hasVision) {
    if (dialect.content.imagesUnsupported === 'placeholder') return '[image omitted: this model takes no images]'
    return refuseCapability('image_block', `${place}: this model takes no images`)
  }
  if (dialect.content.imageUrl === 'pass' || !isUrl) return null
  return refuse(place, 'this model takes no image URLs; send the image as base64')
}

export interface GivenDocument {
  /** All that a document of text says, its title included; null for another document. */
  readonly text: string | null
  /** Says that it is left out. */
  readonly note: string
}

/** The text that stands for a document where none are taken. Throws GatewayError `invalid_request`. */
export function textForDocument({ dialect }: DialectFacts, place: string, { text, note }: GivenDocument): string {
  if (text !== null) return text
  if (dialect.content.documents === 'placeholder') return note
  return refuseCapability('document_block', `${place}: this model takes no documents`)
}

/** A file by its name and its content as a data URL. */
export function givenFile(filename: string | null, content: string | null): GivenDocument {
  const title = filename ?? 'document.pdf'
  const data = content === null ? null : readDataUrl(content)
  const isText = data !== null && (data.mediaType.startsWith('text/') || data.mediaType === 'application/json')
  const text = isText ? `${title}\n\n${Buffer.from(data.data, 'base64').toString('utf8')}` : null
  return { text, note: `[document ${title} omitted: this model takes no documents]` }
}
