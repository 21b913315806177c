/**
 * Our own count of a call's input tokens. Most calls never need it, because their provider reports usage. What counting
 * needs is kept only as long as the count may still be requested, because thousands of streams can run for minutes.
 */

import type { InputWeight } from '../conversation/input-weight.ts'
import type { ReplyStream } from '../conversation/reply-stream.ts'
import type { ModelEntry, WireName } from '../generated/types.ts'
import { tokensOf, weigh } from './count-tokens.ts'
import type { ChatBody } from './receive.ts'

/** Longer texts are counted before they are released; shorter ones are kept until the count is needed. */
const KEPT_CHARACTERS_MAX = 256 * 1024

type CountedBody = Pick<ChatBody, 'json'> & Partial<Pick<ChatBody, 'unread'>>

export interface InputCountOptions {
  readonly body: CountedBody
  readonly format: WireName
  readonly entry: ModelEntry
  /** Replaces the count when the body was dropped because the provider had reported its own. */
  readonly inputTokensEstimate: number
}

export class InputCount {
  readonly #format: WireName
  readonly #entry: ModelEntry
  readonly #inputTokensEstimate: number
  #body: CountedBody | null
  #weight: InputWeight | null = null
  #tokens: number | null = null

  constructor({ body, format, entry, inputTokensEstimate }: InputCountOptions) {
    this.#body = body
    this.#format = format
    this.#entry = entry
    this.#inputTokensEstimate = inputTokensEstimate
  }

  /** Counts once and caches the result. */
  readonly tokens = (): number => {
    if (this.#tokens !== null) return this.#tokens
    if (this.#body !== null) this.#weight = weigh(this.#body.json, this.#format)
    this.#body = null
    this.#tokens = this.#weight === null ? this.#inputTokensEstimate : tokensOf(this.#weight, this.#entry)
    this.#weight = null
    return this.#tokens
  }

  /**
   * Releases the body: keeps what a later count needs of it, which is the bare text while its values are unread, or
   * counts at once if that is a lot of text.
   */
  letGo({ usage }: Pick<ReplyStream, 'usage'>): void {
    const body = this.#body
    this.#body = null
    if (body === null || this.#tokens !== null || usage.usage.inputTokens > 0) return
    if (body.unread?.built === false) {
      this.#body = body.unread
      return
    }
    this.#weight = weigh(body.json, this.#format)
    const characters = this.#weight.texts.reduce((sum, text) => sum + text.length, 0)
    if (characters > KEPT_CHARACTERS_MAX) this.tokens()
  }
}
