/** The ledger's interface to the pipeline and the command line: plain data in, plain data out. */

import type { EndpointCode } from '../catalogue/endpoints.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import type { MicroVnd } from '../lib/money.ts'
import type { Period } from '../lib/period.ts'

export interface HoldRequest {
  /**
   * HMAC hash of the API key. The hold statement verifies the key again, so a revocation takes effect at the next call.
   */
  readonly keyHash: Uint8Array
  /** UUIDv7 of the call, created before anything is sent. */
  readonly callId: string
  /** Smallest hold; above 0. */
  readonly wantMicroVnd: MicroVnd
  /** Largest hold, up to a sixteenth of the balance; absent: the smallest. */
  readonly wantMaxMicroVnd?: MicroVnd
  /** Entry that will serve the call. */
  readonly entryId: string
  /** The name that the client sent, if it was mapped; else null. */
  readonly requestedName: string | null
  readonly endpoint: EndpointCode
  /** VND per 1M tokens, per request or per image; the settlement must name the same. */
  readonly priceVnd: number
  readonly pricePer: PricePer
  /** Family of the entry, which a key may be bound to. */
  readonly family: string
}

/** Numbers in the tables `hold` and `usage`; never reused. */
export const PRICE_PER_CODES = { mtok: 1, request: 2, image: 3 } as const
export type PricePer = keyof typeof PRICE_PER_CODES

export type HoldAnswer =
  | {
      readonly outcome: 'admitted'
      readonly accountId: number
      readonly keyId: number
      readonly heldMicroVnd: MicroVnd
      /**
       * Balance less the holds of other calls at that moment: the most that this call may cost. If the call already had a
       * hold, the amount of that hold.
       */
      readonly freeMicroVnd: MicroVnd
    }
  | { readonly outcome: 'refused_key'; readonly state: RefusedKeyState }
  /** The key may not call this model. */
  | { readonly outcome: 'refused_model' }
  /** The balance is 0 and nothing is held. */
  | { readonly outcome: 'empty' }
  /** The key has spent its limit, or its calls in flight hold the rest of it. */
  | ({ readonly outcome: 'capped' } & KeyLimit)
  /** Money remained, but other holds kept it for the whole wait. */
  | { readonly outcome: 'waited' }

/** States in which a key gives no access; `unknown`: no key has this secret. */
export const REFUSED_KEY_STATES = ['unknown', 'revoked', 'blocked', 'disabled', 'expired'] as const
export type RefusedKeyState = (typeof REFUSED_KEY_STATES)[number]

export interface KeyLimit {
  readonly limitMicroVnd: MicroVnd
  /** What the key's calls were charged in this period. */
  readonly spentMicroVnd: MicroVnd
  /** Set aside for the key's calls in flight. */
  readonly heldMicroVnd: MicroVnd
  /** Null: the limit never starts anew. */
  readonly reset: Period | null
}

export interface Settlement {
  readonly callId: string
  readonly accountId: number
  readonly keyId: number
  readonly entryId: string
  readonly requestedName: string | null
  readonly endpoint: EndpointCode
  /** The call's cost; 0 releases the hold uncharged and still writes the usage row. */
  readonly costMicroVnd: MicroVnd
  readonly inputTokens: number
  readonly outputTokens: number
  /** Input tokens read from the provider's cache. */
  readonly cachedInputTokens: number
  /** Input tokens written to the provider's cache; absent: unknown. */
  readonly cacheWriteTokens?: number
  /** Output tokens spent on reasoning. */
  readonly reasoningTokens: number
  /** Images returned; 0 on other endpoints. */
  readonly images: number
  /** VND per 1M tokens, per request or per image. */
  readonly priceVnd: number
  readonly pricePer: PricePer
  /** Part of the cost that comes from priced tool uses, in whole VND; absent: none. */
  readonly extrasVnd?: number
  /** What the call cost the operator; never part of a charge. Null or absent: unknown. */
  readonly upstreamCostMicroVnd?: MicroVnd | null
  /**
   * When the call began, by this process's clock. The row takes its time from the hold or, without one, from the latency;
   * `openedAt` is only used to refuse a late charge without a hold.
   */
  readonly openedAt: Date
  /** Time until the first byte was sent to the client; null when none was. */
  readonly firstByteMs: number | null
  readonly latencyMs: number
  readonly status: number
  readonly streamed: boolean
  /** The tokens were counted here rather than reported by the provider. */
  readonly estimated: boolean
  /** The attempts in order; absent: unknown. */
  readonly attempts?: readonly SettledAttempt[]
  /** What went wrong, as a code of errors.ts; null or absent: nothing, or the client went away. */
  readonly errorCode?: string | null
  /** The id that the client gave the request itself; null or absent: none, so its id is made from the call's. */
  readonly requestId?: string | null
  /** The client's own label of the call; null or absent: none. */
  readonly tag?: string | null
  /** Number, from `catalogue-id.ts`, of the catalogue that admitted the call; the ledger fills in that of its own process. */
  readonly catalogueId?: number | null
}

/** One try of a call at one upstream, as the usage row keeps it. Times are in ms since the call began. */
export interface SettledAttempt {
  /** The upstream and the number of its credential, such as `anthropic#1`. */
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
  /** `settled`: durable in Postgres. `spooled`: not durable within the wait, but safe in the spool. */
  readonly outcome: 'settled' | 'spooled'
  readonly chargedMicroVnd: MicroVnd | null
  readonly balanceAfterMicroVnd: MicroVnd | null
}

export interface AdmissionOptions {
  /** Aborted when the client leaves while waiting. */
  readonly signal: Cancellation
}

export interface ExtendRequest {
  readonly callId: string
  readonly accountId: number
  /** The hold's new total; a larger hold stays as it is. */
  readonly wantMicroVnd: MicroVnd
}

export interface ExtendAnswer {
  /**
   * What is set aside for the call now: the requested total, or less if the wallet lacks it, never less than before.
   */
  readonly heldMicroVnd: MicroVnd
}

/** Throws GatewayError `ledger_unavailable` when Postgres does not answer, never an authentication error. */
export interface Ledger {
  /** Places a hold; waits, as configured, for money held by other calls. The same callId never holds twice. */
  admit(request: HoldRequest, options: AdmissionOptions): Promise<HoldAnswer>
  /**
   * Grows the hold of a call that costs more than it. Retries until Postgres answers; null if the signal was aborted first.
   * At most one request at a time per call.
   */
  extend(request: ExtendRequest, options: AdmissionOptions): Promise<ExtendAnswer | null>
  /**
   * Charges least(cost, balance) once per callId and writes the usage row. Never rejects because of the database: the
   * spool keeps the settlement.
   */
  settle(settlement: Settlement): Promise<SettleAnswer>
  /** Resolves when every accepted settlement is durable or spooled, then closes the connections. */
  close(): Promise<void>
}
