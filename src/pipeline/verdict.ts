/** What one try tells of the upstream, the credential and the model that it used. */

import type { GatewayError } from '../errors.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { Health, Visit } from '../upstream/health.ts'
import type { Candidate } from './candidates.ts'

/** Statuses that speak of the model or the path, not of the credential. */
const MODEL_STATUSES: ReadonlySet<number> = new Set([404, 405, 410, 415])

export class Verdict {
  readonly #candidate: Candidate
  readonly #model: Health | null
  readonly #visits: { readonly upstream: Visit; readonly credential: Visit; readonly model: Visit }
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
    this.#visits = {
      upstream: upstream.health.enter(),
      credential: credential.health.enter(),
      model: this.#model?.enter() ?? 'call',
    }
    upstream.tries++
  }

  /** A good reply has come, or has begun. */
  succeed(): void {
    this.#settled = true
    const { upstream, credential } = this.#candidate
    if (this.#isClosed) upstream.health.succeed()
    else upstream.health.recover()
    credential.health.succeed()
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
        upstream.health.fail(this.#visits.upstream)
        return void this.#leave(upstream.health)
      case 'upstream_rate_limited':
        upstream.failed(error.code)
        this.#putModelAside(retryAfterSeconds)
        return void this.#leave(this.#model)
      case 'upstream_misconfigured':
        upstream.failed(error.code)
        if (MODEL_STATUSES.has(upstreamStatus)) {
          this.#putModelAside(retryAfterSeconds)
          return void this.#leave(this.#model)
        }
        if (upstreamStatus === 0) return void this.#leave()
        credential.health.putAside(this.#visits.credential)
        return void this.#leave(credential.health)
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
    if (fault === null) return void upstream.health.succeed()
    upstream.failed('broken_stream')
    upstream.health.fail('call')
  }

  #putModelAside(retryAfterSeconds: number | undefined): void {
    const { credential, target } = this.#candidate
    const health = credential.watchModel(target.model)
    health.putAside(this.#visits.model, retryAfterSeconds === undefined ? undefined : retryAfterSeconds * 1000)
  }

  /** Ends the trials of which the try said nothing; what `judged` has been told already is left as it is. */
  #leave(judged: Health | null = null): void {
    const { upstream, credential } = this.#candidate
    if (judged !== upstream.health) upstream.health.leave(this.#visits.upstream)
    if (judged !== credential.health) credential.health.leave(this.#visits.credential)
    if (this.#model !== null && judged !== this.#model) this.#model.leave(this.#visits.model)
  }
}
