/**
 * Limits the memory for request bodies, and for long replies. Each body needs a permit for its bytes, which count against a
 * budget of the process and a smaller budget of its holder. A body that does not fit waits in line for a limited time.
 *
 * Bodies of unknown length ask for more bytes while they are read. Without precautions they could deadlock, each waiting for
 * bytes that others hold. So every budget keeps a reserve, enough for one body of the largest size, and lends it to one growing
 * body at a time: the oldest that needs it. This body can always be read to its end.
 */

import { GatewayError } from '../errors.ts'
import { TransientMap } from '../lib/transient.ts'

export interface BodyPermitLimits {
  /** Largest body after decoding, in bytes. */
  readonly bodyBytesMax: number
  /** Limit for the decoded bytes of all bodies in this process together. */
  readonly bodiesBytesMax: number
  /** Limit for the decoded bytes of one holder's bodies in this process. */
  readonly keyBodiesBytesMax: number
  readonly bodiesWaitingMax: number
  /** Longest wait for a permit, in ms. */
  readonly bodyWaitMs: number
}

/**
 * The owner of a budget. A number is the id of an API key, or for replies of an account. A string is the host of a client that
 * sent no key, or a constant: all keys with an empty wallet share one budget.
 */
export type Holder = number | string

interface Waiter {
  readonly permit: BodyPermit
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: GatewayError) => void
  readonly timer: NodeJS.Timeout
}

const RETRY_AFTER_SECONDS = 2

/** The byte budget of the process or of one holder. */
class Budget {
  readonly #max: number
  /** Bytes that no growing body but `borrower` may use. */
  readonly #reserve: number
  bytes = 0
  /** The growing body that the reserve is lent to. */
  borrower: BodyPermit | null = null

  constructor(max: number, bodyBytesMax: number) {
    this.#max = max
    this.#reserve = Math.min(max, bodyBytesMax)
  }

  /**
   * Whether these bytes fit without lending the reserve, regardless of who is waiting. A body of known length always fits into
   * an empty budget.
   */
  fits(permit: BodyPermit, bytes: number): boolean {
    if (!permit.growing) return this.bytes === 0 || this.bytes + bytes <= this.#max
    return (
      this.bytes - (this.borrower?.bytes ?? 0) + bytes <= this.#max - this.#reserve && this.bytes + bytes <= this.#max
    )
  }

  fitsWithReserve(permit: BodyPermit, bytes: number): boolean {
    if (this.borrower !== null && this.borrower !== permit) return false
    return this.bytes === permit.bytes || this.bytes + bytes <= this.#max
  }

  isFull(bytes: number): boolean {
    return this.bytes > 0 && this.bytes + bytes > this.#max
  }
}

export class BodyPermits {
  readonly #limits: BodyPermitLimits
  readonly #what: string
  readonly #all: Budget
  readonly #byHolder = new TransientMap<Holder, Budget>()
  readonly #waiters: Waiter[] = []
  #opened = 0
  #refused = 0

  /** `what` is in progress, as the text of a refusal says. */
  constructor(limits: BodyPermitLimits, what = 'large requests') {
    this.#limits = limits
    this.#what = what
    this.#all = new Budget(limits.bodiesBytesMax, limits.bodyBytesMax)
  }

  /** Decoded bytes currently granted to all permits together. */
  get bytes(): number {
    return this.#all.bytes
  }

  get bytesMax(): number {
    return this.#limits.bodiesBytesMax
  }

  get waiting(): number {
    return this.#waiters.length
  }

  get waitingMax(): number {
    return this.#limits.bodiesWaitingMax
  }

  /** Bodies refused for lack of a permit since the process started. */
  get refused(): number {
    return this.#refused
  }

