/**
 * Permits for the bytes of request bodies that are in memory: so many for the whole process, and fewer for one key. Who
 * asks for more than is left waits in line for a while. Bodies of unknown length grow while they are read, and could each
 * wait for bytes that the others hold: so room for one whole body is kept free of them, and given to one at a time, the
 * oldest that needs it, which then can always be read to its end.
 */

import { GatewayError } from '../errors.ts'

export interface BodyPermitLimits {
  /** Largest body after decoding, in bytes. */
  readonly bodyBytesMax: number
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

/** Bytes that are counted together: of the process, or of one holder. */
class Room {
  readonly #max: number
  /** Left free by bodies that grow, for the one that is first. */
  readonly #reserve: number
  bytes = 0
  /** The growing body that may use the reserve. */
  first: BodyPermit | null = null

  constructor(max: number, bodyBytesMax: number) {
    this.#max = max
    this.#reserve = Math.min(max, bodyBytesMax)
  }

  /** Without being first; a single body is never too large for a room that is empty. */
  fits(permit: BodyPermit, bytes: number): boolean {
    if (!permit.growing) return this.bytes === 0 || this.bytes + bytes <= this.#max
    return this.bytes - (this.first?.bytes ?? 0) + bytes <= this.#max - this.#reserve && this.bytes + bytes <= this.#max
  }

  fitsAsFirst(permit: BodyPermit, bytes: number): boolean {
    if (this.first !== null && this.first !== permit) return false
    return this.bytes === permit.bytes || this.bytes + bytes <= this.#max
  }

  isFull(bytes: number): boolean {
    return this.bytes > 0 && this.bytes + bytes > this.#max
  }
}

export class BodyPermits {
  readonly #limits: BodyPermitLimits
  readonly #all: Room
  readonly #byHolder = new Map<Holder, Room>()
  readonly #waiters: Waiter[] = []
  #opened = 0
  #refused = 0

  constructor(limits: BodyPermitLimits) {
    this.#limits = limits
    this.#all = new Room(limits.bodiesBytesMax, limits.bodyBytesMax)
  }

  /** Decoded bytes that may be in memory now. */
  get bytes(): number {
    return this.#all.bytes
  }

  get waiting(): number {
    return this.#waiters.length
  }

  /** Bodies that were refused since the start because there was no permit for them. */
  get refused(): number {
    return this.#refused
  }

  /** A permit for no bytes yet. */
  open(holder: Holder): BodyPermit {
    return new BodyPermit(this, holder, this.#opened++)
  }

  /** @internal True when the permit has so many bytes more now. */
  tryGrow(permit: BodyPermit, bytes: number): boolean {
    const all = this.#all
    const own = this.#byHolder.get(permit.holder) ?? this.#newRoom()
    const fitsAll = all.fits(permit, bytes)
    if (!fitsAll || !own.fits(permit, bytes)) {
      if (!permit.growing || !own.fitsAsFirst(permit, bytes)) return false
      if (!fitsAll && !all.fitsAsFirst(permit, bytes)) return false
      // First of its key before it is first of all: two that are first in one room each never wait for each other.
      own.first = permit
      if (!fitsAll) all.first = permit
    }
    this.#byHolder.set(permit.holder, own)
    all.bytes += bytes
    own.bytes += bytes
    permit.bytes += bytes
    return true
  }

  /** @internal Rejects with GatewayError `rate_limited` after a wait in vain, or at once when too many wait. */
  wait(permit: BodyPermit, bytes: number): Promise<void> {
    const { bodiesWaitingMax, bodyWaitMs } = this.#limits
    if (this.#waiters.length >= bodiesWaitingMax) return Promise.reject(this.#crowded())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#leave(waiter)
        reject(this.#crowded())
      }, bodyWaitMs)
      const waiter: Waiter = { permit, bytes, resolve, reject, timer }
      const behind = permit.bytes === 0 ? -1 : this.#waiters.findIndex(each => isBefore(permit, each.permit))
      this.#waiters.splice(behind < 0 ? this.#waiters.length : behind, 0, waiter)
    })
  }

  /** @internal Gives bytes back; the permit grows no more. */
  giveBack(permit: BodyPermit, bytes: number): void {
    const all = this.#all
    const own = this.#byHolder.get(permit.holder)
    if (own === undefined) return
    permit.growing = false
    permit.bytes -= bytes
    for (const room of [all, own]) {
      room.bytes -= bytes
      if (room.first === permit) room.first = null
    }
    if (own.bytes === 0) this.#byHolder.delete(permit.holder)
    this.#admit()
  }

  /** @internal The client has gone, or its body is of no use any more. */
  forget(permit: BodyPermit): void {
    for (const waiter of this.#waiters.filter(waiting => waiting.permit === permit)) {
      this.#leave(waiter)
      waiter.reject(crowded())
    }
  }

  /** In order; a key that has all its bytes in use lets others pass, a full process lets no new body in. */
  #admit(): void {
    for (const waiter of [...this.#waiters]) {
      const { permit, bytes } = waiter
      if (this.tryGrow(permit, bytes)) {
        this.#leave(waiter)
        waiter.resolve()
      } else if ((permit.bytes === 0 || this.#all.first === permit) && this.#all.isFull(bytes)) return
    }
  }

  #newRoom(): Room {
    return new Room(this.#limits.keyBodiesBytesMax, this.#limits.bodyBytesMax)
  }

  #crowded(): GatewayError {
    this.#refused++
    return crowded()
  }

  #leave(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    const index = this.#waiters.indexOf(waiter)
    if (index >= 0) this.#waiters.splice(index, 1)
  }
}

export class BodyPermit {
  readonly holder: Holder
  /** Place in the order of opening. */
  readonly number: number
  readonly #permits: BodyPermits
  /** It may ask for more while it has some. */
  growing = false
  /** @internal Changed by BodyPermits only. */
  bytes = 0
  #released = false

  constructor(permits: BodyPermits, holder: Holder, number: number) {
    this.#permits = permits
    this.holder = holder
    this.number = number
  }

  /** Grows it to `bytes`; null when that is done at once. Rejects with GatewayError `rate_limited`. */
  growTo(bytes: number): Promise<void> | null {
    if (this.#released) return Promise.reject(crowded())
    const more = bytes - this.bytes
    if (more <= 0 || this.#permits.tryGrow(this, more)) return null
    return this.#permits.wait(this, more)
  }

  /** The body is whole, and has so many bytes: what it does not need is given back. */
  settle(bytes: number): void {
    if (this.growing) this.#permits.giveBack(this, Math.max(0, this.bytes - bytes))
  }

  /** Gives all bytes back, for good; may be called again. */
  release(): void {
    this.#released = true
    this.#permits.forget(this)
    if (this.bytes > 0) this.#permits.giveBack(this, this.bytes)
  }
}

/** Bodies that are half read go before new ones, the oldest first. */
function isBefore(permit: BodyPermit, other: BodyPermit): boolean {
  return other.bytes === 0 || permit.number < other.number
}

function crowded(): GatewayError {
  return new GatewayError('rate_limited', {
    message: `Too many large requests are under way; try again in ${RETRY_AFTER_SECONDS} s.`,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
}
