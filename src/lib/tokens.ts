/**
 * Counts tokens with the o200k byte-pair vocabulary, in linear time: overlong words are cut, and very long texts are sampled.
 * Takes about 1 ms per 100 kB; the first call loads the vocabulary.
 */

import { defer } from './deferred.ts'
import { inTurn } from './loop-turns.ts'
import { PieceReader } from './token-pieces.ts'
import { hash, NO_RANK, readVocabularyPart, type Vocabulary, vocabulary } from './token-vocabulary.ts'

export const TOKEN_LIMITS = {
  /** Words longer than this are cut, because byte-pair merging takes time quadratic in their length. */
  pieceBytesMax: 128,
  /** Texts up to this length are counted in full. Longer texts are sampled in evenly spaced windows with this total length. */
  exactCharactersMax: 500_000,
  /** Number of windows that are sampled from a longer text. */
  windows: 50,
  /** Number of pieces whose counts are cached; pieces with a single token need no cache. */
  rememberedPieces: 2 ** 15,
} as const

const knownChecks = new Int32Array(TOKEN_LIMITS.rememberedPieces)
/** Token counts of the cached pieces; 0 marks an empty slot. */
const knownCounts = new Uint8Array(TOKEN_LIMITS.rememberedPieces)

const WARM_PAUSE_MS = 5

/** Loads the vocabulary before it is needed, with pauses between its parts, so that other work is not held up. */
export function warmTokens(): void {
  const part = (): void => {
    if (!readVocabularyPart()) setTimeout(part, WARM_PAUSE_MS).unref()
  }
  defer(part)
}

/**
 * Counts the tokens of a text. The count is exact for texts of up to `exactCharactersMax` characters, unless a word is longer
 * than `pieceBytesMax`. Longer texts are estimated from samples.
 */
export function countTokens(text: string): number {
  const { samples, share } = samplesOf(text)
  let tokens = 0
  for (const sample of samples) {
    const count = new Count(sample)
    count.run(Number.POSITIVE_INFINITY)
    tokens += count.tokens
  }
  return Math.round(tokens / share)
}

/** How many bytes are counted in one turn of the event loop. The worst take 5 ms: long words of rare characters. */
const TURN_BYTES = 32 * 1024

/** Counts like `countTokens`, a long text in many turns of the event loop. */
export async function countTokensInTurns(text: string): Promise<number> {
  const { samples, share } = samplesOf(text)
  let tokens = 0
  for (const sample of samples) {
    const count = new Count(sample)
    while (!(await inTurn(() => count.run(TURN_BYTES))));
    tokens += count.tokens
  }
  return Math.round(tokens / share)
}

class Count {
  readonly #bytes: Buffer
  readonly #reader: PieceReader
  #start = 0
  tokens = 0

  constructor(text: string) {
    this.#bytes = Buffer.from(text, 'utf8')
    this.#reader = new PieceReader(this.#bytes, TOKEN_LIMITS.pieceBytesMax)
  }

  /** Counts about this many bytes further; true at the end. */
  run(bytesMax: number): boolean {
    const bytes = this.#bytes
    const reader = this.#reader
    const ranks = vocabulary()
    const until = Math.min(bytes.length, this.#start + bytesMax)
    let start = this.#start
    let tokens = 0
    while (start < until) {
      const end = reader.pieceEnd(start)
      tokens += pieceTokens(bytes, start, end, ranks)
      start = end
    }
    this.#start = start
    this.tokens += tokens
    return start >= bytes.length
  }
}

export interface TokenPiece {
  readonly text: string
  readonly tokens: number
}

/** Splits a text into pieces (words with their leading space, digits, punctuation) whose counts add up to the total. */
export function* tokenPieces(text: string): Generator<TokenPiece> {
  const bytes = Buffer.from(text, 'utf8')
  const reader = new PieceReader(bytes, TOKEN_LIMITS.pieceBytesMax)
  const ranks = vocabulary()
  for (let start = 0; start < bytes.length; ) {
    const end = reader.pieceEnd(start)
    yield { text: bytes.toString('utf8', start, end), tokens: pieceTokens(bytes, start, end, ranks) }
    start = end
  }
}

/** The parts of a text that are counted, and which share of it they are. */
function samplesOf(text: string): { samples: readonly string[]; share: number } {
  const { exactCharactersMax, windows } = TOKEN_LIMITS
  if (text.length <= exactCharactersMax) return { samples: [text], share: 1 }
  const windowCharacters = Math.floor(exactCharactersMax / windows)
  const stride = (text.length - windowCharacters) / (windows - 1)
  const samples = Array.from({ length: windows }, (_, index) => {
    const start = Math.floor(index * stride)
    return text.slice(start, start + windowCharacters)
  })
  return { samples, share: (windowCharacters * windows) / text.length }
}

function pieceTokens(bytes: Uint8Array, start: number, end: number, ranks: Vocabulary): number {
  if (end - start === 1 || ranks.rank(bytes, start, end) !== NO_RANK) return 1
  const { slot, check } = hash(bytes, start, end)
  const place = slot % TOKEN_LIMITS.rememberedPieces
  if (knownCounts[place] !== 0 && knownChecks[place] === check) return knownCounts[place]!
  const count = mergedParts(bytes, start, end, ranks)
  knownChecks[place] = check
  knownCounts[place] = count
  return count
}

/** Where each part of the piece starts and, in `joinRanks`, the rank of joining that part with the next one. */
const partStarts = new Int32Array(TOKEN_LIMITS.pieceBytesMax + 2)
const joinRanks = new Int32Array(TOKEN_LIMITS.pieceBytesMax + 2)

/** Repeatedly merges the lowest-ranked pair of neighbours, until no pair is a token. Returns the number of parts left. */
function mergedParts(bytes: Uint8Array, start: number, end: number, ranks: Vocabulary): number {
  let parts = end - start
  for (let index = 0; index <= parts; index += 1) partStarts[index] = start + index
  for (let index = 0; index + 1 < parts; index += 1)
    joinRanks[index] = ranks.rank(bytes, start + index, start + index + 2)
  while (parts > 1) {
    let best = 0
    for (let index = 1; index + 1 < parts; index += 1) if (joinRanks[index]! < joinRanks[best]!) best = index
    if (joinRanks[best] === NO_RANK) break
    partStarts.copyWithin(best + 1, best + 2, parts + 1)
    joinRanks.copyWithin(best, best + 1, parts - 1)
    parts -= 1
    if (best + 1 < parts) joinRanks[best] = ranks.rank(bytes, partStarts[best]!, partStarts[best + 2]!)
    if (best > 0) joinRanks[best - 1] = ranks.rank(bytes, partStarts[best - 1]!, partStarts[best + 1]!)
  }
  return parts
}
