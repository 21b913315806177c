/** Compares two resolved catalogues: prices per name, fields per entry, aliases and upstreams. */

import type { ModelEntry, Price, Tables } from '../../src/generated/types.ts'
import { canonicalJson } from '../canonical.ts'
import { compareText } from '../findings.ts'
import { type MarginChange, marginChanges } from '../margin/changes.ts'
import { type EntryLookup, entryLookup } from './entry-lookup.ts'
import { EXTRAS_PREFIX, type ExtraJudgement, judgeExtra } from './extras.ts'
import { changesOf, entryChanges, type FactChange, groupChanges, type SchemaDefaults } from './fact-changes.ts'
import { type Facts, steps, upstreamFacts } from './facts.ts'

export interface PriceChange {
  /** Name of an entry or alias, or `fallback`. */
  readonly name: string
  /** retirement: the price applies once the entry has retired. removal: the fallback serves calls for a name that is gone. */
  readonly kind: 'entry' | 'alias' | 'fallback' | 'retirement' | 'removal'
  /** The entry that serves the name at the new price. */
  readonly servedBy: string
  readonly old: Price
  readonly new: Price
  /** Change as a percentage of the old price; null if the unit changes. */
  readonly percent: number | null
  /** True if the change exceeds the threshold or the unit changed. */
  readonly isLarge: boolean
  readonly isAcknowledged: boolean
}

export interface ExtraChange extends FactChange, ExtraJudgement {
  readonly isAcknowledged: boolean
}

export interface RemovedEntry extends ModelEntry {
  /** The entry that serves calls for the removed id from now on; null if they are refused. */
  readonly servedBy: string | null
}

export interface CatalogueDiff {
  readonly prices: readonly PriceChange[]
  /** Margin changes as of `DiffOptions.today`. */
  readonly margins: readonly MarginChange[]
  readonly added: readonly ModelEntry[]
  readonly removed: readonly RemovedEntry[]
  readonly facts: readonly FactChange[]
  /** Changes in how the gateway treats fields and tools that make a provider charge for more than tokens. */
  readonly extras: readonly ExtraChange[]
  /** Changes to aliases, the fallback, upstreams and other settings. */
  readonly settings: readonly FactChange[]
}

export interface Acknowledgement {
  readonly name: string
  readonly price: { readonly vnd: number; readonly per: Price['per'] | 'use' }
}

/**
 * Safety nets in catalogue.yaml: the lowest price allowed per unit, and the expected numbers of entries. The catalogue's checks
 * use them; the generated tables do not contain them.
 */
export interface SafetyNets {
  readonly floors: Readonly<Record<string, unknown>>
  readonly counts: Readonly<Record<string, unknown>>
}

export interface DiffOptions {
  /** Passed separately because tables do not contain them. They are not compared if left out. */
  readonly safetyNets?: { readonly old: SafetyNets; readonly now: SafetyNets }
  /** ISO date; entries retired by then are served by their successors. */
  readonly today: string
  /** Largest price change, up or down, that needs no acknowledgement. */
  readonly thresholdPercent: number
  readonly acknowledged: readonly Acknowledgement[]
  readonly schemaDefaults: SchemaDefaults
}

export function diffTables(old: Tables, now: Tables, options: DiffOptions): CatalogueDiff {
  const before = byId(old)
  const after = byId(now)
  const sorted = now.entries.toSorted((a, b) => compareText(a.id, b.id))
  const common = sorted.filter(entry => before.has(entry.id))
  const lookups = { old: entryLookup(old, options.today), now: entryLookup(now, options.today) }
  const changes = groupChanges(
    common.flatMap(entry => entryChanges(before.get(entry.id) as ModelEntry, entry, options.schemaDefaults)),
  )
  return {
    prices: [
      ...entryPrices(common, before, options),
      ...retirementPrices(common, lookups, options),
      ...mappedPrices(lookups, options),
      ...vendorPrices(lookups, options),
    ],
    margins: marginChanges(old, now, options.today),
    added: sorted.filter(entry => !before.has(entry.id)),
    removed: old.entries
      .filter(entry => !after.has(entry.id))
      .toSorted((a, b) => compareText(a.id, b.id))
      .map(entry => ({ ...entry, servedBy: lookups.now.servedBy(entry.id, entry.kind)?.id ?? null })),
    facts: changes.filter(change => !change.what.startsWith(EXTRAS_PREFIX)),
    extras: changes.filter(change => change.what.startsWith(EXTRAS_PREFIX)).map(change => extraChange(change, options)),
    settings: [...settingChanges(old, now, options.safetyNets), ...upstreamChanges(old, now, options.schemaDefaults)],
  }
}

