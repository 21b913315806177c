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

/** Holds pieces of text just long enough to count them and drops them with the stream. */
export class OutputGatherer {
  readonly #options: OutputGathererOptions
  #pieces: string[] = []
  /** Pieces behind those, as they were written. */
  #written: string[] = []
  #characters = 0
  #tokens = 0

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

  #readWritten(): void {
    if (this.#written.length === 0) return
    this.#pieces.push(textWritten(this.#written.join('')))
    this.#written = []
  }

  #fold(): void {
    this.#readWritten()
    if (this.#pieces.length === 0) return
    const joined = this.#pieces.join('')
    this.#pieces = []
    this.#characters = 0
    const { countTokens, decode } = this.#options
    this.#tokens += countTokens(decode === undefined ? joined : decode(joined))
  }
}
