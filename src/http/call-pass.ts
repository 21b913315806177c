/** What a request has been given on its way in, and gives back once: the permit for its body, and its key's place. */

import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { hostOf } from '../accounts/network.ts'
import { type BodyPermit, type BodyPermitLimits, BodyPermits, type Holder } from './body-permits.ts'
import { type BodyBounds, readBody } from './read-body.ts'

export class CallPass {
  #permit: BodyPermit | null = null
  #leave: (() => void) | null = null
  #released = false
  /** A call runs: it gives back when it ends, whatever becomes of the connection. */
  running = false

  /** Reads the body under a permit. Rejects as `readBody`. */
  read(request: IncomingMessage, { permits, holder, bounds }: BodyReading): Promise<Buffer> {
    this.#permit = permits.open(holder)
    if (this.#released) this.#permit.release()
    return readBody(request, bounds, this.#permit)
  }

  /** Counted among its key's calls in flight: `leave` takes it out, at once when the pass was released in the meantime. */
  entered(leave: () => void): void {
    if (this.#released) leave()
    else this.#leave = leave
  }

  /** The body has gone out of memory; the call goes on. May be called again. */
  bodyDone(): void {
    this.#permit?.release()
  }

  /** For good: what is given to it later is given back at once. May be called again. */
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
  /** How many times its own size a compressed body may become. */
  readonly bodyRatioMax: number
  /** Longest silence of a client whose body is being read, in ms. */
  readonly bodyIdleMs: number
  /** Decoded bytes of all notifications and forms in flight. */
  readonly strangersBodiesBytesMax: number
}

/** Keys with an empty wallet, which may count tokens still, share the bytes of one key. */
const WITHOUT_MONEY = 'without money'
/** Of the bytes for notifications and forms, whose senders are known later, one host has so much. */
const SHARE_OF_HOST = 1 / 8

/** Permits of one server, and the reading of any body under them. */
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

  /** What there is of each, by whose bodies are counted together. */
  byKind() {
    return [
      { kind: 'keys', permits: this.permits },
      { kind: 'strangers', permits: this.#strangers },
    ] as const
  }

  /** Reads a body under the limits that hold for all. Rejects as `readBody`. */
  read({ raw, state, ip }: FastifyRequest, bytesMax: number): Promise<Buffer> {
    const { caller, pass } = state
    const bounds = { ...this.#bounds, bytesMax }
    if (caller === null) return pass.read(raw, { permits: this.#strangers, holder: hostOf(ip), bounds })
    const holder = caller.walletEmpty ? WITHOUT_MONEY : caller.keyId
    return pass.read(raw, { permits: this.permits, holder, bounds })
  }
}
