/** The output of a stream, counted for the case that the provider does not report it. */

/** Characters gathered before they are counted: bounds the memory of a stream. */
const GATHERED_CHARACTERS_MAX = 16_384

export type CountTokens = (text: string) => number

export interface OutputGathererOptions {
  readonly countTokens: CountTokens
  /** What pieces that were put together say, where they are not plain text. */
  readonly decode?: (joined: string) => string
}

/** What pieces of JSON strings say that stand there as latin1 characters of UTF-8 bytes, escaped and without quotes. */
export function textWritten(written: string): string {
  const text = Buffer.from(written, 'latin1').toString('utf8')
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return text
  }
}

/** Written as it is said: ASCII without escapes. */
const PLAIN = /^[^\\\x80-\uffff]*$/

/** Characters of what a piece says, as `textWritten` takes it. */
export function lengthWritten(written: string): number {
  return PLAIN.test(written) ? written.length : textWritten(written).length
}

/** Holds pieces of text just long enough to count them and drops them with the stream. */
/** Bytes of ASCII text, and of other text in UTF-8, that one token stands for, roughly. */
const BYTES_PER_TOKEN = { ascii: 4, other: 2.5 } as const
/** UTF-8 bytes of a character beyond ASCII, less the one that it counts for in a string: between two and three of the former. */
const OTHER_BYTES_PER_EXTRA_BYTE = 1.5

/** Tokens of a piece by its length alone; `written` as `textWritten` takes it. */
function weigh(piece: string, { written }: { written: boolean }): number {
  const extra = Buffer.byteLength(piece) - piece.length
  // In latin1 each such byte is one character, and takes two bytes.
  const other = written ? extra : extra * OTHER_BYTES_PER_EXTRA_BYTE
  const ascii = Math.max(0, (written ? piece.length : piece.length + extra) - other)
  return ascii / BYTES_PER_TOKEN.ascii + other / BYTES_PER_TOKEN.other
}

export class OutputGatherer {
  readonly #options: OutputGathererOptions
  #pieces: string[] = []
  /** Pieces behind those, as they were written. */
  #written: string[] = []
  #characters = 0
  #tokens = 0
  /** Of the pieces that were weighed, in both lists. */
  #weight = 0
  #weighed = 0
  #writtenWeighed = 0

  constructor(options: OutputGathererOptions) {
    this.#options = options
  }

  add(piece: string): void {
    if (piece === '') return
    this.#readWritten()
    this.#pieces.push(piece)
    this.#characters += piece.length
    if (this.#characters > GATHERED_CHARACTERS_MAX) this.#fold()
  }

  /** A piece as `textWritten` takes it. */
  addWritten(piece: string): void {
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
    const { decode } = this.#options
    for (; this.#weighed < this.#pieces.length; this.#weighed++)
      this.#weight += weigh(this.#pieces[this.#weighed] as string, { written: decode !== undefined })
    for (; this.#writtenWeighed < this.#written.length; this.#writtenWeighed++)
      this.#weight += weigh(this.#written[this.#writtenWeighed] as string, { written: true })
    return this.#tokens + Math.ceil(this.#weight)
  }

  #readWritten(): void {
    if (this.#written.length === 0) return
    const text = textWritten(this.#written.join(''))
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
    const { countTokens, decode } = this.#options
    this.#tokens += countTokens(decode === undefined ? joined : decode(joined))
  }
}
