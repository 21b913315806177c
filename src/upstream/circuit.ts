/**
 * A circuit breaker for a place that calls can go to: an upstream, a credential, or a model by a credential. Closed, it lets
 * every call pass. After faults it opens for a while, then half-opens: one call at a time probes.
 */

export interface CircuitPolicy {
  /** Faults in a row that open the circuit. */
  readonly failures: number
  /** How long it stays open at first; that doubles with each probe that fails. */
  readonly baseMs: number
  /** Longest time open; 0: it never opens. */
  readonly maxMs: number
}

export type CircuitState = 'closed' | 'open' | 'half_open'

/** What a call did to find out: the probe of a half-open circuit, or nothing more than a call. */
export type Passage = 'call' | 'probe'

export class Circuit {
  readonly #policy: CircuitPolicy
  readonly #nowMs: () => number
  #failures = 0
  /** Times opened in a row without a success between them. */
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

  /** A call may pass like any other: the circuit is closed, or waits for a probe. */
  get admits(): boolean {
    return this.#rounds === 0 || (!this.#probing && this.#nowMs() >= this.#openUntilMs)
  }

  /** A probe is under way. */
  get probing(): boolean {
    return this.#probing
  }

  /** Milliseconds until it may be probed; 0 when it may be now. */
  get waitMs(): number {
    return this.#rounds === 0 ? 0 : Math.max(0, this.#openUntilMs - this.#nowMs())
  }

  /** A call passes; it must end in `succeed`, `recover`, `fail`, `trip` or `leave`. */
  enter(): Passage {
    if (this.#rounds === 0 || this.#probing) return 'call'
    this.#probing = true
    return 'probe'
  }

  succeed(): void {
    this.#failures = 0
    this.recover()
  }

  /** It answers again, but the answer may still break off: faults in a row go on being counted. */
  recover(): void {
    this.#rounds = 0
    this.#probing = false
  }

  /** The place failed. A call that was under way when the circuit opened says nothing new. */
  fail(passage: Passage): void {
    if (passage === 'probe') this.trip(passage)
    else if (this.#rounds === 0 && ++this.#failures >= this.#policy.failures) this.trip(passage)
  }

  /** Opens it at once, for `forMs` when given, at most the policy's `maxMs`. */
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

  /** The call ended without saying anything of the place. */
  leave(passage: Passage): void {
    if (passage === 'probe') this.#probing = false
  }
}

/** As `upstream status` and the operators' page have called the states so far; programs read them. */
export type ReportedState = 'well' | 'aside' | 'on_trial'

const REPORTED = { closed: 'well', open: 'aside', half_open: 'on_trial' } as const satisfies Record<
  CircuitState,
  ReportedState
>

/** What a status says of a circuit; the wait is in seconds. */
export function reportCircuit({ state, waitMs }: Circuit): { state: ReportedState; waitSeconds: number } {
  return { state: REPORTED[state], waitSeconds: Math.ceil(waitMs / 1000) }
}
