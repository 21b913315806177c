/** Feeds an upstream's bytes to a reply stream. Events that the stream can read without parsing bypass the event parser. */

import { type ByteText, byteText, NO_BYTES, toBuffer } from '../lib/byte-text.ts'
import { isObject, parseJson } from '../lib/json.ts'
import { countValues } from '../lib/json-scan.ts'
import { commentsEnd, eventEnd, type SseEvent, type SseOptions, SseReader } from '../lib/sse.ts'
import { type Shortened, withoutLogprobs } from './logprobs.ts'
import type { ReplyStream } from './reply-stream.ts'
import { DONE } from './stream-event.ts'

/** Events up to this size, in bytes, cannot have so many values that they need to be counted. */
const LONG_BYTES = 64 * 1024
const LF = 0x0a

export interface FeedOptions extends SseOptions {
  /** Most JSON values in one event, without log probabilities. */
  readonly replyValuesMax: number
}

/** Receives complete events for the client. */
export type WriteEvents = (events: ByteText) => void

/** How much of a stream may be read. */
export interface ReadLimit {
  /** Bytes that may be read before the next call of `read` or `skimmed`: of events that are parsed, or of output. */
  readonly bytesFree: number
  /** Call after reading this many bytes of events that are parsed. They may have reported usage. */
  read(bytes: number): void
  /** Call after skimming events with at most this many bytes of output. They report no usage. */
  skimmed(outputBytes: number): void
}

const NO_LIMIT: ReadLimit = { bytesFree: Number.POSITIVE_INFINITY, read: () => {}, skimmed: () => {} }

export class StreamFeed {
  readonly #stream: ReplyStream
  readonly #reader: SseReader
  readonly #options: FeedOptions
  readonly #write: WriteEvents
  /** The log probabilities of the event that has ended the stream; null if it has none. */
  #last: Shortened | null = null

  constructor(stream: ReplyStream, write: WriteEvents, options: FeedOptions) {
    this.#stream = stream
    this.#write = write
    this.#reader = new SseReader(options)
    this.#options = options
  }

  /** Bytes of the event that is still incomplete. */
  get pendingBytes(): number {
    return this.#reader.pendingBytes
  }

  /**
   * Processes the next bytes as far as the limit allows, but no further than the event that ends the stream. Returns how many
   * bytes it has processed. Throws whatever the stream or the event parser throws.
   */
  push(chunk: Buffer, limit = NO_LIMIT): number {
    const all = this.#skimmable(chunk)
    let at = 0
    while (at < chunk.length && !this.#stream.finished && limit.bytesFree > 0) {
      const from = at
      if (all !== null && this.#reader.atBorder) {
        at = this.#skimRun(all, at, limit)
        const end = commentsEnd(all, at)
        if (end > at) {
          this.#write(this.#stream.push(this.#reader.comments(chunk.subarray(at, end))))
          at = end
        }
        if (at > from) continue
      }
      at = all === null ? pieceEnd(chunk, at, limit.bytesFree) : Math.min(eventEnd(all, at), at + limit.bytesFree)
      this.#read(chunk.subarray(from, at), { skims: all !== null && !this.#reader.atBorder })
      limit.read(at - from)
    }
    return at
  }

  /** The chunk as text if its events may be skimmed, otherwise null. */
  #skimmable(chunk: Buffer): ByteText | null {
    if (this.#stream.skim === undefined || chunk.length > this.#options.eventBytesMax) return null
    const all = byteText(chunk)
    return all.includes('\r') ? null : all
  }

  /** Skims the events at `at`. Returns where the events begin that must be parsed. */
  #skimRun(all: ByteText, at: number, limit: ReadLimit): number {
    const stream = this.#stream
    const text = stream.skim?.(all, at, limit.bytesFree) ?? NO_BYTES
    const end = stream.skimmedTo ?? at
    if (text.length > 0) this.#write(text)
    if (end > at) limit.skimmed(stream.skimmedBytes ?? end - at)
    return end
  }

  /** Returns the stream's last events, which `events` are without their log probabilities. */
  whole(events: ByteText): ByteText {
    return this.#last === null ? events : this.#last.restore(events)
  }

  /** Call this after the last byte. Processes an event that lacks only its blank line; ignores a truncated event. */
  end(): void {
    for (const event of this.#reader.end()) {
      if (isWhole(event)) this.#write(this.#push(event))
    }
  }

  /** `skims`: the chunk is the rest of an event that may need no parsing. */
  #read(chunk: Buffer, { skims } = { skims: false }): void {
    const stream = this.#stream
    for (const event of this.#reader.push(chunk)) {
      this.#write((skims ? this.#skim(event) : null) ?? this.#push(event))
      if (stream.finished) return
    }
  }

  /** Returns the client's events for an event that needs no parsing; null for any other. */
  #skim({ raw }: SseEvent): ByteText | null {
    const all = byteText(raw)
    const events = all.includes('\r') ? null : (this.#stream.skim?.(all, 0, Number.POSITIVE_INFINITY) ?? null)
    return this.#stream.skimmedTo === all.length ? events : null
  }

  #push(event: SseEvent): ByteText {
    const stream = this.#stream
    if (event.raw.length <= LONG_BYTES) return stream.push(event)
    const text = byteText(event.raw)
    const short = withoutLogprobs(text)
    countValues(short?.text ?? text, { valuesMax: this.#options.replyValuesMax })
    if (short === null) return stream.push(event)
    const events = short.restore(stream.push(event.withRaw(toBuffer(short.text))))
    if (stream.finished) this.#last = short
    return events
  }
}

/** Where to cut off a piece of at most `bytesMax` bytes: after an event if possible, because two pieces must be joined again. */
function pieceEnd(chunk: Buffer, at: number, bytesMax: number): number {
  const max = at + bytesMax
  if (chunk.length <= max) return chunk.length
  // Searching for one byte takes a third of the time that searching for two takes.
  for (let end = chunk.lastIndexOf(LF, max - 1); end > at; end = chunk.lastIndexOf(LF, end - 1)) {
    if (chunk[end - 1] === LF) return end + 1
  }
  return max
}

function isWhole(event: SseEvent): boolean {
  return !event.hasData || event.data === DONE || isObject(parseJson(event.data))
}
