/** Decides whether the gateway accepts calls, and tracks the calls in flight, for which a shutdown waits. */

import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../errors.ts'
import { TransientSet } from '../lib/transient.ts'

export interface ReadinessOptions {
  /** Resolves to true if the database responds. */
  readonly databaseAnswers: () => Promise<boolean>
  /** New calls are refused while `enabled` is true. */
  readonly maintenance: () => { readonly enabled: boolean; readonly retryAfterSeconds: number }
}

export interface RetireOptions {
  /**
   * How long the gateway reports "not ready" before it stops listening, in ms. Null if another process takes over the same port;
   * the gateway then never reports "not ready".
   */
  readonly noticeMs: number | null
  /** How long an idle connection stays open for one more call, in ms. */
  readonly idleMs: number
  /** Maximum duration of the whole shutdown, in ms. */
  readonly graceMs: number
}

export class Readiness {
  readonly #options: ReadinessOptions
  readonly #running = new TransientSet<Promise<unknown>>()
  readonly #hurried = Promise.withResolvers<void>()
  #grace: Promise<void> | null = null
  /** Whether the gateway reports "not ready" to load balancers although it still accepts calls. */
  #leaving = false
  #draining = false
  /** Stops listening; resolves when the last connection has closed. Set by the server. */
  onRetire: (idleMs: number) => Promise<void> = () => Promise.resolve()

  constructor(options: ReadinessOptions) {
    this.#options = options
  }

  draining(): boolean {
    return this.#draining
  }

  /** Throws GatewayError `draining` or `maintenance` while calls are not accepted. */
  refuseWhenClosed(): void {
    if (this.#draining) throw new GatewayError('draining', { retryAfterSeconds: 1 })
    const { enabled, retryAfterSeconds } = this.#options.maintenance()
    if (enabled) throw new GatewayError('maintenance', { retryAfterSeconds })
  }

  get callsInFlight(): number {
    return this.#running.size
  }

  /** A gateway under maintenance counts as ready: it answers calls with the maintenance message. */
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
   * Shuts down without losing a call: reports "not ready", then stops listening, then closes each open connection after its
   * next call, or once it has been idle for `idleMs`. All calls are served meanwhile. Resolves when the last connection has
   * closed, after `graceMs`, or when `hurry` is called.
   */
  async retire({ noticeMs, idleMs, graceMs }: RetireOptions): Promise<void> {
    const stop = this.#patience(graceMs)
    if (noticeMs !== null) {
      this.#leaving = true
      await Promise.race([sleep(noticeMs), stop])
    }
    await Promise.race([this.onRetire(idleMs), stop])
  }

  /** Refuses new calls. Resolves when all calls in flight have ended, after `graceMs`, or when `hurry` is called. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true
    await Promise.race([this.#patience(graceMs), this.idle()])
  }

  /** Resolves at the deadline, which `retire` and `drain` share: a `drain` after a `retire` gets only the time that is left. */
  #patience(graceMs: number): Promise<void> {
    this.#grace ??= sleep(graceMs, undefined, { ref: false })
    return Promise.race([this.#grace, this.#hurried.promise])
  }

  /** Makes `retire` and `drain` resolve without further waiting. */
  hurry(): void {
    this.#hurried.resolve()
  }

  /** Resolves when no call is in flight. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running])
  }
}
