/** The ledger's interface to the pipeline and the command line: plain data in, plain data out. */

import type { EndpointCode } from '../catalogue/endpoints.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import type { MicroVnd } from '../lib/money.ts'
import type { Period } from '../lib/period.ts'

/**
 * Proof that a key may make any call: it was active, without a limit, an end or a list of models, when its account's wallet had
 * this version of its keys. Every change to a key of the account changes the version.
 */
export interface KeyAccess {
  readonly accountId: number
  readonly keyId: number
  readonly keysVersion: number
}

export interface HoldRequest {
  /** HMAC hash of the API key. Placing the hold verifies the key again, so a revocation takes effect at the next call. */
  readonly keyHash: Uint8Array
  /** Lets the hold be placed without reading the key while its version lasts. Null or absent if each call needs the key. */
  readonly access?: KeyAccess | null
  /** UUIDv7 of the call, created before anything is sent upstream. */
  readonly callId: string
  /** The smallest hold that admits the call; above 0. */
  readonly holdMinMicroVnd: MicroVnd
  /** The largest hold for the call; also limited to a sixteenth of the balance. Default: `holdMinMicroVnd`. */
  readonly holdMaxMicroVnd?: MicroVnd
  /** The entry that will serve the call. */
  readonly entryId: string
  /** The model name that the client sent, if it was mapped to the entry; null if it is the entry's own name. */
  readonly requestedName: string | null
  readonly endpoint: EndpointCode
  /** The price in VND per 1M tokens, per request or per image, as `pricePer` says. The settlement must state the same price. */
  readonly priceVnd: number
  readonly pricePer: PricePer
  /** The entry's family, to which a key may be restricted. */
  readonly family: string
  /** An id in the key's list whose calls this entry answers now; null or absent if there is none, or the list has the entry. */
  readonly formerName?: string | null
}

/** Numbers stored in the tables `hold` and `usage`. Never reuse one. */
export const PRICE_PER_CODES = { mtok: 1, request: 2, image: 3 } as const
export type PricePer = keyof typeof PRICE_PER_CODES

export type HoldAnswer =
  | {
      readonly outcome: 'admitted'
      readonly accountId: number
      readonly keyId: number
      readonly heldMicroVnd: MicroVnd
      /**
       * The most that this call may cost: the balance when the hold was placed, less the holds of other calls. If the call
       * already had a hold, the amount of that hold.
       */
      readonly freeMicroVnd: MicroVnd
    }
  | { readonly outcome: 'refused_key'; readonly state: RefusedKeyState }
  | { readonly outcome: 'refused_model' }
  /** The balance is 0, and no call holds any money. */
  | { readonly outcome: 'empty' }
  /** The key has spent its limit, or its calls in flight hold what is left of it. */
  | ({ readonly outcome: 'capped' } & KeyLimit)
  /** There was money in the wallet, but other calls held it for the whole wait. */
  | { readonly outcome: 'waited' }

/** States in which a key is refused; `unknown` means that no key has this secret. */
export const REFUSED_KEY_STATES = ['unknown', 'revoked', 'blocked', 'disabled', 'expired'] as const
export type RefusedKeyState = (typeof REFUSED_KEY_STATES)[number]

export interface KeyLimit {
  readonly limitMicroVnd: MicroVnd
  /** The amount that the key's calls have been charged in the current period. */
  readonly spentMicroVnd: MicroVnd
  /** The amount set aside for the key's calls in flight. */
  readonly heldMicroVnd: MicroVnd
  /** How often the limit resets; null if never. */
  readonly reset: Period | null
}

