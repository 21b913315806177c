/** What the pipeline and the command line know of the ledger: plain data in, plain data out. */

import type { EndpointCode } from '../catalogue/endpoints.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import type { MicroVnd } from '../lib/money.ts'

export interface HoldRequest {
  /** HMAC hash of the API key: the hold statement verifies the key again, so a revocation holds at the next call. */
  readonly keyHash: Uint8Array
  /** UUIDv7 of the call, made by the gateway before anything is sent. */
  readonly callId: string
  /** Least money to set aside; above 0. */
  readonly wantMicroVnd: MicroVnd
  /** Most money to set aside, while it is no more than a sixteenth of the balance; absent: the least. */
  readonly wantMaxMicroVnd?: MicroVnd
  /** Entry that will serve. */
  readonly entryId: string
  /** Name that the client sent, when it was mapped; else null. */
  readonly requestedName: string | null
  readonly endpoint: EndpointCode
  /** VND per 1M tokens, per request or per image: what the settlement must say too. */
  readonly priceVnd: number
  readonly pricePer: PricePer
}

/** In the tables `hold` and `usage`; never reused. */
export const PRICE_PER_CODES = { mtok: 1, request: 2, image: 3 } as const
export type PricePer = keyof typeof PRICE_PER_CODES

export type HoldAnswer =
  | {
      readonly outcome: 'admitted'
      readonly accountId: number
      readonly keyId: number
      readonly heldMicroVnd: MicroVnd
      /** Balance less the holds of other calls at that moment: what this call may cost in all. Its own hold where that was there already. */
      readonly freeMicroVnd: MicroVnd
    }
  /** The key is unknown or revoked. */
  | { readonly outcome: 'refused_key' }
  /** The balance is 0 and nothing is held. */
  | { readonly outcome: 'empty' }
  /** The key has spent its cap of this month. */
  | { readonly outcome: 'capped' }
  /** Money remains but other open holds kept it for the whole waiting time. */
  | { readonly outcome: 'waited' }

export interface Settlement {
  readonly callId: string
  readonly accountId: number
  readonly keyId: number
  readonly entryId: string
  readonly requestedName: string | null
  readonly endpoint: EndpointCode
  /** What the call costs; 0 releases the hold uncharged and still writes the usage row. */
  readonly costMicroVnd: MicroVnd
  readonly inputTokens: number
  readonly outputTokens: number
  /** Part of the input tokens that came from the provider's cache. */
  readonly cachedInputTokens: number
  /** Part of the input tokens that went into the provider's cache; absent: unknown. */
  readonly cacheWriteTokens?: number
  /** Part of the output tokens that was reasoning. */
  readonly reasoningTokens: number
  /** Images returned; 0 on other endpoints. */
  readonly images: number
  /** VND per 1M tokens, per request or per image. */
  readonly priceVnd: number
  readonly pricePer: PricePer
  /** Part of the cost that uses of a provider's tools make, in whole VND; absent: none. */
  readonly extrasVnd?: number
  /** What the call cost the operator; no part of any charge. Null and absent: unknown. */
  readonly upstreamCostMicroVnd?: MicroVnd | null
  /**
   * By the clock of this process. The row takes the time of the hold, or where there is none now less the latency; this one
   * only tells a charge without a hold that is too late.
   */
  readonly openedAt: Date
  /** To the first byte sent to the client; null when none was. */
  readonly firstByteMs: number | null
  readonly latencyMs: number
  readonly status: number
  readonly streamed: boolean
  /** The tokens were counted here, not reported by the provider. */
  readonly estimated: boolean
  /** In order; absent: unknown. */
  readonly attempts?: readonly SettledAttempt[]
  /** What went wrong, as a code of errors.ts; null and absent: nothing, or the client went away. */
  readonly errorCode?: string | null
  /** The id that the client gave the request itself; null and absent: it has the one that is made of the call's. */
  readonly requestId?: string | null
  /** Catalogue that admitted the call, as `catalogue-id.ts` numbers them; the ledger fills it in with its own process's. */
  readonly catalogueId?: number | null
}

/** One try of a call at one upstream, as the usage row keeps it. Times are in ms since the call began. */
export interface SettledAttempt {
  /** Upstream and number of its credential: `anthropic#1`. */
  readonly credential: string
  /** The upstream's name of the model. */
  readonly model: string
  readonly startedMs: number
  readonly endedMs: number
  /** `ok`, `client_gone`, or the code of what went wrong. */
  readonly outcome: string
  /** HTTP status of a reply that was an error; absent: none, or no reply. */
  readonly status?: number
}

export interface SettleAnswer {
  /** `settled`: durable in Postgres. `spooled`: not yet within the waiting time; the spool has it and it will be. */
  readonly outcome: 'settled' | 'spooled'
  readonly chargedMicroVnd: MicroVnd | null
  readonly balanceAfterMicroVnd: MicroVnd | null
}

export interface AdmissionOptions {
  /** Aborted when the client goes away while it waits. */
  readonly signal: Cancellation
}

export interface ExtendRequest {
  readonly callId: string
  readonly accountId: number
  /** What the hold is to grow to; a hold that is larger stays as it is. */
  readonly wantMicroVnd: MicroVnd
}

export interface ExtendAnswer {
  /** What is set aside for the call now: as wanted, less where the wallet has not so much, never less than before. */
  readonly heldMicroVnd: MicroVnd
}

/** Thrown (as GatewayError `ledger_unavailable`) when Postgres does not answer; never an authentication error. */
export interface Ledger {
  /** Places a hold; waits for money held by other calls as configured. The same callId never holds twice. */
  admit(request: HoldRequest, options: AdmissionOptions): Promise<HoldAnswer>
  /**
   * Grows the hold of a call that costs more than it. Asks until Postgres answers; null when the signal was aborted before.
   * At most one at a time for a call.
   */
  extend(request: ExtendRequest, options: AdmissionOptions): Promise<ExtendAnswer | null>
  /** Charges least(cost, balance) once per callId and writes the usage row. Never rejects for a database fault: the spool keeps it. */
  settle(settlement: Settlement): Promise<SettleAnswer>
  /** Resolves when every settlement that was taken is durable or spooled; then closes the connections. */
  close(): Promise<void>
}
