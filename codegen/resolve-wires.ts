/** Resolves the wire formats that a target's model speaks, each with its own dialect and the features it cannot carry. */

import type { UpstreamTarget, Wire, WireName } from '../src/generated/types.ts'
import type { EntryContext } from './entry-context.ts'
import type { WireFacts } from './generated/types.ts'
import type { Layer } from './layers.ts'
import type { Outline } from './outline.ts'

/** The wire formats that a family, model, entry or target declares, and the layer of dialect facts for each. */
export interface StatedWires {
  readonly facts: readonly WireFacts[] | undefined
  readonly layers: ReadonlyMap<WireName, Layer>
}

export function statedWires(
  context: EntryContext,
  name: string,
  { wires }: { readonly wires?: readonly WireFacts[] },
): StatedWires {
  const layers = (wires ?? []).map(({ wire, dialect }): [WireName, Layer] => [
    wire,
    context.layer('wire', `${name} ${wire}`, dialect === undefined ? {} : { dialect }),
  ])
  return { facts: wires, layers: new Map(layers) }
}

export interface WireContext {
  readonly standard: UpstreamTarget['standard']
  /** The upstream's API paths by wire format. Wire formats without a path are left out. */
  readonly paths: object
  /** Layers of dialect facts for all wire formats; later layers win. */
  readonly layers: readonly (Layer | undefined)[]
}

/** Resolves the wire formats in order of preference; undefined if the target speaks only its `standard` format. */
export function resolveWires(
  dialects: Outline['dialects'],
  stated: readonly StatedWires[],
  { standard, paths, layers }: WireContext,
): readonly Wire[] | undefined {
  const facts = stated.findLast(each => each.facts !== undefined)?.facts ?? []
  const wires = facts.filter(({ wire }) => Object.hasOwn(paths, wire))
  const resolved = wires.map(({ wire }): Wire => {
    const limits = stated.map(each => each.facts?.find(fact => fact.wire === wire)?.cannot)
    const cannot = limits.findLast(limit => limit !== undefined) ?? []
    const dialect = dialects.resolve([...layers, ...stated.map(each => each.layers.get(wire))])
    return { wire, cannot, dialect }
  })
  return resolved.every(({ wire }) => wire === standard) ? undefined : resolved
}
