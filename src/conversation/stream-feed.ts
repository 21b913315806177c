/** Feeds an upstream's bytes to a reply stream. Events that the stream can read without parsing bypass the event parser. */

import { type ByteText, byteText } from '../lib/byte-text.ts'
import { isObject, parseJson } from '../lib/json.ts'
import { eventEnd, type SseEvent, type SseOptions, SseReader } from '../lib/sse.ts'
import type { ReplyStream } from './reply-stream.ts'
import { DONE } from './stream-event.ts'

/** Receives complete events for the client. */
export type WriteEvents = (events: ByteText) => void

export class StreamFeed {
  readonly #stream: ReplyStream
  readonly #reader: SseReader
  readonly #eventBytesMax: number
  readonly #write: WriteEvents

  constructor(stream: ReplyStream, write: WriteEvents, options: SseOptions) {
    this.#stream = stream
    this.#write = write
    this.#reader = new SseReader(options)
    this.#eventBytesMax = options.eventBytesMax
  }

  /** Bytes of the event that is still incomplete. */
  get pendingBytes(): number {
    return this.#reader.pendingBytes
  }

  /** Processes the next bytes, up to the event that ends the stream. Throws whatever the stream or the event parser throws. */
  push(chunk: Buffer): void {
    if (this.#stream.skim === undefined || chunk.length > this.#eventBytesMax) {
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
      }
      const end = eventEnd(all, at)
      this.#read(at === 0 && end === all.length ? chunk : chunk.subarray(at, end))
      at = end
    }
  }

  /** Call this after the last byte. Processes an event that lacks only its blank line; ignores a truncated event. */
  end(): void {
    for (const event of this.#reader.end()) {
      if (isWhole(event)) this.#write(this.#stream.push(event))
    }
  }

  #read(chunk: Buffer): void {
    const stream = this.#stream
    for (const event of this.#reader.push(chunk)) {
      this.#write(stream.push(event))
      if (stream.finished) return
    }
  }
}

function isWhole(event: SseEvent): boolean {
  return !event.hasData || event.data === DONE || isObject(parseJson(event.data))
}
