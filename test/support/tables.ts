/** Changes the generated tables, for tests that need other upstreams or shorter timeouts. */

import { TABLES } from '../../src/generated/tables.ts'
import type { ModelEntry, Tables, Upstream, UpstreamCost, UpstreamTarget } from '../../src/generated/types.ts'

export interface TableChanges {
  /** Changes to individual upstreams, by id. */
  readonly upstreams?: Readonly<Record<string, Partial<Upstream>>>
  /** Changes to all upstreams. */
  readonly everyUpstream?: Partial<Upstream>
  /**
   * Ids of the upstreams that serve an entry instead of its own, by entry id. Each becomes a copy of the entry's own target, with
   * this id in `via`, and with the weight if one is given.
   */
  readonly targets?: Readonly<Record<string, readonly (string | readonly [via: string, weight: number])[]>>
  /** What each target of an entry costs the operator, by entry id. */
  readonly costs?: Readonly<Record<string, readonly UpstreamCost[]>>
  readonly settings?: Partial<Tables['settings']>
}

export function changedTables(changes: TableChanges): Tables {
  const upstreams: readonly Upstream[] = TABLES.upstreams
  const entries: readonly ModelEntry[] = TABLES.entries
  return {
    settings: { ...TABLES.settings, ...changes.settings },
    upstreams: upstreams.map(upstream => ({
      ...upstream,
      ...changes.everyUpstream,
      ...changes.upstreams?.[upstream.id],
    })),
    entries: entries.map(entry => {
      const targets = changes.targets?.[entry.id]
      const cost = changes.costs?.[entry.id]
      const own = entry.upstreams[0] as UpstreamTarget
      if (targets === undefined && cost === undefined) return entry
      const upstreams =
        targets?.map(target =>
          typeof target === 'string' ? { ...own, via: target } : { ...own, via: target[0], weight: target[1] },
        ) ?? entry.upstreams
      return { ...entry, upstreams: upstreams.map(target => ({ ...target, ...(cost && { cost }) })) }
    }),
  }
}

/**
 * Changes the tables so that calls in a format that a model does not support are always converted to the model's standard wire,
 * even if the model supports other wires, too.
 */
export function standardFirst(tables: Tables = TABLES): Tables {
  const reordered = (target: UpstreamTarget): UpstreamTarget => {
    if (target.wires === undefined) return target
    const wires = target.wires.map(wire => ({
      ...wire,
      cannot: wire.wire === target.standard ? [] : (['effort_beside_tools'] as const),
    }))
    return { ...target, wires: wires.toSorted((a, b) => a.cannot.length - b.cannot.length) }
  }
  return { ...tables, entries: tables.entries.map(entry => ({ ...entry, upstreams: entry.upstreams.map(reordered) })) }
}
