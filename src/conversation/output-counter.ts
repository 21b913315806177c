/** Reads the output out of events that go through as they came, for a count when no usage comes. */

import { type CountTokens, OutputGatherer, textWritten } from './output-gatherer.ts'

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
  /** What stood around the only piece of output of the event that was read last. */
  #looks: { readonly before: string; readonly after: string } | null = null
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
    const [only = ''] = this.#markers
    if (this.#markers.length === 1) {
      for (const { piece } of piecesAt(events, only)) this.#gathered.add(piece)
      return
    }
    for (let at = 0; at < events.length; ) at = this.#readAlike(events, at) ?? this.#readOther(events, at)
  }

  /** One past an event that is like the one before but for its piece of output; null when the next one is not. */
  #readAlike(events: string, at: number): number | null {
    if (this.#looks === null) return null
    const { before, after } = this.#looks
    const start = at + before.length
    // Slices are compared faster than `startsWith` compares.
    if (events.slice(at, start) !== before) return null
    const piece = stringAt(events, start)
    const end = start + piece.length + after.length
    if (events.slice(end - after.length, end) !== after) return null
    this.#gathered.add(piece)
    return end
  }

  #readOther(events: string, at: number): number {
    const blank = events.indexOf('\n\n', at)
    const end = blank < 0 ? events.length : blank + 2
    const event = events.slice(at, end)
    const found = this.#markers.flatMap(marker => [...piecesAt(event, marker)])
    for (const { piece } of found) this.#gathered.add(piece)
    const [only] = found
    this.#looks = only === undefined || found.length > 1 ? null : looksOf(event, only)
    return end
  }

  tokens(): number {
    this.#read()
    return this.#gathered.tokens()
  }

  /** Roughly, without a tokenizer. */
  estimate(): number {
    this.#read()
    return this.#gathered.estimate()
  }
}

interface Piece {
  readonly start: number
  readonly piece: string
}

/** The strings behind a marker. Quotes inside strings are escaped, so it cannot stand in one. */
function* piecesAt(events: string, marker: string): Generator<Piece> {
  for (let hit = events.indexOf(marker); hit >= 0; ) {
    let start = hit + marker.length
    while (events[start] === ' ') start++
    if (events[start] === '"') {
      const piece = stringAt(events, ++start)
      start += piece.length
      yield { start: start - piece.length, piece }
    }
    hit = events.indexOf(marker, start)
  }
}

/** Copies: a slice would keep all events in memory that it was cut from. */
function looksOf(event: string, { start, piece }: { start: number; piece: string }): { before: string; after: string } {
  const copy = (text: string) => Buffer.from(text, 'latin1').toString('latin1')
  return { before: copy(event.slice(0, start)), after: copy(event.slice(start + piece.length)) }
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
