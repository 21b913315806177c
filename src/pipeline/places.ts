/**
 * The places where a call may be tried: targets, each with a credential. The best places come first, places with open circuits
 * last; each is tried once.
 */

import type { UpstreamTarget } from '../generated/types.ts'
import { type Credential, mixed } from '../upstream/credentials.ts'
import type { ReachableUpstream, UpstreamRegistry } from '../upstream/registry.ts'
import type { Place } from './attempt.ts'

/** Why there is nothing left to try. */
export interface Shortage {
  /** Whether at least one of the call's upstreams is reachable. */
  readonly reachable: boolean
  /** Shortest time, in ms, until a rate-limited credential may be used again; null if none is limited. */
  readonly limitedMs: number | null
  /** Shortest time, in ms, until an upstream that an operator took out of service is back; null if none is out. */
  readonly outMs: number | null
  /** Whether an upstream has reached its limit of calls in flight. */
  readonly full: boolean
}

export class Places {
  readonly #targets: readonly UpstreamTarget[]
  readonly #callerId: number
  readonly #upstreams: UpstreamRegistry
  readonly #tried: Place[] = []
  /** Upstreams that could not be reached during this call: another credential would not help. */
  readonly #broken = new Set<ReachableUpstream>()
  #repeated = false
  #limitedMs: number | null = null
  #full = false
  #outMs: number | null = null

  /** While circuits are closed, a caller's calls always go to the same target and credential, so that prompt caches are hit. */
  constructor(targets: readonly UpstreamTarget[], callerId: number, upstreams: UpstreamRegistry) {
    this.#targets = targets.length > 1 ? inOrder(targets, callerId) : targets
    this.#callerId = callerId
    this.#upstreams = upstreams
  }

  /**
   * Returns the next place to try; null if none is left. Places with open circuits come last, because trying them is better
   * than failing for certain.
   */
  next(): Place | null {
    const place = this.#find(false) ?? this.#find(true)
    if (place !== null) this.#tried.push(place)
    return place
  }

  /** Allows one retry of the last place per call, because a kept-alive connection may have been closed just as it was used. */
  again(): Place | null {
    const last = this.#tried.at(-1)
    if (last === undefined || this.#repeated || this.#triesLeft(last.upstream) < 1) return null
    this.#repeated = true
    this.#tried.push(last)
    return last
  }

  broken(upstream: ReachableUpstream): void {
    this.#broken.add(upstream)
  }

  get shortage(): Shortage {
    const reachable = this.#targets.some(target => this.#upstreams.find(target.via) !== null)
    return { reachable, limitedMs: this.#limitedMs, outMs: this.#outMs, full: this.#full }
  }

  #triesLeft(upstream: ReachableUpstream): number {
    let left = upstream.facts.attemptsMax
    for (const place of this.#tried) if (place.upstream === upstream) left--
    return left
  }

  #find(allowOpen: boolean): Place | null {
    for (const target of this.#targets) {
      const upstream = this.#upstreams.find(target.via)
      if (upstream === null || this.#triesLeft(upstream) < 1) continue
      if (upstream.outMs > 0) {
        this.#outMs = Math.min(this.#outMs ?? Number.POSITIVE_INFINITY, upstream.outMs)
        continue
      }
      if (upstream.full) {
        this.#full = true
        continue
      }
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
    return this.#tried.some(place => place.target === target && place.credential === credential)
  }

  /**
   * Whether to skip this credential, because the provider limits its rate for the model. With `allowOpen`, one call at a time
   * may try it nevertheless.
   */
  #isLimited(target: UpstreamTarget, credential: Credential, allowOpen: boolean): boolean {
    const circuit = credential.model(target.model)
    if (circuit === null || circuit.admits || (allowOpen && !circuit.probing)) return false
    this.#limitedMs = Math.min(this.#limitedMs ?? Number.POSITIVE_INFINITY, circuit.waitMs)
    return true
  }
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
