/**
 * Counts the output of a stream that breaks off before its usage came. It holds pieces of text just long enough to count
 * them and drops them with the stream.
 */

/** Characters gathered before they are counted: bounds the memory of a stream. */
const GATHERED_CHARACTERS_MAX = 16_384

export type CountTokens = (text: string) => number

/** Where the events of each client format carry output: the members whose string values are read. */
export const OUTPUT_MARKERS = {
  messages: ['"text":', '"thinking":', '"partial_json":'],
  responses: ['"delta":'],
  chat_completions: ['"content":', '"reasoning_content":', '"reasoning":', '"arguments":', '"refusal":'],
} as const

export interface OutputCounterOptions {
  readonly countTokens: CountTokens
  readonly markers: readonly string[]
  /** latin1: the texts hold UTF-8 bytes one by one. */
  readonly encoding: 'latin1' | 'utf8'
}

export class OutputCounter {
  readonly #options: OutputCounterOptions
  #pieces: string[] = []
  #characters = 0
  #tokens = 0

  constructor(options: OutputCounterOptions) {
    this.#options = options
  }

  /** Takes note of events that go to the client. */
  append(events: string): void {
    for (const marker of this.#options.markers) {
      for (let at = events.indexOf(marker); at >= 0; at = events.indexOf(marker, at + marker.length)) {
        let start = at + marker.length
        while (events[start] === ' ') start++
        if (events[start] === '"') this.#add(stringAt(events, start + 1))
      }
    }
  }

  tokens(): number {
    this.#fold()
    return this.#tokens
  }

  #add(written: string): void {
    if (written === '') return
    this.#pieces.push(written)
    this.#characters += written.length
    if (this.#characters > GATHERED_CHARACTERS_MAX) this.#fold()
  }

  #fold(): void {
    if (this.#pieces.length === 0) return
    const joined = this.#pieces.join('')
    this.#pieces = []
    this.#characters = 0
    const { encoding, countTokens } = this.#options
    const text = encoding === 'latin1' ? Buffer.from(joined, 'latin1').toString('utf8') : joined
    this.#tokens += countTokens(decode(text))
  }
}

function decode(written: string): string {
  if (!written.includes('\\')) return written
  try {
    return JSON.parse(`"${written}"`) as string
  } catch {
    return written
  }
}

/** The content of the JSON string whose first character stands at `start`, as written. */
function stringAt(text: string, start: number): string {
  let end = text.indexOf('"', start)
  while (end > 0 && oddBackslashesBefore(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? '' : text.slice(start, end)
}

function oddBackslashesBefore(text: string, at: number): boolean {
  let count = 0
  while (text.charCodeAt(at - 1 - count) === 92) count++
  return count % 2 === 1
}