export interface Settlement {
  readonly callId: string
  readonly accountId: number
  readonly keyId: number
  readonly entryId: string
  readonly requestedName: string | null
  readonly endpoint: EndpointCode
  /** The call's cost. If it is 0, the hold is released without a charge; the usage row is still written. */
  readonly costMicroVnd: MicroVnd
  readonly inputTokens: number
  readonly outputTokens: number
  readonly cachedInputTokens: number
  /** Input tokens written to the provider's cache; absent if unknown. */
  readonly cacheWriteTokens?: number
  readonly reasoningTokens: number
  /** Images returned; 0 on other endpoints. */
  readonly images: number
  /** The price in VND per 1M tokens, per request or per image, as `pricePer` says. */
  readonly priceVnd: number
  readonly pricePer: PricePer
  /** The part of the cost caused by priced tool uses, in whole VND. Default: 0. */
  readonly extrasVnd?: number
  /** What the call cost the operator; never part of a charge. Null or absent if unknown. */
  readonly upstreamCostMicroVnd?: MicroVnd | null
  /**
   * When the call began, by this process's clock. Used only to reject a charge that comes over 90 days late and has no hold.
   * The usage row gets its start time from the hold; without a hold, the start time is now minus the latency.
   */
  readonly openedAt: Date
  /** Time until the first byte was sent to the client, in ms; null if none was sent. */
  readonly firstByteMs: number | null
  readonly latencyMs: number
  readonly status: number
  readonly streamed: boolean
  /** True if the tokens were counted by the gateway rather than reported by the provider. */
  readonly estimated: boolean
  /** The attempts in order; absent if unknown. */
  readonly attempts?: readonly SettledAttempt[]
  /** What went wrong, as a code of errors.ts; null or absent if nothing did, or the client left. */
  readonly errorCode?: string | null
  /** The request id chosen by the client. If it is null or absent, the request's id is derived from the call's. */
  readonly requestId?: string | null
  /** The client's own label for the call; null or absent if it sent none. */
  readonly tag?: string | null
  /** Number of the catalogue that admitted the call (see `catalogue-id.ts`). The ledger fills it in. */
  readonly catalogueId?: number | null
}

/** One try of a call at one upstream, as stored in the usage row. Times are in ms since the call began. */
export interface SettledAttempt {
  /** The upstream and the number of its credential, such as `anthropic#1`. */
  readonly credential: string
  /** The upstream's name for the model. */
  readonly model: string
  readonly startedMs: number
  readonly endedMs: number
  /** `ok`, `client_gone`, or the code of what went wrong. */
  readonly outcome: string
  /** HTTP status of the upstream's error reply; absent if there was none. */
  readonly status?: number
}

export interface SettleAnswer {
  /** `settled`: durable in Postgres. `spooled`: not durable within `settleWaitMs`, but safe in the spool. */
  readonly outcome: 'settled' | 'spooled'
  readonly chargedMicroVnd: MicroVnd | null
  readonly balanceAfterMicroVnd: MicroVnd | null
}

export interface AdmissionOptions {
  /** Aborted if the client leaves while the call waits. */
  readonly signal: Cancellation
}

export interface ExtendRequest {
  readonly callId: string
  readonly accountId: number
  /** The hold's new total. A hold that is larger stays as it is. */
  readonly wantMicroVnd: MicroVnd
}

export interface ExtendAnswer {
  /** What is held for the call now: the requested total, or less if the wallet has less, but never less than before. */
  readonly heldMicroVnd: MicroVnd
}

/**
 * Sets money aside for calls and charges it. While Postgres is not responding, throws GatewayError `ledger_unavailable`, and
 * never an authentication error.
 */
export interface Ledger {
  /** Places a hold; waits for a limited time if other calls hold the money. A call id never gets a second hold. */
  admit(request: HoldRequest, options: AdmissionOptions): Promise<HoldAnswer>
  /**
   * Grows a call's hold. Retries until Postgres responds; null if the signal was aborted before that. Do not extend the same
   * call again before this has resolved.
   */
  extend(request: ExtendRequest, options: AdmissionOptions): Promise<ExtendAnswer | null>
  /**
   * Charges least(cost, balance) once per call id and writes the usage row. Never rejects because of the database: the spool
   * keeps the settlement.
   */
  settle(settlement: Settlement): Promise<SettleAnswer>
  /** Resolves once every accepted settlement is durable or spooled and the connections are closed. */
  close(): Promise<void>
}
