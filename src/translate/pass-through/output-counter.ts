/** Reads the output out of events that go through as they came, for a count when no usage comes. */

import { type CountTokens, OutputGatherer, textWritten } from '../output-gatherer.ts'

export type { CountTokens }

/** Where the events of each client format carry output: the members whose string values are read. */
export const OUTPUT_MARKERS = {
  messages: ['"text":', '"thinking":', '"partial_json":'],
  responses: ['"delta":'],
} as const

/** Characters of events that are kept before they are read: most streams report their usage, and are never read. */
const UNREAD_CHARACTERS_MAX = 16_384

export interface OutputCounterOptions {
  readonly countTokens: CountTokens
  readonly markers: readonly string[]
}

export class OutputCounter {
  readonly #markers: readonly string[]
  readonly #gathered: OutputGatherer
  #unread: string[] = []
  #unreadCharacters = 0

  constructor({ countTokens, markers }: OutputCounterOptions) {
    this.#markers = markers
    this.#gathered = new OutputGatherer({ countTokens, decode: textWritten })
  }

  /** Takes note of whole events that go to the client, as latin1 characters of their UTF-8 bytes. */
  append(events: string): void {
    this.#unread.push(events)
    this.#unreadCharacters += events.length
    if (this.#unreadCharacters > UNREAD_CHARACTERS_MAX) this.#read()
  }

  #read(): void {
    const events = this.#unread.join('')
    this.#unread = []
    this.#unreadCharacters = 0
    for (const marker of this.#markers) {
      for (let at = events.indexOf(marker); at >= 0; at = events.indexOf(marker, at + marker.length)) {
        let start = at + marker.length
        while (events[start] === ' ') start++
        if (events[start] === '"') this.#gathered.add(stringAt(events, start + 1))
      }
    }
  }

  tokens(): number {
    this.#read()
    return this.#gathered.tokens()
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
