/**
 * Permits for the bytes of request bodies that are in memory: so many for the whole process, and fewer for one key. Who
 * asks for more than is left waits in line for a while; whoever grows a body that is half read goes first.
 */

import { GatewayError } from '../errors.ts'

export interface BodyPermitLimits {
  /** Decoded bytes of all bodies in flight in this process. */
  readonly bodiesBytesMax: number
  /** Decoded bytes of one key's bodies in flight in this process. */
  readonly keyBodiesBytesMax: number
  /** Bodies that wait for their permit at the same time. */
  readonly bodiesWaitingMax: number
  /** Longest wait for a permit, in ms. */
  readonly bodyWaitMs: number
}

/** Whose bodies are counted together: those of a key, of a host without one, of all keys without money. */
export type Holder = number | string

interface Waiter {
  readonly permit: BodyPermit
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: GatewayError) => void
  readonly timer: NodeJS.Timeout
}

/** Seconds after which a client that was refused may try again. */
const RETRY_AFTER_SECONDS = 2

export class BodyPermits {
  readonly #limits: BodyPermitLimits
  readonly #byHolder = new Map<Holder, number>()
  readonly #waiters: Waiter[] = []
  #bytes = 0

  constructor(limits: BodyPermitLimits) {
    this.#limits = limits
  }

  /** Decoded bytes that may be in memory now. */
  get bytes(): number {
    return this.#bytes
  }

  get waiting(): number {
    return this.#waiters.length
  }

  /** A permit for no bytes yet. */
  open(holder: Holder): BodyPermit {
    return new BodyPermit(this, holder)
  }

  /** @internal True when the permit has so many bytes more now. */
  tryGrow(permit: BodyPermit, bytes: number): boolean {
    const own = this.#byHolder.get(permit.holder) ?? 0
    const { bodiesBytesMax, keyBodiesBytesMax } = this.#limits
    // A single body is never too large for a line that is empty.
    const fitsHolder = own === 0 || own + bytes <= keyBodiesBytesMax
    const fitsProcess = this.#bytes === 0 || this.#bytes + bytes <= bodiesBytesMax
    if (!fitsHolder || !fitsProcess) return false
    this.#bytes += bytes
    this.#byHolder.set(permit.holder, own + bytes)
    permit.bytes += bytes
    return true
  }

  /** @internal Rejects with GatewayError `rate_limited` after a wait in vain, or at once when too many wait. */
  wait(permit: BodyPermit, bytes: number): Promise<void> {
    const { bodiesWaitingMax, bodyWaitMs } = this.#limits
    if (this.#waiters.length >= bodiesWaitingMax) return Promise.reject(crowded())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#leave(waiter)
        reject(crowded())
      }, bodyWaitMs)
      const waiter: Waiter = { permit, bytes, resolve, reject, timer }
      if (permit.bytes > 0) this.#waiters.unshift(waiter)
      else this.#waiters.push(waiter)
    })
  }

  /** @internal Gives bytes back, and takes the permit's wait away. */
  giveBack(permit: BodyPermit, bytes: number): void {
    const own = (this.#byHolder.get(permit.holder) ?? 0) - bytes
    if (own > 0) this.#byHolder.set(permit.holder, own)
    else this.#byHolder.delete(permit.holder)
    this.#bytes -= bytes
    this.#admit()
  }

  /** @internal The client has gone, or its body is of no use any more. */
  forget(permit: BodyPermit): void {
    for (const waiter of this.#waiters.filter(waiting => waiting.permit === permit)) {
      this.#leave(waiter)
      waiter.reject(crowded())
    }
  }

  /** In order; a key that has all its bytes in use lets others pass, a full process lets nobody. */
  #admit(): void {
    for (const waiter of [...this.#waiters]) {
      if (this.#bytes >= this.#limits.bodiesBytesMax) return
      if (!this.tryGrow(waiter.permit, waiter.bytes)) {
        if (this.#bytes + waiter.bytes > this.#limits.bodiesBytesMax) return
        continue
      }
      this.#leave(waiter)
      waiter.resolve()
    }
  }

  #leave(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    const index = this.#waiters.indexOf(waiter)
    if (index >= 0) this.#waiters.splice(index, 1)
  }
}

export class BodyPermit {
  readonly holder: Holder
  readonly #permits: BodyPermits
  /** @internal Changed by BodyPermits only. */
  bytes = 0
  #released = false

  constructor(permits: BodyPermits, holder: Holder) {
    this.#permits = permits
    this.holder = holder
  }

  /** Grows it to `bytes`; null when that is done at once. Rejects with GatewayError `rate_limited`. */
  growTo(bytes: number): Promise<void> | null {
    if (this.#released) return Promise.reject(crowded())
    const more = bytes - this.bytes
    if (more <= 0 || this.#permits.tryGrow(this, more)) return null
    return this.#permits.wait(this, more)
  }

  /** Gives all bytes back, for good; may be called again. */
  release(): void {
    this.#released = true
    this.#permits.forget(this)
    const { bytes } = this
    this.bytes = 0
    if (bytes > 0) this.#permits.giveBack(this, bytes)
  }
}

function crowded(): GatewayError {
  return new GatewayError('rate_limited', {
    message: `Too many large requests are under way; try again in ${RETRY_AFTER_SECONDS} s.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
