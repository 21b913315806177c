/**
 * The catalogue at run time: resolves the names that clients send to entries. Its tables never change while the process lives, so
 * everything is computed once, at the start.
 */

import type { CatalogueSettings, Endpoint, ModelEntry, Tables, Upstream, UpstreamTarget } from '../generated/types.ts'
import { type CostRates, targetCosts } from './cost.ts'
import { type CatalogueItem, createItem, startOfDayMs } from './item.ts'
import { createNameIndex, type Resolution } from './names.ts'

export type { CatalogueItem } from './item.ts'
export type { Resolution } from './names.ts'

export interface Catalogue {
  readonly settings: CatalogueSettings
  /** All entries, sorted by id. */
  readonly items: readonly CatalogueItem[]
  readonly upstreams: ReadonlyMap<string, Upstream>
  /**
   * Resolves a name by id, then by alias. Case-insensitive; accepts a leading `vendor/` or a trailing `[1m]`. Null if the name
   * is unknown; the endpoint then decides what to do (the chat endpoints use `fallback`). Does not allocate if the name is
   * spelled as in the catalogue.
   */
  resolve(name: string): Resolution | null
  /** The fallback entry for a name that `resolve` does not know. */
  fallback(name: string): Resolution
  /** Entries served on the endpoint and not retired, sorted by id. */
  servedOn(endpoint: Endpoint): readonly CatalogueItem[]
  /** How many entries have retired so far. A list rendered when the count was lower is stale. */
  retiredCount(): number
  isRetired(item: CatalogueItem): boolean
  /** Whether the entry's last day is over and no other entry takes its place, so that only the provider knows if it still works. */
  hasEnded(entry: ModelEntry): boolean
  /** The operator's current purchase prices at this target; null if unknown. */
  costRates(target: UpstreamTarget): CostRates | null
}

export interface CatalogueOptions {
  /** The current time in milliseconds since 1970. Only used for entries with a deprecation date, and for costs. */
  readonly now: () => number
}

/** Throws RangeError if the tables contradict each other, which generated tables never do. */
export function createCatalogue(tables: Tables, options: CatalogueOptions = { now: Date.now }): Catalogue {
  const { now } = options
  const { settings } = tables
  const items = tables.entries
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(entry => createItem(entry, settings.service))
  const byId = new Map(items.map(item => [item.entry.id, item]))
  const itemOf = (id: string, what: string): CatalogueItem => {
    const item = byId.get(id)
    if (item === undefined) throw new RangeError(`${what} names ${id}, which is not a catalogue entry`)
    return item
  }
  const fallbackItem = itemOf(settings.fallback, 'the fallback')

  const successorOf = ({ entry }: CatalogueItem) => {
    const id = entry.deprecated?.successor ?? null
    return id === null ? null : itemOf(id, entry.id)
  }
  const find = createNameIndex({
    items,
    aliases: Object.entries(settings.aliases).map(([alias, id]) => [alias, itemOf(id, `alias ${alias}`)] as const),
    vendors: settings.vendors,
    successorOf,
  })

  const costs = targetCosts(tables)
  const dated = items.filter(item => item.retiresAtMs !== Number.POSITIVE_INFINITY)
  const isRetired = (item: CatalogueItem) => item.retiresAtMs !== Number.POSITIVE_INFINITY && item.retiresAtMs <= now()
  const isReachable = (item: CatalogueItem) => !isRetired(item)

  return {
    settings,
    items,
    upstreams: new Map(tables.upstreams.map(upstream => [upstream.id, upstream])),
    resolve(name) {
      const found = find(name)
      if (found === null) return null
      return isRetired(found.item) ? found.afterRetirement : found.resolution
    },
    fallback: name => ({
      item: fallbackItem,
      entry: fallbackItem.entry,
      mappedFrom: name,
      clientModel: fallbackItem.entry.id,
    }),
    servedOn: endpoint => items.filter(item => item.endpoints.has(endpoint) && isReachable(item)),
    retiredCount: () => dated.filter(isRetired).length,
    isRetired,
    hasEnded: ({ deprecated }) =>
      deprecated !== null && deprecated.successor === null && startOfDayMs(deprecated.retiresOn) <= now(),
    costRates: target => costs.get(target)?.ratesAt(now()) ?? null,
  }
}
