/** Whether calls are taken, and which calls in flight a stop waits for. */

import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../errors.ts'

export interface ReadinessOptions {
  /** Resolves true when the database answers. */
  readonly databaseAnswers: () => Promise<boolean>
  /** While maintenance is on, new calls are refused. */
  readonly maintenance: () => { readonly enabled: boolean; readonly retryAfterSeconds: number }
}

export interface RetireOptions {
  /**
   * Time from "not ready" to the end of listening, in ms; null: another process takes over this very port, so readiness
   * does not change.
   */
  readonly noticeMs: number | null
  /** Time for which an idle connection may bring one more call, in ms. */
  readonly idleMs: number
  /** Longest time in total, in ms. */
  readonly graceMs: number
}

export class Readiness {
  readonly #options: ReadinessOptions
  readonly #running = new Set<Promise<unknown>>()
  readonly #hurried = Promise.withResolvers<void>()
  #grace: Promise<void> | null = null
  /** Not ready, as load balancers see it; calls are still taken. */
  #leaving = false
  #draining = false
  /** Stops listening and resolves when the last connection is gone; set by the server. */
  onRetire: (idleMs: number) => Promise<void> = () => Promise.resolve()

  constructor(options: ReadinessOptions) {
    this.#options = options
  }

  draining(): boolean {
    return this.#draining
  }

  /** Throws GatewayError `draining` or `maintenance` when calls are not taken. */
  refuseWhenClosed(): void {
    if (this.#draining) throw new GatewayError('draining', { retryAfterSeconds: 1 })
    const { enabled, retryAfterSeconds } = this.#options.maintenance()
    if (enabled) throw new GatewayError('maintenance', { retryAfterSeconds })
  }

  get callsInFlight(): number {
    return this.#running.size
  }

  /** A gateway under maintenance is ready: it answers with the maintenance message. */
  async state(): Promise<{ ready: boolean; database: boolean; draining: boolean; maintenance: boolean }> {
    const database = await this.#options.databaseAnswers()
    const maintenance = this.#options.maintenance().enabled
    const draining = this.#leaving || this.#draining
    return { ready: database && !draining, database, draining, maintenance }
  }

  track(work: Promise<unknown>): Promise<void> {
    this.#running.add(work)
    return work.then(
      () => void this.#running.delete(work),
      () => void this.#running.delete(work),
    )
  }

  /**
   * Leaves without losing a call: not ready, then no new connections, then the last call on each connection. Calls that
   * arrive until then are served. Resolves when the last connection is gone, after `graceMs`, or when `hurry` is
   * called.
   */
  async retire({ noticeMs, idleMs, graceMs }: RetireOptions): Promise<void> {
    const stop = this.#patience(graceMs)
    if (noticeMs !== null) {
      this.#leaving = true
      await Promise.race([sleep(noticeMs), stop])
    }
    await Promise.race([this.onRetire(idleMs), stop])
  }

  /** Takes no more calls. Resolves when those in flight have ended, after `graceMs`, or when `hurry` is called. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true
    await Promise.race([this.#patience(graceMs), this.idle()])
  }

  /** One deadline for both: a `drain` after a `retire` gets what is left of it. */
  #patience(graceMs: number): Promise<void> {
    this.#grace ??= sleep(graceMs, undefined, { ref: false })
    return Promise.race([this.#grace, this.#hurried.promise])
  }

  /** Cuts the waits of `retire` and `drain` short. */
  hurry(): void {
    this.#hurried.resolve()
  }

  /** Resolves when no call is in flight. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running])
  }
}
