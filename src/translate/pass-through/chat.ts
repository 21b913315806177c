/** A Chat Completions stream to a Chat client: chunks go through as they came, apart from the model's name. */

import { GatewayError } from '../../errors.ts'
import { readUsage } from '../../formats/chat/usage.ts'
import { readErrorEvent } from '../../formats/errors.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { ReplyStream } from '../reply-stream.ts'
import type { TokenUsage } from '../translator.ts'
import { replaceData } from './messages.ts'
import { type CountTokens, OutputCounter, stringAfter } from './output-counter.ts'

/** Where the chunks of a chat stream carry output. */
const DELTA_MARKERS = ['"content":"', '"reasoning_content":"', '"reasoning":"', '"arguments":"', '"refusal":"'] as const

export interface ChatPassThroughOptions {
  readonly clientModel: string
  readonly countTokens: CountTokens
  /** The client asked for the usage chunk; else it is read here and not passed on. */
  readonly wantsUsage: boolean
  readonly usageCachedPaths: readonly string[]
}

export class ChatPassThrough implements ReplyStream {
  readonly encoding = 'latin1'
  readonly #options: ChatPassThroughOptions
  readonly #counter: OutputCounter
  /** The model member as the upstream writes it, found in the first chunk. */
  #upstreamModel: string | null = null
  #terminal = 'data: [DONE]\n\n'
  #finishSeen = false
  #started = false
  usage: TokenUsage | null = null
  finished = false

  constructor(options: ChatPassThroughOptions) {
    this.#options = options
    this.#counter = new OutputCounter(options.countTokens)
  }

  get usageFinal(): boolean {
    return this.#finishSeen && this.usage !== null
  }

  push(event: SseEvent): string {
    const raw = event.raw.toString('latin1')
    if (!event.hasData) return this.#started ? raw : ''
    if (event.data === '[DONE]') {
      this.finished = true
      this.#terminal = raw
      return ''
    }
    for (const marker of DELTA_MARKERS) this.#counter.append(stringAfter(raw, marker))
    if (!this.#finishSeen || raw.includes('"usage"') || raw.includes('"error"')) {
      if (!this.#inspect(event)) return ''
    }
    this.#started = true
    return this.#renamed(raw)
  }

  end(): string {
    if (!this.finished && !this.#finishSeen) {
      throw new GatewayError('upstream_failed', { message: 'The reply broke off before it was complete.' })
    }
    return this.#terminal
  }

  countOutputTokens(): number {
    return this.#counter.tokens()
  }

  /** Reads what the gateway needs of a chunk; false when the client must not see it. */
  #inspect(event: SseEvent): boolean {
    const chunk = parse(event.data)
    if (chunk.error !== undefined && chunk.error !== null) throw readErrorEvent(event.data)
    this.#upstreamModel ??= chunk.model ?? null
    if (chunk.choices?.some(choice => choice.finish_reason)) this.#finishSeen = true
    if (!chunk.usage) return true
    this.usage = readUsage(chunk.usage, this.#options.usageCachedPaths)
    return this.#options.wantsUsage || (chunk.choices?.length ?? 0) > 0
  }

  #renamed(raw: string): string {
    if (this.#upstreamModel === null || this.#upstreamModel === this.#options.clientModel) return raw
    return replaceData(raw, '/model', this.#options.clientModel)
  }
}

interface Chunk {
  model?: string
  error?: unknown
  usage?: Record<string, unknown> | null
  choices?: { finish_reason?: string | null }[]
}

function parse(data: string): Chunk {
  try {
    return JSON.parse(data) as Chunk
  } catch {
    throw new GatewayError('upstream_failed', { message: 'The reply broke off before it was complete.' })
  }
}
