/** Binds an entry's targets, for one call, to the wire that carries the call and to the dialect of that wire. */

import type { ModelEntry, UpstreamTarget, WireName } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { type ChosenWire, chooseWire } from './choose-wire.ts'
import { asksOf, type WireAsks } from './wire-asks.ts'

/** A catalogue target bound to one of its wires. All calls share it, so it can serve as a cache key. */
interface WiredTarget extends UpstreamTarget {
  readonly wire: WireName
  readonly of: UpstreamTarget
}

/** Caches the wired targets for each catalogue target, at most three. */
const TARGETS = new WeakMap<UpstreamTarget, Map<WireName, WiredTarget>>()

/** Returns the wire of a chat target. */
export function wireOf(target: UpstreamTarget): WireName {
  if ('wire' in target) return (target as WiredTarget).wire
  return target.standard === 'messages' ? 'messages' : 'chat_completions'
}

/** Returns the catalogue's own target behind a wired one. The prices belong to the catalogue's target. */
export function listedTarget(target: UpstreamTarget): UpstreamTarget {
  return 'of' in target ? (target as WiredTarget).of : target
}

/** Binds each target to a wire for this request. Returns the entry itself if no target has a choice of wires. */
export function onWires(entry: ModelEntry, format: WireName, body: JsonObject): ModelEntry {
  if (entry.upstreams.every(({ wires }) => wires === undefined)) return entry
  const asks = asksOf(format, body)
  return { ...entry, upstreams: entry.upstreams.map(target => onWire(target, format, asks)) }
}

function onWire(target: UpstreamTarget, format: WireName, asks: WireAsks): UpstreamTarget {
  const chosen = chooseWire(target, format, asks)
  return chosen.wire === target.standard ? target : wired(target, chosen)
}

function wired(target: UpstreamTarget, { wire, dialect }: ChosenWire): UpstreamTarget {
  const known = TARGETS.get(target) ?? new Map<WireName, WiredTarget>()
  TARGETS.set(target, known)
  const made: WiredTarget = known.get(wire) ?? { ...target, wire, dialect, of: target }
  known.set(wire, made)
  return made
}
