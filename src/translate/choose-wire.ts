/**
 * Chooses one of the wires (API formats) that the upstream offers for a model: preferably the client's own format, as long as
 * the wire can carry everything in the call.
 */

import assert from 'node:assert/strict'
import type { Dialect, UpstreamTarget, Wire, WireLimit, WireName } from '../generated/types.ts'
import type { WireAsks } from './wire-asks.ts'

export interface ChosenWire {
  readonly wire: WireName
  readonly dialect: Dialect
  /** Features of the request that this wire cannot carry. */
  readonly loses: readonly WireLimit[]
}

/**
 * Tries the client's own format first, then the wires in the catalogue's order. If none carries the whole call, chooses the
 * client's own format if it is among them, otherwise the wire that loses least.
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
    // The client's own format is only given up for a wire that loses nothing.
    if (best?.wire === clientFormat && loses.length > 0) continue
    best = { wire: wire.wire, dialect: wire.dialect, loses }
    if (loses.length === 0) return best
  }
  assert(best)
  return best
}

/**
 * Features without which the reply would not be what the client asked for: on a wire that cannot carry them, the call is
 * refused. Other features are left out or approximated.
 */
const REFUSED: ReadonlySet<WireLimit> = new Set(['stop_sequences', 'choices', 'document_urls'])

/** Weighs losses: a single REFUSED feature outweighs all others. */
function weightOf(loses: readonly WireLimit[]): number {
  return loses.reduce((sum, limit) => sum + (REFUSED.has(limit) ? 100 : 1), 0)
}

/** Returns the wires of a target. A target that lists none has only the wire of its standard format. */
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

/**
 * Whether the client wants reasoning that the model cannot do on this wire, because the wire allows no effort in requests with
 * tools. If the client does not specify an effort, the model's default decides.
 */
function losesEffort(
  cannot: readonly WireLimit[],
  { reasoning }: Dialect,
  { hasFunctions, wantsReasoning }: WireAsks,
): boolean {
  if (!hasFunctions || reasoning.parameter === null) return false
  if (reasoning.besideTools === 'accepted' && !cannot.includes('effort_beside_tools')) return false
  return wantsReasoning ?? reasoning.byDefault
}
