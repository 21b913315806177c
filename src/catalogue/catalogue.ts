/** The catalogue at run time: names to entries without work per call, over tables that never change while a process lives. */

import type { CatalogueSettings, Endpoint, ModelEntry, Tables, Upstream } from '../generated/types.ts'
import { type MicroVnd, microVnd, vndToMicro } from '../lib/money.ts'

/** What is worked out once for each entry. */
export interface CatalogueItem {
  readonly entry: ModelEntry
  /** Price of one token, one call or one image (as `entry.price.per` says), in µVND. */
  readonly unitPriceMicroVnd: MicroVnd
  /** The price in whole dong, as headers and lists print it. */
  readonly priceText: string
  readonly endpoints: ReadonlySet<Endpoint>
  /**
   * Milliseconds since 1970 from which clients are warned: the day of the deprecation, and 60 days before the end at the
   * latest. Infinity when there is nothing to warn of.
   */
  readonly deprecatedFromMs: number
  /** Milliseconds since 1970 from which the id maps to its successor; Infinity when it stays, or nothing can succeed it. */
  readonly retiresAtMs: number
  /** Response headers that warn of the deprecation (RFC 9745, RFC 8594, and the successor), or null. */
  readonly deprecationHeaders: Readonly<Record<string, string>> | null
}

export interface Resolution {
  readonly item: CatalogueItem
  readonly entry: ModelEntry
  /** The name that the client sent, when it is not the entry's own; else null. */
  readonly mappedFrom: string | null
}

export interface Catalogue {
  readonly settings: CatalogueSettings
  /** All entries, sorted by id. */
  readonly items: readonly CatalogueItem[]
  readonly upstreams: ReadonlyMap<string, Upstream>
  /**
   * Exact id, then alias, then null; a trailing `[1m]` does not matter. Allocates nothing. What to do with null is the
   * endpoint's choice: the chat endpoints take `fallback`.
   */
  resolve(name: string): Resolution | null
  /** The fallback entry for a name that `resolve` does not know. */
  fallback(name: string): Resolution
  /** Entries that are served on an endpoint and not retired, sorted by id. */
  servedOn(endpoint: Endpoint): readonly CatalogueItem[]
  /** How many entries have retired by now: lists that were rendered under another number are out of date. */
  retiredCount(): number
  isRetired(item: CatalogueItem): boolean
}

export interface CatalogueOptions {
  /** Milliseconds since 1970; asked only for entries that have a date. */
  readonly now: () => number
}

/** Suffix with which coding agents ask for the long context; every entry has its full context anyway. */
const LONG_CONTEXT_SUFFIX = '[1m]'

/** Clients hear of an end at least so long before it, whatever day the deprecation is of. */
const NOTICE_DAYS = 60
const DAY_MS = 86_400_000

interface Named {
  readonly resolution: Resolution
  /** What the name means once the entry has retired. */
  readonly afterRetirement: Resolution | null
}

/** Throws RangeError on tables that contradict themselves; generated tables never do. */
export function createCatalogue(tables: Tables, options: CatalogueOptions = { now: Date.now }): Catalogue {
  const { now } = options
  const { settings } = tables
  const items = tables.entries.map(entry => createItem(entry, settings.service))
  const byId = new Map(items.map(item => [item.entry.id, item]))
  const itemOf = (id: string, what: string): CatalogueItem => {
    const item = byId.get(id)
    if (item === undefined) throw new RangeError(`${what} names ${id}, which is not an entry`)
    return item
  }
  const fallbackItem = itemOf(settings.fallback, 'the fallback')

  const named = new Map<string, Named>()
  const add = (name: string, item: CatalogueItem, isOwnName: boolean) => {
    const successor = item.entry.deprecated?.successor ?? null
    const heir = successor === null ? null : itemOf(successor, item.entry.id)
    for (const spelling of [name, name + LONG_CONTEXT_SUFFIX]) {
      named.set(spelling, {
        resolution: { item, entry: item.entry, mappedFrom: isOwnName ? null : spelling },
        afterRetirement: heir === null ? null : { item: heir, entry: heir.entry, mappedFrom: spelling },
      })
    }
  }
  for (const [alias, id] of Object.entries(settings.aliases)) add(alias, itemOf(id, `alias ${alias}`), false)
  for (const item of items) add(item.entry.id, item, true)

  const dated = items.filter(item => item.retiresAtMs !== Number.POSITIVE_INFINITY)
  const isRetired = (item: CatalogueItem) => item.retiresAtMs !== Number.POSITIVE_INFINITY && item.retiresAtMs <= now()
  const isReachable = (item: CatalogueItem) => !isRetired(item)

  return {
    settings,
    items,
    upstreams: new Map(tables.upstreams.map(upstream => [upstream.id, upstream])),
    resolve(name) {
      const found = named.get(name)
      if (found === undefined) return null
      return isRetired(found.resolution.item) ? found.afterRetirement : found.resolution
    },
    fallback: name => ({ item: fallbackItem, entry: fallbackItem.entry, mappedFrom: name }),
    servedOn: endpoint => items.filter(item => item.endpoints.has(endpoint) && isReachable(item)),
    retiredCount: () => dated.filter(isRetired).length,
    isRetired,
  }
}

function createItem(entry: ModelEntry, service: string): CatalogueItem {
  const { vnd, per } = entry.price
  const deprecated = entry.deprecated
  const endsAtMs = startOfDayMs(deprecated?.retiresOn ?? null)
  return {
    entry,
    // A price per million tokens in VND is the price of one token in µVND.
    unitPriceMicroVnd: per === 'mtok' ? microVnd(BigInt(vnd)) : vndToMicro(vnd),
    priceText: String(vnd),
    endpoints: new Set(entry.endpoints),
    deprecatedFromMs: Math.min(startOfDayMs(deprecated?.sinceOn ?? null), endsAtMs - NOTICE_DAYS * DAY_MS),
    retiresAtMs: deprecated === null || deprecated.successor === null ? Number.POSITIVE_INFINITY : endsAtMs,
    deprecationHeaders: deprecated === null ? null : deprecationHeaders(deprecated, service),
  }
}

function deprecationHeaders(
  deprecated: NonNullable<ModelEntry['deprecated']>,
  service: string,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { deprecation: `@${startOfDayMs(deprecated.sinceOn) / 1000}` }
  if (deprecated.retiresOn !== null) headers.sunset = new Date(startOfDayMs(deprecated.retiresOn)).toUTCString()
  if (deprecated.successor !== null) headers[`x-${service}-model-successor`] = deprecated.successor
  return headers
}

/** Midnight UTC of an ISO date, in milliseconds since 1970; Infinity for null. */
function startOfDayMs(date: string | null): number {
  return date === null ? Number.POSITIVE_INFINITY : Date.parse(`${date}T00:00:00Z`)
}
