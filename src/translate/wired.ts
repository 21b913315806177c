/** Entries as one call sees them: each target speaks the wire that carries the call, with the dialect that it has there. */

import type { ModelEntry, UpstreamTarget, WireName } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { type ChosenWire, chooseWire } from './choose-wire.ts'
import { asksOf, type WireAsks } from './wire-asks.ts'

/** A target of the catalogue on one of its wires. The same one for all calls: others remember things of a target. */
interface WiredTarget extends UpstreamTarget {
  readonly wire: WireName
  readonly of: UpstreamTarget
}

/** One for each target of the catalogue and each of its wires: there are three. */
const TARGETS = new WeakMap<UpstreamTarget, Map<WireName, WiredTarget>>()

/** The wire format of a target of conversations. */
export function wireOf(target: UpstreamTarget): WireName {
  if ('wire' in target) return (target as WiredTarget).wire
  return target.standard === 'messages' ? 'messages' : 'chat_completions'
}

/** The target as the catalogue has it, whatever its wire: prices are known by it. */
export function listedTarget(target: UpstreamTarget): UpstreamTarget {
  return 'of' in target ? (target as WiredTarget).of : target
}

/** The entry itself where its targets have no choice. */
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
