/**
 * The candidates for a call's attempts: its targets, each with a credential. The best candidates come first, those with open
 * circuits last; each is tried once.
 */

import type { UpstreamTarget } from '../generated/types.ts'
import { Canceller } from '../lib/cancellation.ts'
import { type Credential, mixed } from '../upstream/credentials.ts'
import type { Places } from '../upstream/places.ts'
import type { ReachableUpstream, UpstreamRegistry } from '../upstream/registry.ts'
import type { Candidate } from './attempt.ts'

/** Why there is nothing left to try. */
export interface Shortage {
  /** Whether at least one of the call's upstreams is reachable. */
  readonly reachable: boolean
  /** Shortest time, in ms, until a rate-limited credential may be used again; null if none is limited. */
  readonly rateLimitedMs: number | null
  /** Shortest time, in ms, until an upstream that an operator took out of service is back; null if none is out. */
  readonly outOfServiceMs: number | null
  /** Whether an upstream has reached its limit of calls in flight. */
  readonly isFull: boolean
}

export class Candidates {
  readonly #targets: readonly UpstreamTarget[]
  readonly #callerId: number
  readonly #upstreams: UpstreamRegistry
  readonly #tried: Candidate[] = []
  /** Upstreams that could not be reached during this call: another credential would not help. */
  readonly #broken = new Set<ReachableUpstream>()
  /** Upstreams that failed during this call. If one of them is down, trying again would only add to its load. */
  readonly #failed = new Set<ReachableUpstream>()
  #repeated = false
  #rateLimitedMs: number | null = null
  /** Upstreams that have reached their limit of calls in flight. */
  #full = new Set<ReachableUpstream>()
  /** The upstream that keeps a place for this call, which has waited for it. */
  #keeper: ReachableUpstream | null = null
  #outOfServiceMs: number | null = null

  /** While circuits are closed, a caller's calls always go to the same target and credential, so that prompt caches are hit. */
  constructor(targets: readonly UpstreamTarget[], callerId: number, upstreams: UpstreamRegistry) {
    this.#targets = targets.length > 1 ? inOrder(targets, callerId) : targets
    this.#callerId = callerId
    this.#upstreams = upstreams
  }

  /**
   * Returns the next candidate to try; null if none is left. Candidates with open circuits come last, because trying them is
   * better than failing for certain.
   */
  next(): Candidate | null {
    const candidate = this.#find(false) ?? this.#find(true)
    if (candidate !== null) this.#tried.push(candidate)
    return candidate
  }

