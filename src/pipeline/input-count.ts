/**
 * Our own count of a call's input tokens. Most calls never need it, because their provider reports usage. With thousands of
 * streams open for minutes, the data for counting must be released as soon as no count can be needed.
 */

import type { InputWeight } from '../conversation/input-weight.ts'
import type { ReplyStream } from '../conversation/reply-stream.ts'
import { withoutImplausible } from '../conversation/usage.ts'
import type { ModelEntry, WireName } from '../generated/types.ts'
import { tokensOf, weigh } from './count-tokens.ts'
import type { ChatBody } from './receive.ts'

/** Longer texts are counted immediately, so that they can be released; shorter ones are kept until the count is needed. */
const KEPT_CHARACTERS_MAX = 256 * 1024

type CountedBody = Pick<ChatBody, 'json'> & Partial<Pick<ChatBody, 'unread'>>

export interface InputCountOptions {
  readonly body: CountedBody
  readonly format: WireName
  readonly entry: ModelEntry
  /** What `tokens` returns once the body has been dropped. By then, the provider has reported the count to bill. */
  readonly inputTokensEstimate: number
  /** Larger reported counts are ignored. */
  readonly reportedTokensMax: number
}

export class InputCount {
  readonly #format: WireName
  readonly #entry: ModelEntry
  readonly #inputTokensEstimate: number
  readonly #reportedTokensMax: number
  #body: CountedBody | null
  #weight: InputWeight | null = null
  #tokens: number | null = null

  constructor({ body, format, entry, inputTokensEstimate, reportedTokensMax }: InputCountOptions) {
    this.#body = body
    this.#format = format
    this.#entry = entry
    this.#inputTokensEstimate = inputTokensEstimate
    this.#reportedTokensMax = reportedTokensMax
  }

  /** Counts on first use and caches the result. */
  readonly tokens = (): number => {
    if (this.#tokens !== null) return this.#tokens
    if (this.#body !== null) this.#weight = weigh(this.#body.json, this.#format)
    this.#body = null
    this.#tokens = this.#weight === null ? this.#inputTokensEstimate : tokensOf(this.#weight, this.#entry)
    this.#weight = null
    return this.#tokens
  }

  /**
   * Releases the body. If a count may still be needed, keeps the unparsed text if the body was never parsed, and otherwise the
   * texts to count; if those are long, counts them immediately.
   */
  letGo({ usage }: Pick<ReplyStream, 'usage'>): void {
    const body = this.#body
    this.#body = null
    const isReported = withoutImplausible(usage, this.#reportedTokensMax).usage.inputTokens > 0
    if (body === null || this.#tokens !== null || isReported) return
    if (body.unread?.built === false) {
      this.#body = body.unread
      return
    }
    this.#weight = weigh(body.json, this.#format)
    const characters = this.#weight.texts.reduce((sum, text) => sum + text.length, 0)
    if (characters > KEPT_CHARACTERS_MAX) this.tokens()
  }
}