  /** The holders who must give back bytes for others to stop waiting; null: it does not matter who. */
  get inTheWay(): ReadonlySet<Holder | null> {
    return new Set(
      this.#waiters.map(({ permit, bytes }) => {
        const own = this.#byHolder.get(permit.holder)
        return own === undefined || own.fits(permit, bytes) || own.fitsWithReserve(permit, bytes) ? null : permit.holder
      }),
    )
  }

  /** Opens a permit that holds no bytes yet. */
  open(holder: Holder): BodyPermit {
    return new BodyPermit(this, holder, this.#opened++)
  }

  /** @internal Extends the permit by this many bytes if they are free; returns whether they were. */
  tryGrow(permit: BodyPermit, bytes: number): boolean {
    const all = this.#all
    const own = this.#byHolder.get(permit.holder) ?? this.#newBudget()
    const fitsAll = all.fits(permit, bytes)
    if (!fitsAll || !own.fits(permit, bytes)) {
      if (!permit.growing || !own.fitsWithReserve(permit, bytes)) return false
      if (!fitsAll && !all.fitsWithReserve(permit, bytes)) return false
      // Always borrow the key's reserve before the process's, so that the borrower of the process's reserve never waits for a
      // key's reserve.
      own.borrower = permit
      if (!fitsAll) all.borrower = permit
    }
    this.#byHolder.set(permit.holder, own)
    all.bytes += bytes
    own.bytes += bytes
    permit.bytes += bytes
    return true
  }

  /**
   * @internal Waits in line until the permit is extended by `bytes`. Rejects with GatewayError `rate_limited` when the wait
   * times out, or at once when too many are waiting.
   */
  wait(permit: BodyPermit, bytes: number): Promise<void> {
    const { bodiesWaitingMax, bodyWaitMs } = this.#limits
    if (this.#waiters.length >= bodiesWaitingMax) return Promise.reject(this.refusal())
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#leave(waiter)
        reject(this.refusal())
      }, bodyWaitMs)
      const waiter: Waiter = { permit, bytes, resolve, reject, timer }
      const behind = permit.bytes === 0 ? -1 : this.#waiters.findIndex(each => isBefore(permit, each.permit))
      this.#waiters.splice(behind < 0 ? this.#waiters.length : behind, 0, waiter)
    })
  }

  /** @internal Takes back bytes of a permit that will not grow any more. */
  giveBack(permit: BodyPermit, bytes: number): void {
    const all = this.#all
    const own = this.#byHolder.get(permit.holder)
    if (own === undefined) return
    permit.growing = false
    permit.bytes -= bytes
    for (const budget of [all, own]) {
      budget.bytes -= bytes
      if (budget.borrower === permit) budget.borrower = null
    }
    if (own.bytes === 0) this.#byHolder.delete(permit.holder)
    this.#admit()
  }

  /** @internal Removes a permit from the line, because its client left or its body is no longer needed. */
  forget(permit: BodyPermit): void {
    for (const waiter of this.#waiters.filter(waiting => waiting.permit === permit)) {
      this.#leave(waiter)
      waiter.reject(this.crowded())
    }
  }

  /**
   * Admits waiters in order, but passes over those whose key has used up its budget. While the process's budget is full, admits
   * no new body.
   */
  #admit(): void {
    for (const waiter of [...this.#waiters]) {
      const { permit, bytes } = waiter
      if (this.tryGrow(permit, bytes)) {
        this.#leave(waiter)
        waiter.resolve()
      } else if ((permit.bytes === 0 || this.#all.borrower === permit) && this.#all.isFull(bytes)) return
    }
  }

  #newBudget(): Budget {
    return new Budget(this.#limits.keyBodiesBytesMax, this.#limits.bodyBytesMax)
  }

  /** @internal Counts a refusal, and returns its error. */
  refusal(): GatewayError {
    this.#refused++
    return this.crowded()
  }

  /** @internal */
  crowded(): GatewayError {
    return new GatewayError('rate_limited', {
      message: `Too many ${this.#what} are in progress; try again in ${RETRY_AFTER_SECONDS} s.`,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    })
  }

  #leave(waiter: Waiter): void {
    clearTimeout(waiter.timer)
    const index = this.#waiters.indexOf(waiter)
    if (index >= 0) this.#waiters.splice(index, 1)
  }
}

export class BodyPermit {
  readonly holder: Holder
  /** Serial number, in the order in which permits are opened. */
  readonly number: number
  readonly #permits: BodyPermits
  /** Whether the body may ask for more bytes while it holds some, because its length is unknown. */
  growing = false
  /** @internal Bytes granted; only BodyPermits changes it. */
  bytes = 0
  #released = false

  constructor(permits: BodyPermits, holder: Holder, number: number) {
    this.#permits = permits
    this.holder = holder
    this.number = number
  }

  /**
   * Extends the permit to `bytes` in total. Returns null if they were granted at once, otherwise a promise that resolves when
   * they are. It rejects with GatewayError `rate_limited` if that takes too long, or if too many are waiting.
   */
  growTo(bytes: number): Promise<void> | null {
    if (this.#released) return Promise.reject(this.#permits.crowded())
    const more = bytes - this.bytes
    if (more <= 0 || this.#permits.tryGrow(this, more)) return null
    return this.#permits.wait(this, more)
  }

  /**
   * Extends the permit by bytes that the call fetches besides its body. Never waits: calls that hold bytes could wait for each
   * other. Throws GatewayError `rate_limited` if there is no room.
   */
  add(bytes: number): void {
    if (this.#released || !this.#permits.tryGrow(this, bytes)) throw this.#permits.refusal()
  }

  /** Call with the body's size when the body is complete: gives back the unused bytes. */
  settle(bytes: number): void {
    if (this.growing) this.#permits.giveBack(this, Math.max(0, this.bytes - bytes))
  }

  /** Gives back all bytes; the permit cannot grow again. Safe to call more than once. */
  release(): void {
    this.#released = true
    this.#permits.forget(this)
    if (this.bytes > 0) this.#permits.giveBack(this, this.bytes)
  }
}

/**
 * Whether a half-read body goes ahead of `other` in line. It goes ahead of bodies that have no bytes yet, and of half-read
 * bodies that began later.
 */
function isBefore(permit: BodyPermit, other: BodyPermit): boolean {
  return other.bytes === 0 || permit.number < other.number
}
