/**
 * The places of an upstream: how many calls it may have in flight. When all are taken, calls wait. A place that becomes free goes
 * to the account with the fewest calls in flight there, so that no account can keep the others out.
 */

import type { Cancellation } from '../lib/cancellation.ts'
import { TransientMap } from '../lib/transient.ts'

/** Most calls that wait at one upstream; one account gets at most half. */
const WAITING_MAX = 1000

interface Waiter {
  readonly accountId: number
  readonly end: (granted: boolean) => void
}

export class Places {
  readonly #max: number
  readonly #byAccount = new TransientMap<number, number>()
  readonly #waiters = new Set<Waiter>()
  /** Places that are kept for calls which waited for them and have not entered yet. */
  #kept = 0
  taken = 0

  constructor(max: number) {
    this.#max = max
  }

  get full(): boolean {
    return this.taken + this.#kept >= this.#max
  }

  /** Number of calls that wait for a place. */
  get waiting(): number {
    return this.#waiters.size
  }

  /** Takes a place, which the caller must have found free; `leave` gives it back. */
  enter(accountId: number): void {
    this.taken++
    this.#byAccount.set(accountId, this.#of(accountId) + 1)
  }

  leave(accountId: number): void {
    this.taken--
    const left = this.#of(accountId) - 1
    if (left === 0) this.#byAccount.delete(accountId)
    else this.#byAccount.set(accountId, left)
    this.#grantNext()
  }

  /**
   * Waits until a place is kept for the caller, who must call `unkeep` when it has entered, or does not want it any more. Resolves
   * with false if that takes longer than `waitMs`, if too many wait, or if the client leaves.
   */
  wait(accountId: number, { waitMs, gone }: { waitMs: number; gone: Cancellation }): Promise<boolean> {
    const ofAccount = this.#waiters.values().reduce((sum, waiter) => sum + Number(waiter.accountId === accountId), 0)
    if (waitMs === 0 || gone.aborted || this.#waiters.size >= WAITING_MAX || ofAccount >= WAITING_MAX / 2) {
      return Promise.resolve(false)
    }
    return new Promise(resolve => {
      const end = (granted: boolean) => {
        this.#waiters.delete(waiter)
        clearTimeout(timer)
        gone.removeEventListener('abort', giveUp)
        resolve(granted)
      }
      const giveUp = () => end(false)
      const waiter = { accountId, end }
      const timer = setTimeout(giveUp, waitMs)
      this.#waiters.add(waiter)
      gone.addEventListener('abort', giveUp)
    })
  }

  unkeep(): void {
    this.#kept--
    this.#grantNext()
  }

  #grantNext(): void {
    if (this.full || this.#waiters.size === 0) return
    let next: Waiter | null = null
    for (const waiter of this.#waiters) {
      if (next === null || this.#of(waiter.accountId) < this.#of(next.accountId)) next = waiter
    }
    this.#kept++
    next?.end(true)
  }

  #of(accountId: number): number {
    return this.#byAccount.get(accountId) ?? 0
  }
}
