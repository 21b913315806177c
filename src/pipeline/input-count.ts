/**
 * Input tokens of one call as counted here. Most calls never ask: their provider reports them. What a count needs is kept
 * for as long as it may be asked for, and no more: a stream can run for minutes beside thousands of others.
 */

import type { InputWeight } from '../conversation/input-weight.ts'
import type { ReplyStream } from '../conversation/reply-stream.ts'
import type { ModelEntry, WireName } from '../generated/types.ts'
import { tokensOf, weigh } from './count-tokens.ts'
import type { ChatBody } from './receive.ts'

/** Longer texts are counted before they are let go; shorter ones are kept until somebody asks. */
const KEPT_CHARACTERS_MAX = 256 * 1024

export interface InputCountOptions {
  readonly body: ChatBody
  readonly format: WireName
  readonly entry: ModelEntry
  /** Stands for the count when the body has gone because the provider had reported its own. */
  readonly inputTokensEstimate: number
}

export class InputCount {
  readonly #format: WireName
  readonly #entry: ModelEntry
  readonly #inputTokensEstimate: number
  #body: ChatBody | null
  #weight: InputWeight | null = null
  #tokens: number | null = null

  constructor({ body, format, entry, inputTokensEstimate }: InputCountOptions) {
    this.#body = body
    this.#format = format
    this.#entry = entry
    this.#inputTokensEstimate = inputTokensEstimate
  }

  /** Counts once. */
  readonly tokens = (): number => {
    if (this.#tokens !== null) return this.#tokens
    if (this.#body !== null) this.#weight = weigh(this.#body.json, this.#format)
    this.#tokens = this.#weight === null ? this.#inputTokensEstimate : tokensOf(this.#weight, this.#entry)
    this.#weight = null
    return this.#tokens
  }

  /** The body is not needed any more: what a count still needs of it is taken out, or counted where that is much. */
  letGo({ usage }: Pick<ReplyStream, 'usage'>): void {
    const body = this.#body
    this.#body = null
    if (body === null || this.#tokens !== null || usage.usage.inputTokens > 0) return
    this.#weight = weigh(body.json, this.#format)
    const characters = this.#weight.texts.reduce((sum, text) => sum + text.length, 0)
    if (characters > KEPT_CHARACTERS_MAX) this.tokens()
  }
}
