/**
 * What a request acquires on its way in and gives back exactly once: the permit for its body, and a slot in its key's limit of
 * calls in flight.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { hostOf } from '../accounts/network.ts'
import { type BodyPermit, type BodyPermitLimits, BodyPermits, type Holder } from './body-permits.ts'
import { type BodyBounds, readBody } from './read-body.ts'
import { type ReplyPermit, type ReplyPermitLimits, ReplyPermits } from './reply-permits.ts'

export class CallPass {
  #permit: BodyPermit | null = null
  #replyPermit: ReplyPermit | null = null
  #leave: (() => void) | null = null
  #released = false
  /** True while the call runs. The pass is then released when the call ends, whatever happens to the connection. */
  running = false

  /** Reads the body under a permit. Rejects like `readBody`. */
  read(request: IncomingMessage, { permits, holder, bounds }: BodyReading): Promise<Buffer> {
    this.#permit = permits.open(holder)
    if (this.#released) this.#permit.release()
    return readBody(request, bounds, this.#permit)
  }

  /**
   * Records that the call counts as in flight for its key. `leave` undoes that; it is called at once if the pass has been
   * released in the meantime.
   */
  entered(leave: () => void): void {
    if (this.#released) leave()
    else this.#leave = leave
  }

  /** Reserves memory for bytes that the call fetches besides its body. Throws GatewayError `rate_limited` if there is none left. */
  reserve(bytes: number): void {
    this.#permit?.add(bytes)
  }

  /** The permit for the bytes of a long reply. */
  replyPermit(permits: ReplyPermits, accountId: number): ReplyPermit {
    this.#replyPermit ??= permits.open(accountId)
    return this.#replyPermit
  }

  /** Call when the call has ended. Its reply keeps its permit until the client has it, or has left. */
  replied(response: ServerResponse): void {
    this.release()
    this.#replyPermit?.replied(response)
  }

  /** Releases the body's permit: the call continues without its body in memory. Safe to call more than once. */
  bodyDone(): void {
    this.#permit?.release()
  }

  /** Gives back everything acquired so far; anything acquired later is given back at once. Safe to call more than once. */
  release(): void {
    this.#released = true
    this.#permit?.release()
    this.#leave?.()
    this.#leave = null
  }
}

interface BodyReading {
  readonly permits: BodyPermits
  readonly holder: Holder
  readonly bounds: BodyBounds
}

export interface BodyLimits extends BodyPermitLimits, ReplyPermitLimits {
  /** How many times larger than its compressed form a decoded body may be. */
  readonly bodyRatioMax: number
  /** Idle timeout while reading a request body, in ms. */
  readonly bodyIdleMs: number
  /** Memory limit for all bodies that arrive without an API key (bank notifications and forms), in bytes after decoding. */
  readonly strangersBodiesBytesMax: number
}

/**
 * The holder under which all keys with an empty wallet share a byte budget. Such keys may still count tokens, but together they
 * get no more bytes than a single key.
 */
const EMPTY_WALLETS = 'empty wallets'
/**
 * The share of `strangersBodiesBytesMax` that one host may use. The limit is per host, because the sender is not known before
 * the body has been read.
 */
const SHARE_OF_HOST = 1 / 8

/** Reads the bodies of a server's requests, each under a permit. */
export class Bodies {
  readonly permits: BodyPermits
  readonly replies: ReplyPermits
  readonly #strangers: BodyPermits
  readonly #bounds: Omit<BodyBounds, 'bytesMax'>

  constructor(limits: BodyLimits) {
    const { strangersBodiesBytesMax } = limits
    this.permits = new BodyPermits(limits)
    this.replies = new ReplyPermits(limits)
    this.#strangers = new BodyPermits({
      ...limits,
      bodiesBytesMax: strangersBodiesBytesMax,
      keyBodiesBytesMax: strangersBodiesBytesMax * SHARE_OF_HOST,
    })
    this.#bounds = { ratioMax: limits.bodyRatioMax, idleMs: limits.bodyIdleMs }
  }

  /** The permits for requests with an API key, for all other requests, and for long replies. */
  byKind() {
    return [
      { kind: 'keys', permits: this.permits },
      { kind: 'strangers', permits: this.#strangers },
      { kind: 'replies', permits: this.replies.permits },
    ] as const
  }

  /** Reads the body of a request, which may have at most `bytesMax` bytes once decoded. Rejects like `readBody`. */
  read({ raw, state, ip }: FastifyRequest, bytesMax: number): Promise<Buffer> {
    const { caller, pass } = state
    const bounds = { ...this.#bounds, bytesMax }
    if (caller === null) return pass.read(raw, { permits: this.#strangers, holder: hostOf(ip), bounds })
    const holder = caller.walletEmpty ? EMPTY_WALLETS : caller.keyId
    return pass.read(raw, { permits: this.permits, holder, bounds })
  }
}
