/**
 * Limits how much input each account has counted for free. Counting takes processor time for every byte, and whoever counts without
 * money costs others time for nothing.
 */

import { GatewayError } from '../errors.ts'
import type { Caller } from '../pipeline/call.ts'

/** Even the shortest request takes a look-up of its key: it counts as this many bytes. */
const REQUEST_BYTES_MIN = 64 * 1024
/** An account without money has this share of the limit. */
const SHARE_WITHOUT_MONEY = 0.25
/** Accounts to remember. The oldest are forgotten first. */
const ACCOUNTS_MAX = 10_000
const MINUTE_MS = 60_000

/** Bytes that an account may still have counted; below 0, it has to wait. They grow until they reach its limit. */
interface Rest {
  bytes: number
  atMs: number
}

export interface CountLimits {
  readonly countedBytesPerMinuteMax: number
}

export class CountBudget {
  readonly #bytesPerMinuteMax: number
  readonly #nowMs: () => number
  readonly #rests = new Map<number, Rest>()

  constructor({ countedBytesPerMinuteMax }: CountLimits, nowMs: () => number) {
    this.#bytesPerMinuteMax = countedBytesPerMinuteMax
    this.#nowMs = nowMs
  }

  /** Throws GatewayError `rate_limited` with the seconds to wait if the account has used up its limit. */
  check(caller: Caller): void {
    const { bytes } = this.#restOf(caller)
    if (bytes > 0) return
    const retryAfterSeconds = Math.floor((-bytes / this.#limitOf(caller)) * 60) + 1
    throw new GatewayError('rate_limited', {
      message: `This account has had too much input counted; try again in ${retryAfterSeconds} s.`,
      retryAfterSeconds,
    })
  }

  /** Call it with the size of a body before it is counted. Throws like `check`. */
  take(caller: Caller, bytes: number): void {
    this.check(caller)
    this.#restOf(caller).bytes -= Math.max(bytes, REQUEST_BYTES_MIN)
  }

  #limitOf({ walletEmpty }: Caller): number {
    return this.#bytesPerMinuteMax * (walletEmpty ? SHARE_WITHOUT_MONEY : 1)
  }

  #restOf(caller: Caller): Rest {
    const limit = this.#limitOf(caller)
    const nowMs = this.#nowMs()
    const rest = this.#rests.get(caller.accountId) ?? { bytes: limit, atMs: nowMs }
    rest.bytes = Math.min(limit, rest.bytes + ((nowMs - rest.atMs) / MINUTE_MS) * limit)
    rest.atMs = nowMs
    this.#rests.delete(caller.accountId)
    this.#rests.set(caller.accountId, rest)
    if (this.#rests.size > ACCOUNTS_MAX) this.#rests.delete(this.#rests.keys().next().value as number)
    return rest
  }
}
