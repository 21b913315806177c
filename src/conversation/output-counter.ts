/**
 * Extracts the output from events that pass through unchanged, so that it can be counted if the upstream reports no
 * usage.
 */

import { ascii, type ByteText, byteText, joinBytes, NO_BYTES, toBuffer } from '../lib/byte-text.ts'
import { type CountTokens, OutputGatherer } from './output-gatherer.ts'

export type { CountTokens }

/** The JSON keys whose string values are output, in the events of each client format. */
export const OUTPUT_MARKERS = {
  messages: [ascii('"text":'), ascii('"thinking":'), ascii('"partial_json":')],
  responses: [ascii('"delta":')],
} as const

const SPACE = 32
const QUOTE = 34

/**
 * Events are searched for output once this many characters are buffered. Shorter streams are usually never searched, because
 * the upstream reports their usage.
 */
const UNREAD_CHARACTERS_MAX = 16_384

export interface OutputCounterOptions {
  readonly countTokens: CountTokens
  readonly markers: readonly ByteText[]
}

export class OutputCounter {
  readonly #markers: readonly ByteText[]
  readonly #gathered: OutputGatherer
  /** What surrounded the output in the last event read; null if that event had no piece of output or several. */
  #template: Template | null = null
  #unread: ByteText[] = []
  #unreadCharacters = 0

  constructor({ countTokens, markers }: OutputCounterOptions) {
    this.#markers = markers
    this.#gathered = new OutputGatherer({ countTokens })
  }

  /** Records complete events that were sent to the client. */
  append(events: ByteText): void {
    this.#unread.push(events)
    this.#unreadCharacters += events.length
    if (this.#unreadCharacters > UNREAD_CHARACTERS_MAX) this.#read()
  }

  #read(): void {
    const events = joinBytes(this.#unread)
    this.#unread = []
    this.#unreadCharacters = 0
    const [only = NO_BYTES] = this.#markers
    if (this.#markers.length === 1) {
      for (const { piece } of piecesAt(events, only)) this.#gathered.addWritten(piece)
      return
    }
    for (let at = 0; at < events.length; ) at = this.#readMatching(events, at) ?? this.#readOther(events, at)
  }

  /**
   * Reads the event at `at` if it differs from the last event read only in its output. Returns the offset after it, or null if
   * it differs in anything else.
   */
  #readMatching(events: ByteText, at: number): number | null {
    if (this.#template === null) return null
    const { before, after } = this.#template
    const start = at + before.length
    // Comparing slices is faster than `startsWith`.
    if (events.slice(at, start) !== before) return null
    const piece = stringAt(events, start)
    const end = start + piece.length + after.length
    if (events.slice(end - after.length, end) !== after) return null
    this.#gathered.addWritten(piece)
    return end
  }

  #readOther(events: ByteText, at: number): number {
    const blank = events.indexOf('\n\n', at)
    const end = blank < 0 ? events.length : blank + 2
    const event = events.slice(at, end)
    const found = this.#markers.flatMap(marker => [...piecesAt(event, marker)])
    for (const { piece } of found) this.#gathered.addWritten(piece)
    const [only] = found
    this.#template = only === undefined || found.length > 1 ? null : templateOf(event, only)
    return end
  }

  tokens(): number {
    this.#read()
    return this.#gathered.tokens()
  }

  /** Estimates the output tokens by length, without the tokenizer. */
  estimate(): number {
    this.#read()
    return this.#gathered.estimate()
  }
}

interface Piece {
  readonly start: number
  readonly piece: ByteText
}

/**
 * Yields the string values that follow a marker, which is a quoted key. Text inside a string cannot look like one, because its
 * quotes are escaped.
 */
function* piecesAt(events: ByteText, marker: ByteText): Generator<Piece> {
  for (let hit = events.indexOf(marker); hit >= 0; ) {
    let start = hit + marker.length
    while (events.charCodeAt(start) === SPACE) start++
    if (events.charCodeAt(start) === QUOTE) {
      const piece = stringAt(events, ++start)
      start += piece.length
      yield { start: start - piece.length, piece }
    }
    hit = events.indexOf(marker, start)
  }
}

interface Template {
  readonly before: ByteText
  readonly after: ByteText
}

/** Returns the bytes around a piece of output. Copies them, because a slice would keep the whole buffer of events in memory. */
function templateOf(event: ByteText, { start, piece }: Piece): Template {
  const copy = (text: ByteText) => byteText(toBuffer(text))
  return { before: copy(event.slice(0, start)), after: copy(event.slice(start + piece.length)) }
}

/** Returns the content of the JSON string whose first character is at `start`: still escaped, without quotes. */
function stringAt(text: ByteText, start: number): ByteText {
  let end = text.indexOf('"', start)
  while (end > 0 && oddBackslashesBefore(text, end)) end = text.indexOf('"', end + 1)
  return end < 0 ? NO_BYTES : text.slice(start, end)
}

function oddBackslashesBefore(text: ByteText, at: number): boolean {
  let count = 0
  while (text.charCodeAt(at - 1 - count) === 92) count++
  return count % 2 === 1
}
