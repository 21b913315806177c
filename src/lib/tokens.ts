/**
 * Token counts from the o200k byte-pair vocabulary. The vocabulary (2.4 MB) is read on first use, or ahead of it by
 * `warmTokens`; counting is linear for every input: words are cut to a bounded length and very long texts are sampled.
 */

import { createRequire } from 'node:module'
import { O200K_TOKEN_SPLIT_REGEX } from 'gpt-tokenizer/encodingParams/constants'

/** Bounds that keep counting linear. */
export const TOKEN_LIMITS = {
  /** A longer run without a break is cut; byte-pair merging is quadratic in this. */
  pieceCharactersMax: 96,
  /** A longer text is counted in evenly spread windows of this total size and scaled up. */
  exactCharactersMax: 2_000_000,
  /** Windows of a sampled text. */
  windows: 64,
  /** Remembered counts of pieces that are not one token. */
  cachedPiecesMax: 20_000,
} as const

type Vocabulary = Map<string, number>

let vocabulary: Vocabulary | null = null
const pieceCounts = new Map<string, number>()

/** Reads the vocabulary (about 200 ms of blocking work, once per process). */
export function warmTokens(): void {
  loadVocabulary()
}

/** Tokens of `text`. Exact up to `exactCharactersMax` but for runs above `pieceCharactersMax`; an estimate above. */
export function countTokens(text: string): number {
  if (text.length > TOKEN_LIMITS.exactCharactersMax) return countSampled(text)
  let tokens = 0
  for (const piece of tokenPieces(text)) tokens += countPiece(piece)
  return tokens
}

/** The text in pieces (words with their leading space, digit groups, punctuation) whose token counts add up. */
export function tokenPieces(text: string): string[] {
  const pieces = text.match(O200K_TOKEN_SPLIT_REGEX) ?? []
  const limit = TOKEN_LIMITS.pieceCharactersMax
  if (!pieces.some(piece => piece.length > limit)) return pieces
  return pieces.flatMap(piece => {
    const parts: string[] = []
    for (let start = 0; start < piece.length; start += limit) parts.push(piece.slice(start, start + limit))
    return parts
  })
}

/** Tokens of one piece of `tokenPieces`. */
export function countPiece(piece: string): number {
  const ranks = loadVocabulary()
  if (ranks.has(piece)) return 1
  const known = pieceCounts.get(piece)
  if (known !== undefined) return known
  const count = mergeCount(piece, ranks)
  if (pieceCounts.size >= TOKEN_LIMITS.cachedPiecesMax) pieceCounts.clear()
  pieceCounts.set(piece, count)
  return count
}

function countSampled(text: string): number {
  const { exactCharactersMax, windows } = TOKEN_LIMITS
  const windowCharacters = Math.floor(exactCharactersMax / windows)
  const stride = (text.length - windowCharacters) / (windows - 1)
  let tokens = 0
  for (let index = 0; index < windows; index += 1) {
    const start = Math.floor(index * stride)
    tokens += countTokens(text.slice(start, start + windowCharacters))
  }
  return Math.round((tokens * text.length) / (windowCharacters * windows))
}

/** Byte-pair merging over Latin-1 keys of UTF-8 bytes; quadratic in the (bounded) length. */
function mergeCount(piece: string, ranks: Vocabulary): number {
  const bytes = Buffer.from(piece, 'utf8')
  const ends: number[] = []
  for (let index = 0; index < bytes.length; index += 1) ends.push(index + 1)
  const rankOf = (start: number, end: number) => ranks.get(keyOf(bytes, start, end)) ?? Number.POSITIVE_INFINITY
  while (ends.length > 1) {
    let best = -1
    let bestRank = Number.POSITIVE_INFINITY
    for (let index = 0; index + 1 < ends.length; index += 1) {
      const rank = rankOf(index === 0 ? 0 : ends[index - 1]!, ends[index + 1]!)
      if (rank < bestRank) {
        bestRank = rank
        best = index
      }
    }
    if (best === -1) break
    ends.splice(best, 1)
  }
  return ends.length
}

/** Bytes that are no UTF-8 text are kept apart by a prefix that no token starts with. */
function keyOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end)
  return text.includes('\uFFFD') ? `\uFFFE${bytes.toString('latin1', start, end)}` : text
}

function loadVocabulary(): Vocabulary {
  if (vocabulary !== null) return vocabulary
  const module = createRequire(import.meta.url)('gpt-tokenizer/bpeRanks/o200k_base') as {
    default: readonly (string | readonly number[])[]
  }
  const ranks: Vocabulary = new Map()
  for (const [rank, token] of module.default.entries()) {
    if (token === undefined) continue
    ranks.set(typeof token === 'string' ? token : `\uFFFE${Buffer.from(token).toString('latin1')}`, rank)
  }
  vocabulary = ranks
  return ranks
}