function extraChange(change: FactChange, options: DiffOptions): ExtraChange {
  const judgement = judgeExtra(change, options.thresholdPercent)
  const { word, vnd } = judgement
  return { ...change, ...judgement, isAcknowledged: isAcknowledged(options, word, { vnd, per: 'use' }) }
}

/** Large price changes that must not ship, because nobody has acknowledged them. */
export function unacknowledged(diff: CatalogueDiff): readonly PriceChange[] {
  return diff.prices.filter(change => change.isLarge && !change.isAcknowledged)
}

/** What to acknowledge before the changes may ship: large price changes, and tools that now cost, or cost far more, per use. */
export function missingAcknowledgements(diff: CatalogueDiff): readonly Acknowledgement[] {
  const uses = diff.extras.flatMap(({ word, vnd, isLarge, isAcknowledged }) =>
    vnd === null || !isLarge || isAcknowledged
      ? []
      : [[`${word} ${vnd}`, { name: word, price: { vnd, per: 'use' } }] as const],
  )
  return [...unacknowledged(diff).map(({ name, new: price }) => ({ name, price })), ...new Map(uses).values()]
}

function isAcknowledged(
  { acknowledged }: DiffOptions,
  name: string,
  { vnd, per }: { readonly vnd: number | null; readonly per: Acknowledgement['price']['per'] },
): boolean {
  return acknowledged.some(each => each.name === name && each.price.vnd === vnd && each.price.per === per)
}

function byId(tables: Tables): ReadonlyMap<string, ModelEntry> {
  return new Map(tables.entries.map(entry => [entry.id, entry]))
}

function entryPrices(common: readonly ModelEntry[], before: ReadonlyMap<string, ModelEntry>, options: DiffOptions) {
  return common.flatMap(entry => {
    const old = (before.get(entry.id) as ModelEntry).price
    return priceChange({ name: entry.id, kind: 'entry', old, servedBy: entry }, options)
  })
}

interface BothLookups {
  readonly old: EntryLookup
  readonly now: EntryLookup
}

/** Finds price changes that will come with retirements, because a retirement or its successor is new or has changed. */
function retirementPrices(common: readonly ModelEntry[], lookups: BothLookups, options: DiffOptions): PriceChange[] {
  return common.flatMap(({ id, kind }) => {
    const before = lookups.old.servedAfterRetirements(id, kind)
    const after = lookups.now.servedAfterRetirements(id, kind)
    if (before === undefined || after === undefined || before.id === after.id) return []
    return priceChange({ name: id, kind: 'retirement', old: before.price, servedBy: after }, options)
  })
}

/** Finds price changes of names that used to select a different entry: aliases, the fallback, and removed ids. */
function mappedPrices(lookups: BothLookups, options: DiffOptions): PriceChange[] {
  const names = ['fallback', ...[...lookups.old.names].filter(name => name !== 'fallback').toSorted(compareText)]
  return names.flatMap(name => {
    const own = lookups.now.entry(name)
    if (own !== undefined && lookups.old.entry(name) !== undefined) return []
    const before = lookups.old.servedBy(name, lookups.old.entry(name)?.kind)
    const after = before === undefined ? undefined : lookups.now.servedBy(name, before.kind)
    if (before === undefined || after === undefined || before.id === after.id) return []
    const kind =
      name === 'fallback' ? name : own !== undefined ? 'entry' : lookups.now.names.has(name) ? 'alias' : 'removal'
    return priceChange({ name, kind, old: before.price, servedBy: after }, options)
  })
}

