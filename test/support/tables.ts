/**
 * The tables that tests run on: the generated ones, but with prices and limits of their own and models that never retire. Tests
 * that need other upstreams or shorter timeouts change them.
 */

import { TABLES } from '../../src/generated/tables.ts'
import type { ModelEntry, Tables, Upstream, UpstreamCost, UpstreamTarget } from '../../src/generated/types.ts'

const ENTRIES: readonly ModelEntry[] = TABLES.entries

/**
 * Prices in tests, in VND per the unit of the entry, so that operators can change theirs: tests state the amounts that they expect.
 * The shipped prices are tested in `catalogue/entries.test.ts`.
 */
const TEST_PRICES_VND: Readonly<Record<string, number>> = {
  'claude-fable-5': 8300,
  'claude-opus-5': 6500,
  'req/claude-opus-5': 1500,
  'svc/claude-opus-5': 7900,
  'svc/claude-opus-4-6': 7900,
  'svc/claude-opus-4-5': 7600,
  'claude-haiku-4-5': 6500,
  'gpt-5.5': 2400,
  'req/gpt-5.5': 900,
  'gpt-5.5-instant': 2400,
  'gpt-5.4': 2400,
  'gpt-5.2': 2400,
  'gpt-6-sol': 2400,
  'gpt-6.1-terra': 2400,
  'deepseek-v4-flash': 1500,
  'req/deepseek-v4-pro': 260,
  'gemini-3.5-flash': 1900,
  'req/gemini-3.5-flash': 420,
  'req/gpt-image-2': 650,
  'req/gpt-4o-mini-tts': 1350,
}

/** Limits in tests, for the same reason. */
const TEST_LIMITS: Readonly<Record<string, Partial<ModelEntry>>> = {
  'claude-opus-5': { contextTokens: 1_000_000, outputTokensMax: 128_000 },
  'gpt-5.5': { contextTokens: 1_050_000, outputTokensMax: 128_000 },
  'req/gpt-image-2': { referencesMax: 4 },
}

/**
 * The generated tables with prices and limits for tests, and without retirements, so that no test depends on the day on which it
 * runs.
 */
export const LASTING_TABLES: Tables = {
  ...TABLES,
  entries: ENTRIES.map(entry => ({
    ...entry,
    ...TEST_LIMITS[entry.id],
    price: { ...entry.price, vnd: TEST_PRICES_VND[entry.id] ?? entry.price.vnd },
    deprecated: null,
  })),
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
