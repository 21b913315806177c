/** Changes the generated tables, for tests that need other upstreams, shorter timeouts or models that never retire. */

import { TABLES } from '../../src/generated/tables.ts'
import type { ModelEntry, Tables, Upstream, UpstreamCost, UpstreamTarget } from '../../src/generated/types.ts'

const ENTRIES: readonly ModelEntry[] = TABLES.entries

/** The generated tables without retirements, so that no test depends on the day on which it runs. */
export const LASTING_TABLES: Tables = {
  ...TABLES,
  entries: ENTRIES.map(entry => (entry.deprecated === null ? entry : { ...entry, deprecated: null })),
}

export interface TableChanges {
  /** Changes to individual upstreams, by id. */
  readonly upstreams?: Readonly<Record<string, Partial<Upstream>>>
  /** Changes to all upstreams. */
  readonly everyUpstream?: Partial<Upstream>
  /**
   * By entry id: ids of the upstreams to serve the entry with, in place of its own. For each, the entry gets a copy of its
   * first target with `via` set to this id, and with the weight if one is given.
   */
  readonly targets?: Readonly<Record<string, readonly (string | readonly [via: string, weight: number])[]>>
  /** By entry id: what each target costs the operator. */
  readonly costs?: Readonly<Record<string, readonly UpstreamCost[]>>
  readonly settings?: Partial<Tables['settings']>
}

export function changedTables(changes: TableChanges): Tables {
  const upstreams: readonly Upstream[] = TABLES.upstreams
  const { entries } = LASTING_TABLES
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
 * Changes the tables so that every call that must be converted is converted to the standard wire (format) of its model, even if
 * the model accepts other wires.
 */
export function standardFirst(tables: Tables = LASTING_TABLES): Tables {
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
