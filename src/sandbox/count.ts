/** Counts the tokens of a prompt's images and documents. */

import { countTokens } from '../lib/tokens.ts'
import { isObject, type JsonObject, textOf } from './json.ts'
import type { PromptImage } from './model.ts'
import { pictureInfo } from './picture-info.ts'

const PAGE_TOKENS = 1_800
const UNKNOWN_PICTURE_TOKENS = 1_100

export function countText(text: string): number {
  return text === '' ? 0 : countTokens(text)
}

/** Type and size of a base64 image. Falls back on the declared type when the bytes are inconclusive. */
export function describePicture(base64: string, declaredType: string): PromptImage {
  const info = pictureInfo(Buffer.from(base64, 'base64'))
  return info ?? { mediaType: declaredType, width: null, height: null }
}

/**
 * Counts an image by one of two rules.
 *
 * - `pixels`: one token per 750 pixels, after shrinking to at most 1,568 pixels a side.
 * - `tiles`: 85 plus 170 per tile of 512 by 512 pixels, after shrinking the short side to 768 pixels; 85 for `low` detail.
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

/** Counts a document: text with the tokenizer, PDFs by page. */
export function countDocument(block: JsonObject): number {
  const source = isObject(block.source) ? block.source : {}
  const title = countText(textOf(block.title)) + countText(textOf(block.context))
  if (source.type === 'text') return title + countText(textOf(source.data))
  if (source.type === 'base64') return title + countPdf(Buffer.from(textOf(source.data), 'base64'))
  return title + (source.type === 'content' ? countText(JSON.stringify(source.content ?? '')) : PAGE_TOKENS)
}

/** Estimates a PDF's tokens: a typical page's tokens times the number of pages, or one page if none is found. */
export function countPdf(bytes: Buffer): number {
  const pages = bytes.toString('latin1').match(/\/Type\s*\/Page(?![s\w])/g)?.length ?? 1
  return Math.max(1, pages) * PAGE_TOKENS
}
