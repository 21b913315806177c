/** What a request acquires on its way in and returns once: the permit for its body, and its key's slot. */

import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { hostOf } from '../accounts/network.ts'
import { type BodyPermit, type BodyPermitLimits, BodyPermits, type Holder } from './body-permits.ts'
import { type BodyBounds, readBody } from './read-body.ts'

export class CallPass {
  #permit: BodyPermit | null = null
  #leave: (() => void) | null = null
  #released = false
  /** The call is running: the pass is released when it ends, whatever happens to the connection. */
  running = false

  /** Reads the body under a permit. Rejects as `readBody`. */
  read(request: IncomingMessage, { permits, holder, bounds }: BodyReading): Promise<Buffer> {
    this.#permit = permits.open(holder)
    if (this.#released) this.#permit.release()
    return readBody(request, bounds, this.#permit)
  }

  /** Counts the call as in flight for its key; `leave` undoes that, at once if the pass was released meanwhile. */
  entered(leave: () => void): void {
    if (this.#released) leave()
    else this.#leave = leave
  }

  /** The body has left memory while the call goes on. May be called again. */
  bodyDone(): void {
    this.#permit?.release()
  }

  /** Final: whatever is acquired later is returned at once. May be called again. */
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

export interface BodyLimits extends BodyPermitLimits {
  /** How many times its compressed size a body may have once decoded. */
  readonly bodyRatioMax: number
  /** Longest silence of a client whose body is being read, in ms. */
  readonly bodyIdleMs: number
  /** Decoded bytes of all notifications and forms in flight. */
  readonly strangersBodiesBytesMax: number
}

/** Keys with an empty wallet, which may still count tokens, share one key's bytes. */
const WITHOUT_MONEY = 'without money'
/** One host's share of the bytes for notifications and forms, whose senders are only known later. */
const SHARE_OF_HOST = 1 / 8

/** Reads the bodies of one server's requests, each under a permit. */
export class Bodies {
  readonly permits: BodyPermits
  readonly #strangers: BodyPermits
  readonly #bounds: Omit<BodyBounds, 'bytesMax'>

  constructor(limits: BodyLimits) {
    const { strangersBodiesBytesMax } = limits
    this.permits = new BodyPermits(limits)
    this.#strangers = new BodyPermits({
      ...limits,
      bodiesBytesMax: strangersBodiesBytesMax,
      keyBodiesBytesMax: strangersBodiesBytesMax * SHARE_OF_HOST,
    })
    this.#bounds = { ratioMax: limits.bodyRatioMax, idleMs: limits.bodyIdleMs }
  }

  /** The budget of requests with a key and that of all others. */
  byKind() {
    return [
      { kind: 'keys', permits: this.permits },
      { kind: 'strangers', permits: this.#strangers },
    ] as const
  }

  /** Reads a body under the common limits. Rejects as `readBody`. */
  read({ raw, state, ip }: FastifyRequest, bytesMax: number): Promise<Buffer> {
    const { caller, pass } = state
    const bounds = { ...this.#bounds, bytesMax }
    if (caller === null) return pass.read(raw, { permits: this.#strangers, holder: hostOf(ip), bounds })
    const holder = caller.walletEmpty ? WITHOUT_MONEY : caller.keyId
    return pass.read(raw, { permits: this.permits, holder, bounds })
  }
}
