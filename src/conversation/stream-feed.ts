/** Feeds an upstream's bytes to a reply stream. Events that the stream can read without parsing bypass the event parser. */

import { type ByteText, byteText, toBuffer } from '../lib/byte-text.ts'
import { isObject, parseJson } from '../lib/json.ts'
import { countValues } from '../lib/json-scan.ts'
import { commentsEnd, eventEnd, type SseEvent, type SseOptions, SseReader } from '../lib/sse.ts'
import { type Shortened, withoutLogprobs } from './logprobs.ts'
import type { ReplyStream } from './reply-stream.ts'
import { DONE } from './stream-event.ts'

/** Events up to this size, in bytes, cannot have so many values that they need to be counted. */
const LONG_BYTES = 64 * 1024

export interface FeedOptions extends SseOptions {
  /** Most JSON values in one event, without log probabilities. */
  readonly replyValuesMax: number
}

/** Receives complete events for the client. */
export type WriteEvents = (events: ByteText) => void

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

  /** Processes the next bytes, up to the event that ends the stream. Throws whatever the stream or the event parser throws. */
  push(chunk: Buffer): void {
    if (this.#stream.skim === undefined || chunk.length > this.#options.eventBytesMax) {
      this.#read(chunk)
      return
    }
    const all = byteText(chunk)
    if (all.includes('\r')) {
      this.#read(chunk)
      return
    }
    for (let at = 0; at < all.length && !this.#stream.finished; ) {
      if (this.#reader.atBorder) {
        const text = this.#stream.skim(all, at)
        at = this.#stream.skimmedTo ?? at
        if (text.length > 0) this.#write(text)
        if (at === all.length) return
        const end = commentsEnd(all, at)
        if (end > at) {
          this.#write(this.#stream.push(this.#reader.comments(chunk.subarray(at, end))))
          at = end
          continue
        }
      }
      const end = eventEnd(all, at)
      this.#read(at === 0 && end === all.length ? chunk : chunk.subarray(at, end), { skims: !this.#reader.atBorder })
      at = end
    }
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
    const events = all.includes('\r') ? null : (this.#stream.skim?.(all, 0) ?? null)
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

function isWhole(event: SseEvent): boolean {
  return !event.hasData || event.data === DONE || isObject(parseJson(event.data))
}
