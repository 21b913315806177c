/** Token counts of a prompt's content other than text. */

import { countTokens } from '../lib/tokens.ts'
import { isObject, type JsonObject, textOf } from './json.ts'
import type { PromptImage } from './model.ts'
import { pictureInfo } from './picture-info.ts'

const PAGE_TOKENS = 1_800
const UNKNOWN_PICTURE_TOKENS = 1_100

export function countText(text: string): number {
  return text === '' ? 0 : countTokens(text)
}

/** The size of a base64 image; uses the declared type when the bytes are inconclusive. */
export function describePicture(base64: string, declaredType: string): PromptImage {
  const info = pictureInfo(Buffer.from(base64, 'base64'))
  return info ?? { mediaType: declaredType, width: null, height: null }
}

/**
 * The two rules in use: one token per 750 pixels after shrinking to 1,568 pixels a side (`pixels`), or 85 plus 170 per
 * tile of 512 pixels after shrinking the short side to 768 pixels (`tiles`; `low` detail is 85).
 */
export function countPicture(image: PromptImage, rule: 'pixels' | 'tiles', detail = 'auto'): number {
  if (rule === 'tiles' && detail === 'low') return 85
  if (image.width === null || image.height === null) return UNKNOWN_PICTURE_TOKENS
  if (rule === 'pixels') {
    const shrink = Math.min(1, 1_568 / Math.max(image.width, image.height))
    return Math.min(1_600, Math.ceil((image.width * shrink * image.height * shrink) / 750))
  }
  const fit = Math.min(1, 2_048 / Math.max(image.width, image.height))
  const shrink = Math.min(
    fit,
    768 / Math.min(image.width * fit, image.height * fit) < 1
      ? (fit * 768) / Math.min(image.width * fit, image.height * fit)
      : fit,
  )
  return 85 + 170 * Math.ceil((image.width * shrink) / 512) * Math.ceil((image.height * shrink) / 512)
}

/** Counts text sources with the tokenizer, and PDFs by page. */
export function countDocument(block: JsonObject): number {
  const source = isObject(block.source) ? block.source : {}
  const title = countText(textOf(block.title)) + countText(textOf(block.context))
  if (source.type === 'text') return title + countText(textOf(source.data))
  if (source.type === 'base64') return title + countPdf(Buffer.from(textOf(source.data), 'base64'))
  return title + (source.type === 'content' ? countText(JSON.stringify(source.content ?? '')) : PAGE_TOKENS)
}

/** A PDF's pages times a typical page; at least one. */
export function countPdf(bytes: Buffer): number {
  const pages = bytes.toString('latin1').match(/\/Type\s*\/Page(?![s\w])/g)?.length ?? 1
  return Math.max(1, pages) * PAGE_TOKENS
}
