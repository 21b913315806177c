/** Whether calls are taken, and the calls in flight that a stop waits for. */

import { GatewayError } from '../errors.ts'

export interface ReadinessOptions {
  /** Resolves true when the database answers. */
  readonly databaseAnswers: () => Promise<boolean>
  /** While it is on, new calls are refused. */
  readonly maintenance: () => { readonly enabled: boolean; readonly retryAfterSeconds: number }
}

export class Readiness {
  readonly #options: ReadinessOptions
  readonly #running = new Set<Promise<unknown>>()
  #draining = false
  #stopWaiting = () => {}

  constructor(options: ReadinessOptions) {
    this.#options = options
  }

  draining(): boolean {
    return this.#draining
  }

  /** Throws GatewayError `draining` or `maintenance` while no calls are taken. */
  refuseWhenClosed(): void {
    if (this.#draining) throw new GatewayError('draining', { retryAfterSeconds: 1 })
    const { enabled, retryAfterSeconds } = this.#options.maintenance()
    if (enabled) throw new GatewayError('maintenance', { retryAfterSeconds })
  }

  get callsInFlight(): number {
    return this.#running.size
  }

  /** A gateway under maintenance is ready: it answers, and says what to say. */
  async state(): Promise<{ ready: boolean; database: boolean; draining: boolean; maintenance: boolean }> {
    const database = await this.#options.databaseAnswers()
    const maintenance = this.#options.maintenance().enabled
    return { ready: database && !this.#draining, database, draining: this.#draining, maintenance }
  }

  track(work: Promise<unknown>): Promise<void> {
    this.#running.add(work)
    return work.then(
      () => void this.#running.delete(work),
      () => void this.#running.delete(work),
    )
  }

  /** Takes no more calls; resolves when those in flight have ended, after `graceMs`, or when `hurry` is called. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true
    const grace = new Promise<void>(resolve => {
      this.#stopWaiting = resolve
      setTimeout(resolve, graceMs).unref()
    })
    await Promise.race([grace, this.idle()])
  }

  /** Ends the wait of `drain`. */
  hurry(): void {
    this.#stopWaiting()
  }

  /** Resolves when no call is in flight. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled([...this.#running])
  }
}
