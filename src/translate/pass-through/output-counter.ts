/** Reads the output out of events that go through as they came, for a count when no usage comes. */

import { type CountTokens, OutputGatherer } from '../output-gatherer.ts'

export type { CountTokens }

/** Where the events of each client format carry output: the members whose string values are read. */
export const OUTPUT_MARKERS = {
  messages: ['"text":', '"thinking":', '"partial_json":'],
  responses: ['"delta":'],
} as const

export interface OutputCounterOptions {
  readonly countTokens: CountTokens
  readonly markers: readonly string[]
  /** latin1: the texts hold UTF-8 bytes one by one. */
  readonly encoding: 'latin1' | 'utf8'
}

export class OutputCounter {
  readonly #markers: readonly string[]
  readonly #gathered: OutputGatherer

  constructor({ countTokens, markers, encoding }: OutputCounterOptions) {
    this.#markers = markers
    const decode = (joined: string) =>
      unescaped(encoding === 'latin1' ? Buffer.from(joined, 'latin1').toString('utf8') : joined)
    this.#gathered = new OutputGatherer({ countTokens, decode })
  }

  /** Takes note of events that go to the client. */
  append(events: string): void {
    for (const marker of this.#markers) {
      for (let at = events.indexOf(marker); at >= 0; at = events.indexOf(marker, at + marker.length)) {
        let start = at + marker.length
        while (events[start] === ' ') start++
        if (events[start] === '"') this.#gathered.add(stringAt(events, start + 1))
      }
    }
  }

  tokens(): number {
    return this.#gathered.tokens()
  }
}

function unescaped(written: string): string {
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