  /**
   * Allows one retry of the last candidate per call, because a kept-alive connection may have been closed just as it was used.
   */
  again(): Candidate | null {
    const last = this.#tried.at(-1)
    if (last === undefined || this.#repeated || this.#triesLeft(last.upstream) < 1) return null
    if (last.upstream.circuit.state === 'open') return null
    this.#repeated = true
    this.#tried.push(last)
    return last
  }

  /** Takes back a candidate that has not been tried after all. */
  putBack(candidate: Candidate): void {
    this.#tried.splice(this.#tried.lastIndexOf(candidate), 1)
  }

  /** Whether the upstream has no place for this call. */
  isFull(upstream: ReachableUpstream): boolean {
    return upstream.places.full && upstream !== this.#keeper
  }

  /** Waits for a place at any of the upstreams that are full. Returns the candidate that can then be tried; null if there is none. */
  async waitForPlace(accountId: number, options: PlaceWait): Promise<Candidate | null> {
    const full = this.#full
    if (full.size === 0) return null
    this.#full = new Set()
    this.#keeper = await waitAtAny([...full], accountId, options)
    if (this.#keeper !== null) return this.next()
    this.#full = full
    return null
  }

  /** Call when the call has taken the place that was kept for it, or does not want it any more. */
  unkeepPlace(): void {
    this.#keeper?.places.unkeep()
    this.#keeper = null
  }

  broken(upstream: ReachableUpstream): void {
    this.#broken.add(upstream)
  }

  failed(upstream: ReachableUpstream): void {
    this.#failed.add(upstream)
  }

  get shortage(): Shortage {
    const reachable = this.#targets.some(target => this.#upstreams.find(target.via) !== null)
    return {
      reachable,
      rateLimitedMs: this.#rateLimitedMs,
      outOfServiceMs: this.#outOfServiceMs,
      isFull: this.#full.size > 0,
    }
  }

  #triesLeft(upstream: ReachableUpstream): number {
    let left = upstream.facts.attemptsMax
    for (const candidate of this.#tried) if (candidate.upstream === upstream) left--
    return left
  }

  #find(allowOpen: boolean): Candidate | null {
    for (const target of this.#targets) {
      const upstream = this.#upstreams.find(target.via)
      if (upstream === null || this.#triesLeft(upstream) < 1) continue
      if (upstream.outOfServiceMs > 0) {
        this.#outOfServiceMs = Math.min(this.#outOfServiceMs ?? Number.POSITIVE_INFINITY, upstream.outOfServiceMs)
        continue
      }
      if (this.isFull(upstream)) {
        this.#full.add(upstream)
        continue
      }
      if (this.#failed.has(upstream) && upstream.circuit.state === 'open') continue
      if (!allowOpen && (this.#broken.has(upstream) || !upstream.circuit.admits)) continue
      for (const credential of upstream.credentials.orderFor(this.#callerId)) {
        if (!allowOpen && !credential.circuit.admits) continue
        if (this.#isTried(target, credential) || this.#isLimited(target, credential, allowOpen)) continue
        return { target, upstream, credential }
      }
    }
    return null
  }

  #isTried(target: UpstreamTarget, credential: Credential): boolean {
    return this.#tried.some(candidate => candidate.target === target && candidate.credential === credential)
  }

  /**
   * Whether to skip this credential, because the provider limits its rate for the model. With `allowOpen`, one call at a time
   * may try it nevertheless.
   */
  #isLimited(target: UpstreamTarget, credential: Credential, allowOpen: boolean): boolean {
    const circuit = credential.model(target.model)
    if (circuit === null || circuit.admits || (allowOpen && !circuit.probing)) return false
    this.#rateLimitedMs = Math.min(this.#rateLimitedMs ?? Number.POSITIVE_INFINITY, circuit.waitMs)
    return true
  }
}

type PlaceWait = Parameters<Places['wait']>[1]

/** Returns the first upstream that keeps a place; null if none does. */
function waitAtAny(
  upstreams: readonly ReachableUpstream[],
  accountId: number,
  { waitMs, gone }: PlaceWait,
): Promise<ReachableUpstream | null> {
  const { promise, resolve } = Promise.withResolvers<ReachableUpstream | null>()
  const over = new Canceller()
  const leave = () => over.abort()
  if (gone.aborted) leave()
  gone.addEventListener('abort', leave)
  let waiting = upstreams.length
  let keeper: ReachableUpstream | null = null
  for (const upstream of upstreams) {
    void upstream.places.wait(accountId, { waitMs, gone: over }).then(granted => {
      waiting--
      if (granted && keeper === null) {
        keeper = upstream
        over.abort()
      } else if (granted) upstream.places.unkeep()
      if (waiting > 0) return
      gone.removeEventListener('abort', leave)
      resolve(keeper)
    })
  }
  return promise
}

/**
 * Without weights, keeps the listed order. With weights, each caller gets its own fixed order, in which a target's chance to be
 * first is proportional to its weight.
 */
function inOrder(targets: readonly UpstreamTarget[], callerId: number): readonly UpstreamTarget[] {
  if (targets.every(target => target.weight === 0)) return targets
  const ranked = targets.map((target, index) => ({
    target,
    rank:
      target.weight === 0
        ? Number.NEGATIVE_INFINITY
        : Math.log(mixed(callerId, index) || Number.MIN_VALUE) / target.weight,
  }))
  return ranked.sort((a, b) => b.rank - a.rank).map(({ target }) => target)
}
