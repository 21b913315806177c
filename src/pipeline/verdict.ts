/** What one try tells of the upstream, the credential and the model that it used. */

import type { GatewayError } from '../errors.ts'
import type { Circuit, Passage } from '../upstream/circuit.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { Candidate } from './candidates.ts'

/** Statuses that speak of the model or the path, not of the credential. */
const MODEL_STATUSES: ReadonlySet<number> = new Set([404, 405, 410, 415])

export class Verdict {
  readonly #candidate: Candidate
  readonly #model: Circuit | null
  readonly #passages: { readonly upstream: Passage; readonly credential: Passage; readonly model: Passage }
  #settled = false
  #isClosed = false
  /** The upstream could not be reached, or said nothing in time. */
  isBroken = false
  /** The connection was lost before a reply began. */
  isConnectionLost = false

  constructor(candidate: Candidate) {
    const { upstream, credential, target } = candidate
    this.#candidate = candidate
    this.#model = credential.model(target.model)
    this.#passages = {
      upstream: upstream.circuit.enter(),
      credential: credential.circuit.enter(),
      model: this.#model?.enter() ?? 'call',
    }
    upstream.tries++
  }

  /** A good reply has come, or has begun. */
  succeed(): void {
    this.#settled = true
    const { upstream, credential } = this.#candidate
    if (this.#isClosed) upstream.circuit.succeed()
    else upstream.circuit.recover()
    credential.circuit.succeed()
    this.#model?.succeed()
  }

  fail(error: GatewayError): void {
    this.#settled = true
    const { upstream, credential } = this.#candidate
    const { cause, retryAfterSeconds, upstreamStatus = 0 } = error.details
    const fault = cause instanceof UpstreamFault ? cause.kind : null
    this.isBroken = fault === 'connect' || fault === 'timeout'
    this.isConnectionLost = fault === 'reset'
    switch (error.code) {
      case 'upstream_failed':
      case 'upstream_overloaded':
        if (fault === 'aborted' || fault === 'unread' || fault === 'oversized') return void this.#leave()
        upstream.failed(error.code)
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
        // It answered, and the answer is the client's to deal with.
        this.succeed()
    }
  }

  /**
   * The connection of the try has ended; a stream that breaks off after it began is a fault too, unless it was the client
   * who went away or did not read.
   */
  closed = (fault: UpstreamFault | null): void => {
    this.#isClosed = true
    const { upstream } = this.#candidate
    if (!this.#settled || fault?.kind === 'aborted' || fault?.kind === 'unread') return
    if (fault === null) return void upstream.circuit.succeed()
    upstream.failed('broken_stream')
    upstream.circuit.fail('call')
  }

  #tripModel(retryAfterSeconds: number | undefined): void {
    const { credential, target } = this.#candidate
    const circuit = credential.watchModel(target.model)
    circuit.trip(this.#passages.model, retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000)
  }

  /** Ends the probes of which the try said nothing; what `judged` has been told already is left as it is. */
  #leave(judged: Circuit | null = null): void {
    const { upstream, credential } = this.#candidate
    if (judged !== upstream.circuit) upstream.circuit.leave(this.#passages.upstream)
    if (judged !== credential.circuit) credential.circuit.leave(this.#passages.credential)
    if (this.#model !== null && judged !== this.#model) this.#model.leave(this.#passages.model)
  }
}
