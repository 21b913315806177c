/**
 * Chooses, for one call, the wire (API format) to speak to each upstream target of an entry, and gives the target the dialect
 * that its model accepts on that wire.
 */

import type { ModelEntry, UpstreamTarget, WireName } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { type ChosenWire, chooseWire } from './choose-wire.ts'
import { asksOf, type WireAsks } from './wire-asks.ts'

/** A catalogue target bound to one of its wires. All calls share it, so it can serve as a cache key. */
interface WiredTarget extends UpstreamTarget {
  readonly wire: WireName
  readonly original: UpstreamTarget
}

/** Caches the wired targets of each catalogue target, by wire. */
const TARGETS = new WeakMap<UpstreamTarget, Map<WireName, WiredTarget>>()

/** Only for targets of chat models. */
export function wireOf(target: UpstreamTarget): WireName {
  if ('wire' in target) return (target as WiredTarget).wire
  return target.standard === 'messages' ? 'messages' : 'chat_completions'
}

/** Returns the original catalogue target, under which the prices are stored. */
export function listedTarget(target: UpstreamTarget): UpstreamTarget {
  return 'original' in target ? (target as WiredTarget).original : target
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
  const made: WiredTarget = known.get(wire) ?? { ...target, wire, dialect, original: target }
  known.set(wire, made)
  return made
}
