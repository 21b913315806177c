/** Resolves the wire formats that a target's model speaks, with the differences of each. */

import type { UpstreamTarget, Wire, WireName } from '../src/generated/types.ts'
import type { EntryContext } from './entry-context.ts'
import type { WireFacts } from './generated/types.ts'
import type { Layer } from './layers.ts'
import type { Outline } from './outline.ts'

/** What a family, model, entry or target states about its wires. */
export interface SaidWires {
  readonly facts: readonly WireFacts[] | undefined
  readonly layers: ReadonlyMap<WireName, Layer>
}

export function saidWires(
  context: EntryContext,
  name: string,
  { wires }: { readonly wires?: readonly WireFacts[] },
): SaidWires {
  const layers = (wires ?? []).map(({ wire, dialect }): [WireName, Layer] => [
    wire,
    context.layer('wire', `${name} ${wire}`, dialect === undefined ? {} : { dialect }),
  ])
  return { facts: wires, layers: new Map(layers) }
}

export interface WireCircumstances {
  readonly standard: UpstreamTarget['standard']
  /** The `paths` of the upstream. */
  readonly paths: object
  /** Layers of the dialect that apply to every wire. */
  readonly layers: readonly (Layer | undefined)[]
}

/** Resolves the wires in order of preference; undefined if the target speaks only its standard. */
export function resolveWires(
  dialects: Outline['dialects'],
  said: readonly SaidWires[],
  { standard, paths, layers }: WireCircumstances,
): readonly Wire[] | undefined {
  const facts = said.findLast(each => each.facts !== undefined)?.facts ?? []
  const wires = facts.filter(({ wire }) => Object.hasOwn(paths, wire))
  const resolved = wires.map(({ wire }): Wire => {
    const limits = said.map(each => each.facts?.find(fact => fact.wire === wire)?.cannot)
    const cannot = limits.findLast(limit => limit !== undefined) ?? []
    const dialect = dialects.resolve([...layers, ...said.map(each => each.layers.get(wire))])
    return { wire, cannot, dialect }
  })
  return resolved.every(({ wire }) => wire === standard) ? undefined : resolved
}
