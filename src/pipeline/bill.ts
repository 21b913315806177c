/** A call's bill. Settles the call exactly once: charges it or releases its hold without a charge, and writes the usage row. */

import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import type { ErrorCode, GatewayError } from '../errors.ts'
import type { ModelEntry, WireName } from '../generated/types.ts'
import type { SettleAnswer } from '../ledger/types.ts'
import { requestIdOf } from '../lib/ids.ts'
import { type MicroVnd, microVnd, vndToMicro, ZERO_MICRO_VND } from '../lib/money.ts'
import type { Call, EndedCall, Services } from './call.ts'
import type { CallExtras } from './extras.ts'
import { costOf, type Metered, NOTHING_USED } from './meter.ts'
import type { Resolution } from './resolve.ts'
import { settledAttempts } from './settled-attempts.ts'
import { tagOf } from './tag.ts'
import { upstreamCostOf } from './upstream-cost.ts'

export interface CallResult {
  readonly used: Metered
  readonly charged: boolean
  /** Status for the usage row: 200, the error's status, or 499 if the client left. */
  readonly status: number
  readonly code?: ErrorCode
}

/** Status of the usage row if the client left. */
export const CLIENT_GONE = 499

/** Entry id in the usage row of a call that ended before a model was chosen. */
const NO_ENTRY = ''

/** What a call has used and what it costs. `runBilled` guarantees that each call is settled exactly once. */
export class Bill {
  readonly #services: Services
  readonly #call: Call
  readonly #firstByteMs: () => number | null
  #resolution: Resolution | null = null
  #requestedName: string | null = null
  #streamed = false
  #settling: Promise<SettleAnswer> | null = null
  #cost: MicroVnd = ZERO_MICRO_VND
  /**
   * Extras that the call requests: features that providers charge for besides tokens, such as web search. Null if there are
   * none, or they are not known yet.
   */
  extras: CallExtras | null = null
  /** The wire format of the last attempt. Null before the first attempt, and on endpoints with only one wire format. */
  wire: WireName | null = null

  constructor(services: Services, call: Call, firstByteMs: () => number | null) {
    this.#services = services
    this.#call = call
    this.#firstByteMs = firstByteMs
  }

  get settled(): boolean {
    return this.#settling !== null
  }

  get costMicroVnd(): MicroVnd {
    return this.#cost
  }

  requested(name: string, streamed: boolean): void {
    this.#requestedName = name
    this.#streamed = streamed
  }

  resolved(resolution: Resolution): void {
    this.#resolution = resolution
  }

  /**
   * Settles the call. If it is already being settled, returns that settlement's promise instead. Resolves when the settlement
   * is durable or spooled. Rejects with AssertionError if a figure is out of range.
   */
  settle(result: CallResult): Promise<SettleAnswer> {
    this.#settling ??= this.#settleOnce(result)
    return this.#settling
  }

  /** Settles without a charge after `settle` has failed, so that no hold is left behind. */
  abandon(): Promise<SettleAnswer> {
    this.#settling = this.#settleOnce({ used: NOTHING_USED, charged: false, status: 500, code: 'internal' })
    return this.#settling
  }

  /** Settles without a charge. */
  release(status: number, code: ErrorCode): Promise<SettleAnswer> {
    return this.settle({ used: NOTHING_USED, charged: false, status, code })
  }

  async #settleOnce(result: CallResult): Promise<SettleAnswer> {
    const entry = this.#resolution?.entry
    const mappedFrom = this.#resolution ? this.#resolution.mappedFrom : this.#requestedName
    const extrasVnd = entry && result.charged ? (this.extras?.usedVnd ?? 0) : 0
    this.#cost = entry && result.charged ? costWith(entry, result.used, extrasVnd) : ZERO_MICRO_VND
    const upstreamCostMicroVnd = upstreamCostOf(this.#services, this.#call, result)
    const atMs = this.#services.nowMs()
    const latencyMs = Math.round(atMs - this.#call.startedMs)
    // A non-streamed reply is sent right after settling, so its first and last byte are sent at the same time.
    const firstByteMs = this.#firstByteMs() ?? (result.charged && !this.#streamed ? latencyMs : null)
    const traceId = this.#services.tracer.traceIdOf(this.#call)
    this.#services.log.info(
      {
        requestId: this.#call.requestId,
        callId: this.#call.id,
        ...(traceId === null ? {} : { traceId }),
        endpoint: this.#call.endpoint,
        entry: entry?.id ?? null,
        ...(this.wire === null ? {} : { wire: this.wire }),
        upstream: this.#call.attempts.at(-1)?.upstream.facts.id ?? null,
        status: result.status,
        code: result.code ?? null,
        inputTokens: result.used.inputTokens,
        outputTokens: result.used.outputTokens,
        costMicroVnd: this.#cost.toString(),
        firstByteMs,
        latencyMs,
        streamed: this.#streamed,
      },
      'call',
    )
    const ended: EndedCall = {
      call: this.#call,
      entry: entry ?? null,
      status: result.status,
      code: result.code ?? null,
      used: result.used,
      costMicroVnd: this.#cost,
      upstreamCostMicroVnd,
      firstByteMs,
      latencyMs,
      streamed: this.#streamed,
    }
    this.#services.observer.ended(ended)
    this.#services.tracer.ended(ended)
    return this.#services.ledger.settle({
      callId: this.#call.id,
      accountId: this.#call.caller.accountId,
      keyId: this.#call.caller.keyId,
      entryId: entry?.id ?? NO_ENTRY,
      requestedName: mappedFrom,
      endpoint: ENDPOINT_FACTS[this.#call.endpoint].code,
      costMicroVnd: this.#cost,
      inputTokens: result.used.inputTokens,
      outputTokens: result.used.outputTokens,
      cachedInputTokens: result.used.cachedInputTokens,
      cacheWriteTokens: result.used.cacheWriteTokens,
      reasoningTokens: result.used.reasoningTokens,
      images: result.used.images,
      priceVnd: entry?.price.vnd ?? 0,
      pricePer: entry?.price.per ?? 'mtok',
      extrasVnd,
      upstreamCostMicroVnd,
      openedAt: this.#call.openedAt,
      firstByteMs,
      latencyMs,
      status: result.status,
      streamed: this.#streamed,
      estimated: result.used.estimated,
      ...this.#details(result, atMs),
    })
  }

  /** The fields of the usage row that help to find and explain a call. */
  #details(result: CallResult, atMs: number) {
    const { id, requestId } = this.#call
    const { status } = result
    const code = result.code ?? null
    const isClientGone = status === CLIENT_GONE
    return {
      attempts: settledAttempts(this.#call, { atMs, isClientGone, code }),
      errorCode: isClientGone ? null : code,
      requestId: requestId === requestIdOf(id) ? null : requestId,
      tag: tagOf(this.#services, this.#call),
    }
  }
}

/** The price of what was used, including extras. */
function costWith(entry: ModelEntry, used: Metered, extrasVnd: number): MicroVnd {
  return microVnd(costOf(entry, used) + vndToMicro(extrasVnd))
}

/** Writes the usage row of an authenticated call whose body could not be read. */
export function recordUnread(services: Services, call: Call, fault: GatewayError): Promise<SettleAnswer> {
  return new Bill(services, call, () => null).release(fault.status, fault.code)
}
