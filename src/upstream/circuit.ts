/**
 * A circuit breaker for anything that calls go to: an upstream, a credential, or a model as called with a credential.
 * Closed, it lets every call pass. After faults it opens for a while, then half-opens: one call at a time probes.
 */

export interface CircuitPolicy {
  /** Consecutive failures that open the circuit. */
  readonly failures: number
  /** How long it first stays open, in ms; doubles with each failed probe. */
  readonly baseMs: number
  /** Longest time open, in ms; 0: it never opens. */
  readonly maxMs: number
}

export type CircuitState = 'closed' | 'open' | 'half_open'

/** How a call passed: as the probe of a half-open circuit, or as an ordinary call. */
export type Passage = 'call' | 'probe'

export class Circuit {
  readonly #policy: CircuitPolicy
  readonly #nowMs: () => number
  #failures = 0
  /** Times opened in a row, without a success in between. */
  #rounds = 0
  #openUntilMs = 0
  #probing = false

  constructor(policy: CircuitPolicy, nowMs: () => number) {
    this.#policy = policy
    this.#nowMs = nowMs
  }

  get state(): CircuitState {
    if (this.#rounds === 0) return 'closed'
    return this.#nowMs() < this.#openUntilMs ? 'open' : 'half_open'
  }

  /** A call may pass: the circuit is closed, or ready for a probe. */
  get admits(): boolean {
    return this.#rounds === 0 || (!this.#probing && this.#nowMs() >= this.#openUntilMs)
  }

  /** A probe is in flight. */
  get probing(): boolean {
    return this.#probing
  }

  /** Milliseconds until a probe may pass; 0: now. */
  get waitMs(): number {
    return this.#rounds === 0 ? 0 : Math.max(0, this.#openUntilMs - this.#nowMs())
  }

  /** Lets a call pass; it must end in `succeed`, `recover`, `fail`, `trip` or `leave`. */
  enter(): Passage {
    if (this.#rounds === 0 || this.#probing) return 'call'
    this.#probing = true
    return 'probe'
  }

  succeed(): void {
    this.#failures = 0
    this.recover()
  }

  /** The upstream answers again, but the reply may still break, so the count of consecutive failures is kept. */
  recover(): void {
    this.#rounds = 0
    this.#probing = false
  }

  /** The call failed. Calls already in flight when the circuit opened do not count. */
  fail(passage: Passage): void {
    if (passage === 'probe') this.trip(passage)
    else if (this.#rounds === 0 && ++this.#failures >= this.#policy.failures) this.trip(passage)
  }

  /** Opens the circuit at once, for `forMs` if given, at most `maxMs` of the policy. */
  trip(passage: Passage, forMs?: number): void {
    const { baseMs, maxMs } = this.#policy
    if (passage === 'probe') this.#probing = false
    else if (this.#rounds > 0) return
    if (maxMs === 0) return
    const ms = Math.min(forMs ?? baseMs * 2 ** Math.min(this.#rounds, 20), maxMs)
    this.#failures = 0
    this.#rounds++
    this.#openUntilMs = this.#nowMs() + ms
  }

  /** The call ended without evidence either way. */
  leave(passage: Passage): void {
    if (passage === 'probe') this.#probing = false
  }
}

/** State names in `upstream status` and on the operator's page; programs depend on them. */
export type ReportedState = 'well' | 'aside' | 'on_trial'

const REPORTED = { closed: 'well', open: 'aside', half_open: 'on_trial' } as const satisfies Record<
  CircuitState,
  ReportedState
>

/** A circuit as status reports show it. */
export function reportCircuit({ state, waitMs }: Circuit): { state: ReportedState; waitSeconds: number } {
  return { state: REPORTED[state], waitSeconds: Math.ceil(waitMs / 1000) }
}
