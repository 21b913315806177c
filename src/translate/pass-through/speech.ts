/** Speech as events: pieces of audio go through as they came, the last event is kept until the call has been settled. */

import { readUsage } from '../../formats/responses/usage.ts'
import { NO_USAGE, type UsageReport, usageReport } from '../../formats/usage.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { ReplyStream } from '../reply-stream.ts'
import { brokenOff, dataOf, errorOf } from './messages.ts'

export class SpeechPassThrough implements ReplyStream {
  readonly encoding = 'latin1'
  #terminal = ''
  #started = false
  usage: UsageReport = NO_USAGE
  finished = false

  push(event: SseEvent): string {
    const raw = event.raw.toString('latin1')
    if (!event.hasData) return this.#started ? raw : ''
    if (event.data === '[DONE]') return ''
    const name = event.name || String(dataOf(event).type)
    if (name === 'error') throw errorOf(event)
    if (name.endsWith('.done')) {
      this.usage = usageReport(readUsage(dataOf(event).usage), { final: true })
      this.#terminal = raw
      this.finished = true
      return ''
    }
    this.#started = true
    return raw
  }

  end(): string {
    if (!this.finished) throw brokenOff()
    return this.#terminal
  }

  countOutputTokens(): number {
    return 0
  }
}
