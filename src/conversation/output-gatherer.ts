/** Collects a stream's output, so that it can be counted if the provider does not report usage. */

import { type ByteText, characters, decodeText, joinBytes } from '../lib/byte-text.ts'

/** Maximum number of characters collected before they are counted. Bounds the memory per stream. */
const GATHERED_CHARACTERS_MAX = 16_384

export type CountTokens = (text: string) => number

/** Decodes JSON string content (escaped, without quotes), which may be joined from several strings. */
export function textWritten(written: ByteText): string {
  const text = decodeText(written)
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return text
  }
}

/** Matches ASCII without escapes, which needs no decoding. */
const PLAIN = /^[^\\\x80-\uffff]*$/

/** Returns the length in characters of JSON string content after decoding. */
export function lengthWritten(written: ByteText): number {
  return PLAIN.test(characters(written)) ? written.length : textWritten(written).length
}

/** Approximate bytes of UTF-8 per token, for ASCII and for other characters. */
const BYTES_PER_TOKEN = { ascii: 4, other: 2.5 } as const
/** Fewest bytes of output that can add a token to the estimate. */
export const BYTES_PER_TOKEN_MIN = BYTES_PER_TOKEN.other
/**
 * UTF-8 bytes of non-ASCII characters per extra byte, where the extra bytes are the text's UTF-8 length minus its `length`.
 * Exact for three-byte characters (3 bytes, 2 of them extra); two- and four-byte characters would need 2.
 */
const OTHER_BYTES_PER_EXTRA_BYTE = 1.5

/** Estimates the tokens of a text from its length alone. */
function weigh(text: string): number {
  const extra = Buffer.byteLength(text) - text.length
  const other = extra * OTHER_BYTES_PER_EXTRA_BYTE
  return weighBytes({ ascii: text.length + extra - other, other })
}

function weighWritten(written: ByteText): number {
  // `written` has one character per byte: each byte above 127 takes two bytes in UTF-8.
  const other = Buffer.byteLength(characters(written)) - written.length
  return weighBytes({ ascii: written.length - other, other })
}

function weighBytes({ ascii, other }: { ascii: number; other: number }): number {
  return Math.max(0, ascii) / BYTES_PER_TOKEN.ascii + other / BYTES_PER_TOKEN.other
}

/** Collects output until its tokens are counted, then discards it. */
export class OutputGatherer {
  readonly #countTokens: CountTokens
  #pieces: string[] = []
  /** Pieces that came after those in `#pieces`, as escaped JSON string content. */
  #written: ByteText[] = []
  #characters = 0
  #tokens = 0
  /** Estimated tokens of the first `#weighed` items of `#pieces` and the first `#writtenWeighed` items of `#written`. */
  #weight = 0
  #weighed = 0
  #writtenWeighed = 0

  constructor({ countTokens }: { countTokens: CountTokens }) {
    this.#countTokens = countTokens
  }

  add(piece: string): void {
    if (piece === '') return
    this.#readWritten()
    this.#pieces.push(piece)
    this.#characters += piece.length
    if (this.#characters > GATHERED_CHARACTERS_MAX) this.#fold()
  }

  /** Adds a piece as escaped JSON string content, without quotes. */
  addWritten(piece: ByteText): void {
    this.#written.push(piece)
    this.#characters += piece.length
    if (this.#characters > GATHERED_CHARACTERS_MAX) this.#fold()
  }

  tokens(): number {
    this.#fold()
    return this.#tokens
  }

  /** Estimates the output tokens: those counted so far, plus an estimate of the rest by its length. */
  estimate(): number {
    for (; this.#weighed < this.#pieces.length; this.#weighed++)
      this.#weight += weigh(this.#pieces[this.#weighed] as string)
    for (; this.#writtenWeighed < this.#written.length; this.#writtenWeighed++)
      this.#weight += weighWritten(this.#written[this.#writtenWeighed] as ByteText)
    return this.#tokens + Math.ceil(this.#weight)
  }

  #readWritten(): void {
    if (this.#written.length === 0) return
    const text = textWritten(joinBytes(this.#written))
    // Some pieces of `#written` have been estimated. Estimate the others too, and mark their joined text as estimated, so that
    // none counts twice.
    if (this.#writtenWeighed > 0) {
      this.estimate()
      this.#weighed++
    }
    this.#pieces.push(text)
    this.#written = []
    this.#writtenWeighed = 0
  }

  #fold(): void {
    this.#readWritten()
    if (this.#pieces.length === 0) return
    const joined = this.#pieces.join('')
    this.#pieces = []
    this.#characters = 0
    this.#weight = 0
    this.#weighed = 0
    this.#tokens += this.#countTokens(joined)
  }
}
