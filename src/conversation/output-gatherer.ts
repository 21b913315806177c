/** The output of a stream, counted in case the provider does not report it. */

import { type ByteText, characters, decodeText, joinBytes } from '../lib/byte-text.ts'

/** Characters gathered before they are counted: bounds the memory of a stream. */
const GATHERED_CHARACTERS_MAX = 16_384

export type CountTokens = (text: string) => number

/** The text of a JSON string, or of neighbouring ones, given as written: escaped, without quotes. */
export function textWritten(written: ByteText): string {
  const text = decodeText(written)
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return text
  }
}

/** ASCII without escapes: the text is what is written. */
const PLAIN = /^[^\\\x80-\uffff]*$/

/** Characters of the text of a JSON string as written. */
export function lengthWritten(written: ByteText): number {
  return PLAIN.test(characters(written)) ? written.length : textWritten(written).length
}

/** Bytes of ASCII text, and of other text in UTF-8, that one token stands for, roughly. */
const BYTES_PER_TOKEN = { ascii: 4, other: 2.5 } as const
/** UTF-8 bytes of a character beyond ASCII, less the one that it counts for in a string: between two and three of the former. */
const OTHER_BYTES_PER_EXTRA_BYTE = 1.5

/** Tokens of a text by its length alone. */
function weigh(text: string): number {
  const extra = Buffer.byteLength(text) - text.length
  const other = extra * OTHER_BYTES_PER_EXTRA_BYTE
  return weighBytes({ ascii: text.length + extra - other, other })
}

function weighWritten(written: ByteText): number {
  // Each byte beyond ASCII is a character that takes two bytes in UTF-8.
  const other = Buffer.byteLength(characters(written)) - written.length
  return weighBytes({ ascii: written.length - other, other })
}

function weighBytes({ ascii, other }: { ascii: number; other: number }): number {
  return Math.max(0, ascii) / BYTES_PER_TOKEN.ascii + other / BYTES_PER_TOKEN.other
}

/** Keeps output just long enough to count its tokens. */
export class OutputGatherer {
  readonly #countTokens: CountTokens
  #pieces: string[] = []
  /** Pieces behind those, as they were written. */
  #written: ByteText[] = []
  #characters = 0
  #tokens = 0
  /** Of the pieces that were weighed, in both lists. */
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

  /** A piece as `textWritten` takes it. */
  addWritten(piece: ByteText): void {
    this.#written.push(piece)
    this.#characters += piece.length
    if (this.#characters > GATHERED_CHARACTERS_MAX) this.#fold()
  }

  tokens(): number {
    this.#fold()
    return this.#tokens
  }

  /** Roughly, without a tokenizer: what was counted before, and the rest by its length. */
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
    // What of it was weighed before is not weighed again.
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
