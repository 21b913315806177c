/** A Messages stream to a Messages client: events go through as they came, apart from the model's name. */

import { GatewayError } from '../../errors.ts'
import { readErrorEvent } from '../../formats/errors.ts'
import { readUsage } from '../../formats/messages/usage.ts'
import { editJson } from '../../lib/json-text.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { ReplyStream } from '../reply-stream.ts'
import type { TokenUsage } from '../translator.ts'
import { type CountTokens, OutputCounter, stringAfter } from './output-counter.ts'

/** Where the deltas of a Messages stream carry output. */
const DELTA_MARKERS = ['"text":"', '"thinking":"', '"partial_json":"'] as const

export class MessagesPassThrough implements ReplyStream {
  readonly encoding = 'latin1'
  readonly #clientModel: string
  readonly #counter: OutputCounter
  #terminal = ''
  #started = false
  #stopSeen = false
  usage: TokenUsage | null = null
  usageFinal = false
  finished = false

  constructor({ clientModel, countTokens }: { clientModel: string; countTokens: CountTokens }) {
    this.#clientModel = clientModel
    this.#counter = new OutputCounter(countTokens)
  }

  push(event: SseEvent): string {
    const raw = event.raw.toString('latin1')
    if (!event.hasData) return this.#started ? raw : ''
    switch (event.name || typeOf(event)) {
      case 'content_block_delta':
        for (const marker of DELTA_MARKERS) this.#counter.append(stringAfter(raw, marker))
        return raw
      case 'message_start':
        this.#started = true
        return this.#start(event, raw)
      case 'message_delta':
        return this.#delta(event, raw)
      case 'message_stop':
        this.finished = true
        this.#terminal = raw
        return ''
      case 'error':
        throw readErrorEvent(event.data)
      case 'ping':
        return this.#started ? raw : ''
      default:
        return raw
    }
  }

  end(): string {
    if (!this.finished)
      throw new GatewayError('upstream_failed', { message: 'The reply broke off before it was complete.' })
    return this.#terminal
  }

  countOutputTokens(): number {
    return this.#counter.tokens()
  }

  #start(event: SseEvent, raw: string): string {
    const data = parse(event.data)
    const message = data.message
    if (message?.usage) this.usage = readUsage(message.usage)
    if (message === undefined || message.model === this.#clientModel) return raw
    return replaceData(raw, '/message/model', this.#clientModel)
  }

  /** `message_delta` carries cumulative figures; those it leaves out keep their value of `message_start`. */
  #delta(event: SseEvent, raw: string): string {
    const data = parse(event.data)
    if (data.usage) this.usage = readUsage({ ...this.#startUsage(), ...withoutNulls(data.usage) })
    if (data.delta?.stop_reason) this.#stopSeen = true
    this.usageFinal = this.#stopSeen && this.usage !== null
    return raw
  }

  #startUsage(): Record<string, unknown> {
    if (this.usage === null) return {}
    return {
      input_tokens: this.usage.inputTokens - this.usage.cachedInputTokens - this.usage.cacheWriteTokens,
      cache_read_input_tokens: this.usage.cachedInputTokens,
      cache_creation_input_tokens: this.usage.cacheWriteTokens,
      output_tokens: this.usage.outputTokens,
    }
  }
}

interface EventData {
  type?: string
  message?: { model?: string; usage?: Record<string, unknown> }
  usage?: Record<string, unknown>
  delta?: { stop_reason?: string | null }
}

function parse(data: string): EventData {
  try {
    return JSON.parse(data) as EventData
  } catch {
    throw new GatewayError('upstream_failed', { message: 'The reply broke off before it was complete.' })
  }
}

function typeOf(event: SseEvent): string {
  return parse(event.data).type ?? ''
}

function withoutNulls(usage: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null && value !== undefined))
}

/** Edits the JSON object behind `data:` of an event that has one data line. */
export function replaceData(raw: string, path: string, value: string): string {
  const open = raw.indexOf('{', raw.indexOf('data:'))
  const close = raw.lastIndexOf('}') + 1
  return raw.slice(0, open) + editJson(raw.slice(open, close), [{ op: 'set', path, value }]) + raw.slice(close)
}
