/** Entries as one call sees them: each target speaks the wire that carries the call, with the dialect that it has there. */

import type { ModelEntry, UpstreamTarget, WireName } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'
import { type ChosenWire, chooseWire } from './choose-wire.ts'
import { asksOf, type WireAsks } from './wire-asks.ts'

/** A target of the catalogue on one of its wires. The same one for all calls: others remember things of a target. */
interface WiredTarget extends UpstreamTarget {
  readonly wire: WireName
}

/** One for each target of the catalogue and each of its wires: there are three. */
const TARGETS = new WeakMap<UpstreamTarget, Map<WireName, WiredTarget>>()

/** The wire format of a target of conversations. */
export function wireOf(target: UpstreamTarget): WireName {
  if ('wire' in target) return (target as WiredTarget).wire
  return target.standard === 'messages' ? 'messages' : 'chat_completions'
}

/** Wires that a request of another format can be written for. */
const TRANSLATED: ReadonlySet<WireName> = new Set(['messages', 'chat_completions'])

function canServe(format: WireName, wire: WireName): boolean {
  return format === wire || TRANSLATED.has(wire)
}

/** The entry itself where its targets have no choice. */
export function onWires(entry: ModelEntry, format: WireName, body: JsonObject): ModelEntry {
  const isPlain = TRANSLATED.has(format) && entry.upstreams.every(({ wires }) => wires === undefined)
  if (isPlain) return entry
  const asks = asksOf(format, body)
  return { ...entry, upstreams: entry.upstreams.map(target => onWire(target, format, asks)) }
}

function onWire(target: UpstreamTarget, format: WireName, asks: WireAsks): UpstreamTarget {
  const chosen = chooseWire(target, format, asks, wire => canServe(format, wire))
  // An entry is served where its upstream has a path for it, listed among its wires or not.
  if (chosen === null) return wired(target, { wire: format, dialect: target.dialect })
  return chosen.wire === target.standard ? target : wired(target, chosen)
}

function wired(target: UpstreamTarget, { wire, dialect }: Omit<ChosenWire, 'loses'>): UpstreamTarget {
  const known = TARGETS.get(target) ?? new Map<WireName, WiredTarget>()
  TARGETS.set(target, known)
  const made: WiredTarget = known.get(wire) ?? { ...target, wire, dialect }
  known.set(wire, made)
  return made
}
