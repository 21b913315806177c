/**
 * A circuit breaker for anything that calls go to: an upstream, a credential, or a model as called with a credential. While
 * closed, it lets every call pass. After faults it opens for a while and then half-opens, which lets one call at a time through
 * as a probe.
 */

export interface CircuitPolicy {
  /** How many consecutive failures open the circuit. */
  readonly failures: number
  /** How long the circuit first stays open, in ms; doubles with each failed probe. */
  readonly baseMs: number
  /** The longest that the circuit stays open, in ms; 0: it never opens. */
  readonly maxMs: number
}

export type CircuitState = 'closed' | 'open' | 'half_open'

/** How the circuit let a call pass: as an ordinary call or, while half-open, as the probe with this number. */
export type Passage = 'call' | number

export class Circuit {
  readonly #policy: CircuitPolicy
  readonly #nowMs: () => number
  readonly #probeMs: number
  #failures = 0
  /** How many times in a row the circuit has opened, without a success in between. */
  #rounds = 0
  #openUntilMs = 0
  #isProbing = false
  /** Number of the current probe. An earlier one that ends late counts as an ordinary call. */
  #probe = 0
  #probedAtMs = 0

  /** `probeMs`: how soon a probe fails, if it does; one that has lasted longer closes the circuit. By default, its end is awaited. */
  constructor(policy: CircuitPolicy, nowMs: () => number, { probeMs = Number.POSITIVE_INFINITY } = {}) {
    this.#policy = policy
    this.#nowMs = nowMs
    this.#probeMs = probeMs
  }

  get state(): CircuitState {
    if (this.#isClosed) return 'closed'
    return this.#nowMs() < this.#openUntilMs ? 'open' : 'half_open'
  }

  /** Whether a call may pass: the circuit is closed, or ready for a probe. */
  get admits(): boolean {
    return this.#isClosed || (!this.#isProbing && this.#nowMs() >= this.#openUntilMs)
  }

  get probing(): boolean {
    return !this.#isClosed && this.#isProbing
  }

  /** Time until a call may pass, in ms; 0 when it may already. */
  get waitMs(): number {
    return this.#isClosed ? 0 : Math.max(0, this.#openUntilMs - this.#nowMs())
  }

  /** Lets a call pass. The call must end with `succeed`, `recover`, `fail`, `trip` or `leave`. */
  enter(): Passage {
    if (this.#isClosed || this.#isProbing) return 'call'
    this.#isProbing = true
    this.#probedAtMs = this.#nowMs()
    return ++this.#probe
  }

  succeed(): void {
    this.#failures = 0
    this.recover()
  }

  /**
   * Closes the circuit because the upstream has replied. The reply may still break off, so the count of consecutive failures is
   * kept.
   */
  recover(): void {
    this.#rounds = 0
    this.#isProbing = false
  }

  /** Records that a call failed. Calls that were already in flight when the circuit opened do not count. */
  fail(passage: Passage): void {
    if (passage === this.#probe) this.trip(passage)
    else if (this.#rounds === 0 && ++this.#failures >= this.#policy.failures) this.trip(passage)
  }

  /** Opens the circuit at once, for `forMs` if given, but at most for the policy's `maxMs`. */
  trip(passage: Passage, forMs?: number): void {
    const { baseMs, maxMs } = this.#policy
    if (passage === this.#probe) this.#isProbing = false
    else if (this.#rounds > 0) return
    if (maxMs === 0) return
    const ms = Math.min(forMs ?? baseMs * 2 ** Math.min(this.#rounds, 20), maxMs)
    this.#failures = 0
    this.#rounds++
    this.#probe++
    this.#openUntilMs = this.#nowMs() + ms
  }

  /** Records that a call ended without showing whether the circuit's target works. */
  leave(passage: Passage): void {
    if (passage === this.#probe) this.#isProbing = false
  }

  get #isClosed(): boolean {
    if (this.#isProbing && this.#nowMs() - this.#probedAtMs >= this.#probeMs) this.recover()
    return this.#rounds === 0
  }
}

/** States in `upstream status` and on the operator's page. Programs depend on these names. */
export type ReportedState = 'well' | 'aside' | 'on_trial'

const REPORTED = { closed: 'well', open: 'aside', half_open: 'on_trial' } as const satisfies Record<
  CircuitState,
  ReportedState
>

export function reportCircuit({ state, waitMs }: Circuit): { state: ReportedState; waitSeconds: number } {
  return { state: REPORTED[state], waitSeconds: Math.ceil(waitMs / 1000) }
}
