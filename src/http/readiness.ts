/** Whether calls are taken, and the calls in flight that a stop waits for. */

export interface ReadinessOptions {
  /** Resolves true when the database answers. */
  readonly databaseAnswers: () => Promise<boolean>
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

  get callsInFlight(): number {
    return this.#running.size
  }

  async state(): Promise<{ ready: boolean; database: boolean; draining: boolean }> {
    const database = await this.#options.databaseAnswers()
    return { ready: database && !this.#draining, database, draining: this.#draining }
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
