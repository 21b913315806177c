/** A Chat Completions stream to a Chat client: chunks go through as they came, apart from the model's name. */

import { readUsage } from '../../formats/chat/usage.ts'
import type { TokenUsage, UsageFacts } from '../../formats/usage.ts'
import { arrayOrEmpty, objectOrNull } from '../../lib/json.ts'
import type { SseEvent } from '../../lib/sse.ts'
import type { ReplyStream } from '../reply-stream.ts'
import { brokenOff, dataOf, errorOf, replaceData } from './messages.ts'
import { type CountTokens, OUTPUT_MARKERS, OutputCounter } from './output-counter.ts'

export interface ChatPassThroughOptions {
  readonly clientModel: string
  readonly countTokens: CountTokens
  /** The client asked for the usage chunk; else it is read here and not passed on. */
  readonly wantsUsage: boolean
  readonly usageFacts: UsageFacts
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
    this.#counter = new OutputCounter({
      countTokens: options.countTokens,
      markers: OUTPUT_MARKERS.chat_completions,
      encoding: this.encoding,
    })
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
    this.#counter.append(raw)
    if (!this.#inspect(event)) return ''
    this.#started = true
    return this.#renamed(raw)
  }

  end(): string {
    if (!this.#started || !(this.finished || this.#finishSeen)) throw brokenOff()
    return this.#terminal
  }

  countOutputTokens(): number {
    return this.#counter.tokens()
  }

  /** Reads what the gateway needs of a chunk; false when the client must not see it. */
  #inspect(event: SseEvent): boolean {
    const chunk = dataOf(event)
    if (chunk.error !== undefined && chunk.error !== null) throw errorOf(event)
    if (typeof chunk.model === 'string') this.#upstreamModel ??= chunk.model
    const choices = arrayOrEmpty(chunk.choices)
    if (choices.some(choice => objectOrNull(choice)?.finish_reason)) this.#finishSeen = true
    const usage = readUsage(chunk.usage, this.#options.usageFacts)
    if (usage === null) return true
    this.usage = usage
    return this.#options.wantsUsage || choices.length > 0
  }

  #renamed(raw: string): string {
    if (this.#upstreamModel === null || this.#upstreamModel === this.#options.clientModel) return raw
    return replaceData(raw, '/model', this.#options.clientModel)
  }
}
