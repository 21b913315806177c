/** One attempt at a call: how it ended, and what that says about the upstream, the credential and the model. */

import type { ErrorCode, GatewayError } from '../errors.ts'
import type { UpstreamTarget } from '../generated/types.ts'
import type { Circuit, Passage } from '../upstream/circuit.ts'
import type { Credential } from '../upstream/credentials.ts'
import { type FaultKind, UpstreamFault } from '../upstream/fault.ts'
import type { ReachableUpstream } from '../upstream/registry.ts'

/** Statuses of errors that concern the model or the path, not the credential. */
const MODEL_STATUSES: ReadonlySet<number> = new Set([404, 405, 410, 415])

const NOT_THE_UPSTREAMS: ReadonlySet<FaultKind> = new Set(['aborted', 'unread', 'oversized', 'exhausted'])

/** A target and a credential with which a call can be tried. */
export interface Candidate {
  readonly target: UpstreamTarget
  readonly upstream: ReachableUpstream
  readonly credential: Credential
}

/** Once a reply has begun, its attempt is no probe any more. */
const ALL_CALLS = { upstream: 'call', credential: 'call', model: 'call' } as const

export class Attempt implements Candidate {
  readonly target: UpstreamTarget
  readonly upstream: ReachableUpstream
  readonly credential: Credential
  /** Monotonic time, in ms. */
  readonly startedMs: number
  /** When and how the attempt failed; null if it has not failed. The attempt that succeeds stays open until the call ends. */
  failure: {
    readonly atMs: number
    readonly code: ErrorCode
    /** HTTP status of the upstream's reply; 0 if there was none. */
    readonly status: number
  } | null = null
  /** The upstream could not be reached, or did not reply in time. */
  isBroken = false
  /** The connection was lost before a reply began. */
  isConnectionLost = false
  readonly #model: Circuit | null
  #passages: { readonly upstream: Passage; readonly credential: Passage; readonly model: Passage }
  #hasBegun = false

  constructor({ target, upstream, credential }: Candidate, startedMs: number) {
    this.target = target
    this.upstream = upstream
    this.credential = credential
    this.startedMs = startedMs
    this.#model = credential.model(target.model)
    this.#passages = {
      upstream: upstream.circuit.enter(),
      credential: credential.circuit.enter(),
      model: this.#model?.enter() ?? 'call',
    }
    upstream.tries++
  }

  /** Call when a good reply has begun. It may still break off: call `complete` or `fail` when it has ended. */
  begin(): void {
    this.upstream.circuit.recover()
    this.credential.circuit.succeed()
    this.#model?.succeed()
    this.#hasBegun = true
    this.#passages = ALL_CALLS
  }

  /** Call when the whole reply has arrived. Whatever happens to its connection from then on is no failure. */
  complete(): void {
    this.upstream.circuit.succeed()
  }

  /** Records the failure, before or after the reply has begun, and updates the circuits that it concerns; `atMs` is monotonic. */
  fail(error: GatewayError, atMs: number): void {
    const { cause, retryAfterSeconds, upstreamStatus = 0 } = error.details
    this.failure = { atMs, code: error.code, status: upstreamStatus }
    const { upstream, credential } = this
    const fault = cause instanceof UpstreamFault ? cause.kind : null
    this.isBroken = fault === 'connect' || fault === 'timeout'
    this.isConnectionLost = fault === 'reset'
    switch (error.code) {
      case 'upstream_failed':
      case 'upstream_overloaded':
        if (fault !== null && NOT_THE_UPSTREAMS.has(fault)) return void this.#leave()
        upstream.failed(this.#hasBegun ? 'broken_stream' : error.code)
        upstream.circuit.fail(this.#passages.upstream)
        return void this.#leave(upstream.circuit)
      case 'upstream_rate_limited':
        upstream.failed(error.code)
        this.#tripModel(retryAfterSeconds)
        return void this.#leave(this.#model)
      case 'upstream_misconfigured':
        upstream.failed(error.code)
        if (MODEL_STATUSES.has(upstreamStatus)) {
          this.#tripModel(retryAfterSeconds)
          return void this.#leave(this.#model)
        }
        if (upstreamStatus === 0) return void this.#leave()
        credential.circuit.trip(this.#passages.credential)
        return void this.#leave(credential.circuit)
      case 'internal':
        return void this.#leave()
      default:
        // The upstream is fine; the error is the client's.
        this.begin()
        this.complete()
    }
  }

  #tripModel(retryAfterSeconds: number | undefined): void {
    const circuit = this.credential.watchModel(this.target.model)
    circuit.trip(this.#passages.model, retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000)
  }

  /**
   * Leaves the circuits without counting this attempt as a success or a failure. Skips the `judged` circuit, which already
   * counted it.
   */
  #leave(judged: Circuit | null = null): void {
    const { upstream, credential } = this
    if (judged !== upstream.circuit) upstream.circuit.leave(this.#passages.upstream)
    if (judged !== credential.circuit) credential.circuit.leave(this.#passages.credential)
    if (this.#model !== null && judged !== this.#model) this.#model.leave(this.#passages.model)
  }
}
