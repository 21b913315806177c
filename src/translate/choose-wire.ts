/** Which of the formats that a model speaks carries a call: the one that loses nothing of it, the client's own before others. */

import assert from 'node:assert/strict'
import type { Dialect, UpstreamTarget, Wire, WireLimit, WireName } from '../generated/types.ts'
import type { WireAsks } from './wire-asks.ts'

export interface ChosenWire {
  readonly wire: WireName
  readonly dialect: Dialect
  /** What of the request does not get through. */
  readonly loses: readonly WireLimit[]
}

/**
 * The client's own format first, then as the catalogue lists them. Where none carries the call whole, the client's own if it
 * is among them, else the one that loses least.
 */
export function chooseWire(
  target: Pick<UpstreamTarget, 'wires' | 'standard' | 'dialect'>,
  clientFormat: WireName,
  asks: WireAsks,
): ChosenWire {
  let best: ChosenWire | null = null
  for (const wire of inOrder(wiresOf(target), clientFormat)) {
    const loses = lossesOf(wire, asks)
    if (best !== null && weightOf(loses) >= weightOf(best.loses)) continue
    // The client's own is given up only for one that loses nothing.
    if (best?.wire === clientFormat && loses.length > 0) continue
    best = { wire: wire.wire, dialect: wire.dialect, loses }
    if (loses.length === 0) return best
  }
  assert(best)
  return best
}

/** What a wire without it refuses, because the reply would be another one; the rest is left out, or brought to the nearest. */
const REFUSED: ReadonlySet<WireLimit> = new Set(['stop_sequences', 'choices'])

/** One refusal outweighs everything else. */
function weightOf(loses: readonly WireLimit[]): number {
  return loses.reduce((sum, limit) => sum + (REFUSED.has(limit) ? 100 : 1), 0)
}

/** Without a list a model speaks the format of its standard, and that alone. */
export function wiresOf({
  wires,
  standard,
  dialect,
}: Pick<UpstreamTarget, 'wires' | 'standard' | 'dialect'>): readonly Wire[] {
  if (wires !== undefined) return wires
  return [{ wire: standard === 'messages' ? 'messages' : 'chat_completions', cannot: [], dialect }]
}

function inOrder(wires: readonly Wire[], clientFormat: WireName): readonly Wire[] {
  if (wires.length < 2 || wires[0]?.wire === clientFormat) return wires
  return wires.toSorted((a, b) => Number(b.wire === clientFormat) - Number(a.wire === clientFormat))
}

function lossesOf({ cannot, dialect }: Wire, asks: WireAsks): WireLimit[] {
  const loses = cannot.filter(limit => asks.limits.has(limit))
  if (!loses.includes('effort_beside_tools') && losesEffort(cannot, dialect, asks)) loses.push('effort_beside_tools')
  return loses
}

/** A model that reasons by default does so beside tools too, unless its wire must be told not to. */
function losesEffort(
  cannot: readonly WireLimit[],
  { reasoning }: Dialect,
  { hasFunctions, effort }: WireAsks,
): boolean {
  if (!hasFunctions || reasoning.parameter === null) return false
  if (reasoning.besideTools === 'accepted' && !cannot.includes('effort_beside_tools')) return false
  return effort ?? reasoning.byDefault
}
