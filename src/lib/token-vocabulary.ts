/**
 * Maps a token's bytes to its rank in the o200k BPE vocabulary, in an open-addressing hash table of two typed arrays (4 MB).
 * The table is filled on first use from the gpt-tokenizer package's vocabulary file, which takes a few tens of milliseconds.
 */

import { closeSync, openSync, readSync } from 'node:fs'
import { createRequire } from 'node:module'

const SLOTS = 2 ** 19
const SLOT_MASK = SLOTS - 1
/** Returned as the rank of bytes that are not a token; higher than any token's rank. */
export const NO_RANK = 0x7fffffff

export class Vocabulary {
  /** Second hash of the token in each slot. */
  readonly #checks = new Int32Array(SLOTS)
  /** Rank + 1 of the token in each slot; 0 marks an empty slot. */
  readonly #ranks = new Int32Array(SLOTS)

  /** Returns the token's rank, or NO_RANK for bytes that are not a token. Pairs that form a token of lower rank merge first. */
  rank(bytes: Uint8Array, start: number, end: number): number {
    const { slot, check } = hash(bytes, start, end)
    for (let probe = slot; ; probe = (probe + 1) & SLOT_MASK) {
      const rank = this.#ranks[probe]!
      if (rank === 0) return NO_RANK
      if (this.#checks[probe] === check) return rank - 1
    }
  }

  add(bytes: Uint8Array, end: number, rank: number): void {
    const { slot, check } = hash(bytes, 0, end)
    let probe = slot
    while (this.#ranks[probe] !== 0) probe = (probe + 1) & SLOT_MASK
    this.#checks[probe] = check
    this.#ranks[probe] = rank + 1
  }
}

const found = { slot: 0, check: 0 }

/** Computes two hashes, so that a false hit needs 51 equal bits. Returns a shared object, which the next call overwrites. */
export function hash(bytes: Uint8Array, start: number, end: number): { slot: number; check: number } {
  let first = 0x811c9dc5
  let second = end - start
  for (let index = start; index < end; index += 1) {
    const byte = bytes[index]!
    first = Math.imul(first ^ byte, 0x01000193)
    second = Math.imul(second + byte, 0x2c1b3c6d) ^ (second >>> 15)
  }
  found.slot = (first ^ (first >>> 13)) & SLOT_MASK
  found.check = second
  return found
}

/**
 * Number of bytes of the vocabulary file that are read at a time, in one buffer. The file has about 220 such parts, and each
 * takes less than a millisecond. A line has 200 bytes at most.
 */
const PART_BYTES = 16_384

const NEWLINE = 0x0a
const SPACE = 0x20
/** The token of the line that is being read. */
const token = new Uint8Array(512)

let loaded: Vocabulary | null = null
let reading: Generator<void, Vocabulary> | null = null

/** The vocabulary, shared by the whole process. If it is not fully loaded yet, loads the rest synchronously. */
export function vocabulary(): Vocabulary {
  while (loaded === null) readVocabularyPart()
  return loaded
}

/** Loads the next part of the vocabulary. Returns true once all parts are loaded. */
export function readVocabularyPart(): boolean {
  if (loaded !== null) return true
  reading ??= read(createRequire(import.meta.url).resolve('gpt-tokenizer/data/o200k_base.tiktoken'))
  const { done, value } = reading.next()
  if (done) [loaded, reading] = [value, null]
  return done === true
}

/** Reads the file, whose lines are `<token in base64> <rank>`, and pauses after each part. */
function* read(path: string): Generator<void, Vocabulary> {
  const made = new Vocabulary()
  const digits = base64Digits()
  const part = Buffer.allocUnsafe(PART_BYTES)
  const file = openSync(path, 'r')
  try {
    for (let offset = 0; ; ) {
      const length = readSync(file, part, 0, PART_BYTES, offset)
      if (length === 0) return made
      // A line that continues in the next part is read again there.
      const end = part.lastIndexOf(NEWLINE, length - 1) + 1
      if (end === 0) throw new Error(`${path} does not end with a complete line`)
      addLines(made, part.subarray(0, end), digits)
      offset += end
      yield
    }
  } finally {
    closeSync(file)
  }
}

function addLines(made: Vocabulary, lines: Uint8Array, digits: Int8Array): void {
  for (let position = 0; position < lines.length; position += 1) {
    let length = 0
    let bits = 0
    let held = 0
    for (; lines[position]! > SPACE; position += 1) {
      const digit = digits[lines[position]!]!
      if (digit < 0) continue
      held = (held << 6) | digit
      bits += 6
      if (bits < 8) continue
      bits -= 8
      token[length] = (held >> bits) & 0xff
      length += 1
    }
    let rank = 0
    for (position += 1; lines[position]! > SPACE; position += 1) rank = rank * 10 + lines[position]! - 0x30
    made.add(token, length, rank)
  }
}

function base64Digits(): Int8Array {
  const digits = new Int8Array(128).fill(-1)
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  for (let value = 0; value < alphabet.length; value += 1) digits[alphabet.charCodeAt(value)] = value
  return digits
}
