/**
 * Relays a stream of images. Partial and finished images pass through unchanged except for the model's name; finished ones are
 * counted.
 */

import { replaceData } from '../../conversation/event-edit.ts'
import type { ReplyStream } from '../../conversation/reply-stream.ts'
import { failedStream, readEvent } from '../../conversation/stream-event.ts'
import { NO_USAGE, type UsageReport, usageReport } from '../../conversation/usage.ts'
import { type ByteText, concat, NO_BYTES } from '../../lib/byte-text.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { readUsage } from '../responses/usage.ts'

export interface ImagesRelayOptions {
  readonly clientModel: string
  /** Number of images requested. The reply is complete when that many have arrived. */
  readonly count: number
}

export class ImagesRelay implements ReplyStream {
  readonly #options: ImagesRelayOptions
  /** The latest finished image. Held back, because the last image may only be sent after the call is settled. */
  #held = NO_BYTES
  #started = false
  #received = 0
  /** Whether a partial image has been sent while its finished version has not. */
  #partialSent = false
  usage: UsageReport = NO_USAGE
  finished = false

  constructor(options: ImagesRelayOptions) {
    this.#options = options
  }

  /** Number of images received in full, but never more than requested. */
  get imagesReceived(): number {
    return Math.min(this.#received, this.#options.count)
  }

  /**
   * Number of images to charge if the client disconnects: those sent in full, plus one if only a partial version of the next
   * one was sent.
   */
  get imagesToCharge(): number {
    const sent = this.#received - (this.#held.length === 0 ? 0 : 1)
    return Math.min(sent + (this.#partialSent ? 1 : 0), this.#options.count)
  }

  push(event: SseEvent): ByteText {
    if (!event.hasData) return this.#started ? event.relayed : NO_BYTES
    if (event.data === '[DONE]') return NO_BYTES
    const name = event.name || String(readEvent(event).type)
    if (!/\.(partial_image|completed)$/.test(name)) readEvent(event)
    if (name.endsWith('.failed')) throw failedStream('an image that could not be generated')
    const text = this.#renamed(event)
    if (!name.endsWith('.completed')) {
      this.#started = true
      const before = this.#release()
      if (name.endsWith('.partial_image')) this.#partialSent = true
      return concat(before, text)
    }
    const before = this.#release()
    this.#received++
    this.#held = text
    this.finished = this.#received >= this.#options.count
    const usage = readUsage(readEvent(event).usage)
    if (usage !== null) this.usage = usageReport(usage, { final: this.finished })
    return before
  }

  end(): ByteText {
    if (this.#received === 0) throw failedStream('a stream without an image')
    return this.#held
  }

  countOutputTokens(): number {
    return 0
  }

  estimateOutputTokens(): number {
    return 0
  }

  /** Returns the finished image that was held back, now that another event follows; empty if there is none. */
  #release(): ByteText {
    const text = this.#held
    if (text.length === 0) return NO_BYTES
    this.#held = NO_BYTES
    this.#started = true
    this.#partialSent = false
    return text
  }

  #renamed(event: SseEvent): ByteText {
    const raw = event.relayed
    if (!raw.includes('"model"')) return raw
    const { model } = readEvent(event)
    const { clientModel } = this.#options
    return typeof model === 'string' && model !== clientModel ? replaceData(raw, ['/model'], clientModel) : raw
  }
}
