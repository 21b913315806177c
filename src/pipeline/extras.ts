/**
 * Handles a call's extras: features that providers charge for beyond tokens, such as web search. Checks them before the hold is
 * placed, removes those left out for the target, and counts uses in the reply.
 */

import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import type { ReplyStream } from '../conversation/reply-stream.ts'
import { changeObject, changeText } from '../dialect/extras/apply.ts'
import { withoutExtras } from '../dialect/extras/betas.ts'
import { type ExtrasPlan, planExtras } from '../dialect/extras/plan.ts'
import { CountedStream } from '../dialect/extras/stream.ts'
import { UseCounter } from '../dialect/extras/uses.ts'
import type { Endpoint, Extras, ExtrasVocabulary, ModelEntry, UpstreamTarget } from '../generated/types.ts'
import { type ByteText, byteText, parseUndecoded } from '../lib/byte-text.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Member } from '../lib/json-text.ts'
import { type MicroVnd, vndToMicro, ZERO_MICRO_VND } from '../lib/money.ts'
import type { UnreadValues } from './read-outline.ts'

export interface ExtrasOptions {
  readonly vocabulary: ExtrasVocabulary
  readonly endpoint: Endpoint
  readonly entry: ModelEntry
  readonly body: JsonObject
}

/** A request body from which extras can be removed. */
interface ChangeableBody {
  readonly text: ByteText
  readonly raw: Buffer | null
  readonly json: JsonObject
  readonly outline?: JsonObject
  readonly unread?: UnreadValues | null
  readonly members: readonly Member[]
}

type LeftOut = readonly string[] | null

const NONE_SOLD = new UseCounter([])

export class CallExtras {
  readonly #vocabulary: ExtrasVocabulary
  readonly #endpoint: Endpoint
  /** Plans by a target's settings for extras and its list of tools to leave out. Targets with the same two share a plan. */
  readonly #plans = new Map<Extras, Map<LeftOut, ExtrasPlan>>()
  #counter = NONE_SOLD

  /**
   * Makes a plan for each target, because the call may go to any of them. Throws GatewayError `invalid_request` if a target
   * refuses one of the extras.
   */
  constructor({ vocabulary, endpoint, entry, body }: ExtrasOptions) {
    this.#vocabulary = vocabulary
    this.#endpoint = endpoint
    for (const target of entry.upstreams) {
      const { extras } = target
      const leftOut = this.#leftOutAt(target)
      const plans = this.#plans.get(extras) ?? new Map<LeftOut, ExtrasPlan>()
      if (!plans.has(leftOut)) plans.set(leftOut, planExtras({ body, endpoint, vocabulary, extras, leftOut }))
      this.#plans.set(extras, plans)
    }
  }

  /** Amount to hold for tool uses: their maximum cost at the most expensive target. */
  get holdMicroVnd(): MicroVnd {
    let most = 0
    for (const plans of this.#plans.values()) {
      for (const { sold } of plans.values()) {
        let sum = 0
        for (const { vnd, usesMax } of sold) sum += vnd * usesMax
        if (sum > most) most = sum
      }
    }
    return most === 0 ? ZERO_MICRO_VND : vndToMicro(most)
  }

  /** Call at the start of each attempt: resets the count of uses. Returns the names of the extras left out for this target. */
  begin(target: UpstreamTarget): readonly string[] {
    const { sold, leftOut } = this.#planFor(target)
    this.#counter = sold.length === 0 ? NONE_SOLD : new UseCounter(sold)
    return leftOut
  }

  /** Returns the body without the extras left out for this target; the same object if there are none. */
  bodyFor<Body extends ChangeableBody>(body: Body, target: UpstreamTarget): Body {
    const { changes } = this.#planFor(target)
    if (changes.length === 0) return body
    const { text, members } = changeText(body, changes)
    const json = changeObject(body.json, changes)
    return { ...body, text, members, raw: null, json, outline: json, unread: null }
  }

  /** Like `bodyFor`, for form fields. */
  fieldsFor(fields: JsonObject, target: UpstreamTarget): JsonObject {
    return changeObject(fields, this.#planFor(target).changes)
  }

  betasFor(betas: readonly string[], { extras }: UpstreamTarget): readonly string[] {
    return withoutExtras(betas, this.#vocabulary, extras)
  }

  /** Counts the uses of extras in a non-streamed reply. */
  countIn(reply: Buffer): void {
    if (this.#counter === NONE_SOLD) return
    this.#counter.see(parseUndecoded(byteText(reply)))
  }

  /** Wraps the stream so that uses of extras are counted as they pass. */
  listen(stream: ReplyStream): ReplyStream {
    return this.#counter === NONE_SOLD ? stream : new CountedStream(stream, this.#counter)
  }

  /** Cost of the counted uses, in whole VND. */
  get usedVnd(): number {
    return this.#counter.vnd
  }

  #planFor(target: UpstreamTarget): ExtrasPlan {
    return this.#plans.get(target.extras)?.get(this.#leftOutAt(target)) as ExtrasPlan
  }

  #leftOutAt({ dialect }: UpstreamTarget): LeftOut {
    return ENDPOINT_FACTS[this.#endpoint].makes === 'chat' ? dialect.tools.leftOut : null
  }
}
