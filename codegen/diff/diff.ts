/** What one catalogue changes against another, resolved: prices per name, facts per entry, aliases, upstreams. Pure. */

import type { ModelEntry, Price, Tables } from '../../src/generated/types.ts'
import { compareText } from '../findings.ts'
import { entryFacts, type Facts, upstreamFacts } from './facts.ts'

export interface PriceChange {
  /** An entry, an alias, or `fallback`. */
  readonly name: string
  readonly kind: 'entry' | 'alias' | 'fallback'
  readonly old: Price
  readonly new: Price
  /** In percent of the old price; null when the unit changes. */
  readonly percent: number | null
  /** Beyond the threshold, or of another unit. */
  readonly isLarge: boolean
  readonly isAcknowledged: boolean
}

/** One changed fact with all entries that share the change. */
export interface FactChange {
  readonly what: string
  readonly old: string
  readonly new: string
  readonly names: readonly string[]
}

export interface CatalogueDiff {
  readonly prices: readonly PriceChange[]
  readonly added: readonly ModelEntry[]
  readonly removed: readonly ModelEntry[]
  readonly facts: readonly FactChange[]
  /** Aliases, the fallback, upstreams and other settings. */
  readonly settings: readonly FactChange[]
}

export interface Acknowledgement {
  readonly name: string
  readonly price: Price
}

export interface DiffOptions {
  /** Largest change of a price, up or down, that needs no acknowledgement. */
  readonly thresholdPercent: number
  readonly acknowledged: readonly Acknowledgement[]
  /** What each catalogue's schema gives for a word of the dialect that nobody wrote; a word is new or gone without effect. */
  readonly dialectDefaults: { readonly old: Facts; readonly now: Facts }
}

export function diffTables(old: Tables, now: Tables, options: DiffOptions): CatalogueDiff {
  const before = byId(old)
  const after = byId(now)
  const common = now.entries.filter(entry => before.has(entry.id))
  return {
    prices: [...entryPrices(common, before, options), ...mappedPrices(old, now, options)],
    added: now.entries.filter(entry => !before.has(entry.id)),
    removed: old.entries.filter(entry => !after.has(entry.id)),
    facts: groupChanges(
      common.flatMap(entry => {
        const oldFacts = entryFacts(before.get(entry.id) as ModelEntry)
        return changesOf(entry.id, oldFacts, entryFacts(entry), options.dialectDefaults)
      }),
    ),
    settings: [...settingChanges(old, now), ...upstreamChanges(old, now)],
  }
}

/** Changes that must not ship as they are. */
export function unacknowledged(diff: CatalogueDiff): readonly PriceChange[] {
  return diff.prices.filter(change => change.isLarge && !change.isAcknowledged)
}

function byId(tables: Tables): ReadonlyMap<string, ModelEntry> {
  return new Map(tables.entries.map(entry => [entry.id, entry]))
}

function entryPrices(common: readonly ModelEntry[], before: ReadonlyMap<string, ModelEntry>, options: DiffOptions) {
  return common.flatMap(entry => {
    const old = (before.get(entry.id) as ModelEntry).price
    return priceChange(entry.id, 'entry', old, entry.price, options)
  })
}

/** An alias or a fallback that means another entry changes what its callers pay. */
function mappedPrices(old: Tables, now: Tables, options: DiffOptions): PriceChange[] {
  const before = byId(old)
  const after = byId(now)
  const names: [string, PriceChange['kind'], string | undefined, string | undefined][] = [
    ['fallback', 'fallback', old.settings.fallback, now.settings.fallback],
    ...Object.keys(now.settings.aliases).map((alias): [string, 'alias', string | undefined, string | undefined] => [
      alias,
      'alias',
      old.settings.aliases[alias],
      now.settings.aliases[alias],
    ]),
  ]
  return names.flatMap(([name, kind, from, to]) => {
    if (from === undefined || to === undefined || from === to) return []
    const oldPrice = before.get(from)?.price
    const newPrice = after.get(to)?.price
    return oldPrice === undefined || newPrice === undefined ? [] : priceChange(name, kind, oldPrice, newPrice, options)
  })
}

function priceChange(
  name: string,
  kind: PriceChange['kind'],
  old: Price,
  now: Price,
  options: DiffOptions,
): PriceChange[] {
  if (old.vnd === now.vnd && old.per === now.per) return []
  const percent = old.per === now.per ? ((now.vnd - old.vnd) / old.vnd) * 100 : null
  const isLarge = percent === null || Math.abs(percent) > options.thresholdPercent
  const isAcknowledged = options.acknowledged.some(
    each => each.name === name && each.price.vnd === now.vnd && each.price.per === now.per,
  )
  return [{ name, kind, old, new: now, percent, isLarge, isAcknowledged }]
}

const ABSENT = '–'
const NO_DEFAULTS = { old: new Map<string, string>(), now: new Map<string, string>() }

function changesOf(
  name: string,
  old: Facts,
  now: Facts,
  defaults = NO_DEFAULTS as DiffOptions['dialectDefaults'],
): FactChange[] {
  const keys = [...new Set([...old.keys(), ...now.keys()])]
  return keys.flatMap(what => {
    const [word = ''] = what.split(' (')
    const before = old.get(what) ?? defaults.now.get(word) ?? ABSENT
    const after = now.get(what) ?? defaults.old.get(word) ?? ABSENT
    return before === after ? [] : [{ what, old: before, new: after, names: [name] }]
  })
}

/** One row for a change that many entries share, as one line of a family makes it. */
function groupChanges(changes: readonly FactChange[]): FactChange[] {
  const groups = Map.groupBy(changes, change => JSON.stringify([change.what, change.old, change.new]))
  return [...groups.values()]
    .map(group => ({ ...(group[0] as FactChange), names: group.flatMap(change => change.names) }))
    .toSorted((a, b) => compareText(a.what, b.what) || compareText(a.names[0] ?? '', b.names[0] ?? ''))
}

function settingChanges(old: Tables, now: Tables): FactChange[] {
  const facts = ({ settings }: Tables): Facts =>
    new Map([
      ['service', settings.service],
      ['fallback', settings.fallback],
      ['rate_limit_per_minute', String(settings.rateLimitPerMinute)],
      ...Object.entries(settings.aliases).map(([alias, id]): [string, string] => [`alias ${alias}`, id]),
    ])
  return changesOf('catalogue.yaml', facts(old), facts(now))
}

function upstreamChanges(old: Tables, now: Tables): FactChange[] {
  const before = new Map(old.upstreams.map(upstream => [upstream.id, upstream]))
  const after = new Map(now.upstreams.map(upstream => [upstream.id, upstream]))
  const ids = [...new Set([...before.keys(), ...after.keys()])].toSorted(compareText)
  return ids.flatMap(id => changesOf(`upstream ${id}`, upstreamFacts(before.get(id)), upstreamFacts(after.get(id))))
}