/**
 * Finds price changes of names with a vendor in front, where the vendor's name is gone or means another vendor. Where the name
 * without it has changed as well, that is in the diff already.
 */
function vendorPrices({ old, now }: BothLookups, options: DiffOptions): PriceChange[] {
  return old.vendorNames().flatMap(([name, { id, kind }]) => {
    const [before, after] = [old.servedBy(name, kind), now.servedBy(name, kind)]
    if (before === undefined || after === undefined || before.id === after.id) return []
    if (after.id === now.servedBy(id, kind)?.id) return []
    return priceChange({ name, kind: 'removal', old: before.price, servedBy: after }, options)
  })
}

interface Served {
  readonly name: string
  readonly kind: PriceChange['kind']
  readonly old: Price
  readonly servedBy: ModelEntry
}

function priceChange({ name, kind, old, servedBy }: Served, options: DiffOptions): PriceChange[] {
  const now = servedBy.price
  if (old.vnd === now.vnd && old.per === now.per) return []
  const percent = old.per === now.per ? ((now.vnd - old.vnd) / old.vnd) * 100 : null
  const isLarge = percent === null || Math.abs(percent) > options.thresholdPercent
  const isMeant = isAcknowledged(options, name, now)
  return [{ name, kind, servedBy: servedBy.id, old, new: now, percent, isLarge, isAcknowledged: isMeant }]
}

const NO_SAFETY_NETS: SafetyNets = { floors: {}, counts: {} }

function settingChanges(old: Tables, now: Tables, safetyNets: DiffOptions['safetyNets']): FactChange[] {
  const facts = ({ settings }: Tables, { floors, counts } = NO_SAFETY_NETS): Facts =>
    new Map([
      ['service', settings.service],
      ['fallback', settings.fallback],
      ['rate_limit_per_minute', String(settings.rateLimitPerMinute)],
      ['concurrency_max', String(settings.concurrencyMax)],
      ...(settings.fx.length > 0 ? [['fx', steps(settings.fx)] as [string, string]] : []),
      ...Object.entries(floors).map(([unit, vnd]): [string, string] => [`floors.${unit}`, String(vnd)]),
      ...Object.entries(counts).map(([key, count]): [string, string] => [`counts.${key}`, String(count)]),
      ...[...Object.entries(settings.extras.fields), ...Object.entries(settings.extras.tools)].map(
        ([word, fact]): [string, string] => [`extras ${word}`, canonicalJson(fact)],
      ),
      ...Object.entries(settings.vendors).map(([name, vendor]): [string, string] => [`vendor ${name}`, vendor]),
      ...Object.entries(settings.vendorNames).map(([vendor, name]): [string, string] => [
        `vendor_names.${vendor}`,
        name,
      ]),
      ...Object.entries(settings.aliases)
        .toSorted(([a], [b]) => compareText(a, b))
        .map(([alias, id]): [string, string] => [`alias ${alias}`, id]),
    ])
  return changesOf('catalogue.yaml', facts(old, safetyNets?.old), facts(now, safetyNets?.now))
}

function upstreamChanges(old: Tables, now: Tables, defaults: SchemaDefaults): FactChange[] {
  const before = new Map(old.upstreams.map(upstream => [upstream.id, upstream]))
  const after = new Map(now.upstreams.map(upstream => [upstream.id, upstream]))
  const ids = [...new Set([...before.keys(), ...after.keys()])].toSorted(compareText)
  return ids.flatMap(id =>
    changesOf(`upstream ${id}`, upstreamFacts(before.get(id)), upstreamFacts(after.get(id)), defaults),
  )
}
