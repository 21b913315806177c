/** Whether a place that calls can go to is well. After faults it is left aside for a while, then tried by one call at a time. */

export interface HealthPolicy {
  /** Faults in a row that put the place aside. */
  readonly failures: number
  /** First time aside; it doubles with each trial that fails. */
  readonly baseMs: number
  /** Longest time aside; 0: it is never put aside. */
  readonly maxMs: number
}

/** well: takes calls. aside: left alone until its time is over. on_trial: the time is over; one call finds out. */
export type HealthState = 'well' | 'aside' | 'on_trial'

/** What a call did to learn: the trial of a place that was not well, or nothing more than a call. */
export type Visit = 'call' | 'trial'

export class Health {
  readonly #policy: HealthPolicy
  readonly #nowMs: () => number
  #failures = 0
  /** Times aside in a row without a success between them. */
  #rounds = 0
  #asideUntilMs = 0
  #tried = false

  constructor(policy: HealthPolicy, nowMs: () => number) {
    this.#policy = policy
    this.#nowMs = nowMs
  }

  get state(): HealthState {
    if (this.#rounds === 0) return 'well'
    return this.#nowMs() < this.#asideUntilMs ? 'aside' : 'on_trial'
  }

  /** A call may go there like anywhere: it is well, or waits for a trial. */
  get open(): boolean {
    return this.#rounds === 0 || (!this.#tried && this.#nowMs() >= this.#asideUntilMs)
  }

  /** A trial is under way. */
  get tried(): boolean {
    return this.#tried
  }

  /** Milliseconds until it may be tried; 0 when it may be now. */
  get waitMs(): number {
    return this.#rounds === 0 ? 0 : Math.max(0, this.#asideUntilMs - this.#nowMs())
  }

  /** A call goes there; it must end in `succeed`, `recover`, `fail`, `putAside` or `leave`. */
  enter(): Visit {
    if (this.#rounds === 0 || this.#tried) return 'call'
    this.#tried = true
    return 'trial'
  }

  succeed(): void {
    this.#failures = 0
    this.recover()
  }

  /** It answers again, but the answer may still break off: faults in a row go on being counted. */
  recover(): void {
    this.#rounds = 0
    this.#tried = false
  }

  /** The place failed. A call that was under way when it was put aside says nothing new. */
  fail(visit: Visit): void {
    if (visit === 'trial') this.putAside(visit)
    else if (this.#rounds === 0 && ++this.#failures >= this.#policy.failures) this.putAside(visit)
  }

  /** Puts the place aside at once, for `forMs` when given, at most the policy's `maxMs`. */
  putAside(visit: Visit, forMs?: number): void {
    const { baseMs, maxMs } = this.#policy
    if (visit === 'trial') this.#tried = false
    else if (this.#rounds > 0) return
    if (maxMs === 0) return
    const ms = Math.min(forMs ?? baseMs * 2 ** Math.min(this.#rounds, 20), maxMs)
    this.#failures = 0
    this.#rounds++
    this.#asideUntilMs = this.#nowMs() + ms
  }

  /** The call ended without saying anything of the place. */
  leave(visit: Visit): void {
    if (visit === 'trial') this.#tried = false
  }
}
