/** Relays speech events. Audio passes through unchanged; the last event is held back until the call is settled. */

import type { ReplyStream } from '../../conversation/reply-stream.ts'
import { failedStream, readEvent } from '../../conversation/stream-event.ts'
import { NO_USAGE, type UsageReport, usageReport } from '../../conversation/usage.ts'
import { type ByteText, NO_BYTES } from '../../lib/byte-text.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { readUsage } from '../responses/usage.ts'

export class SpeechRelay implements ReplyStream {
  #terminal = NO_BYTES
  #started = false
  usage: UsageReport = NO_USAGE
  finished = false

  push(event: SseEvent): ByteText {
    const raw = event.relayed
    if (!event.hasData) return this.#started ? raw : NO_BYTES
    if (event.data === '[DONE]') return NO_BYTES
    const name = event.name || String(readEvent(event).type)
    if (!name.endsWith('.delta')) readEvent(event)
    if (name.endsWith('.done')) {
      this.usage = usageReport(readUsage(readEvent(event).usage), { final: true })
      this.#terminal = raw
      this.finished = true
      return NO_BYTES
    }
    this.#started = true
    return raw
  }

  end(): ByteText {
    if (!this.finished) throw failedStream('a speech stream without its final event')
    return this.#terminal
  }

  countOutputTokens(): number {
    return 0
  }

  estimateOutputTokens(): number {
    return 0
  }
}
