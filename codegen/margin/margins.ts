/** Computes the cost and margin of each entry on a given day. */

import {
  type CostRates,
  costIfReported,
  type TargetCost,
  targetCosts,
  tokenRatesFor,
} from '../../src/catalogue/cost.ts'
import type { ModelEntry, Price, Tables } from '../../src/generated/types.ts'
import { entryLookup } from '../diff/entry-lookup.ts'
import { compareText } from '../findings.ts'
import { CALL_INPUT_TOKENS, type Mix, mixesOf } from './mixes.ts'

export interface MixMargin {
  readonly mix: Mix['name']
  /** Cost of what one price buys: a million tokens, a call or an image. */
  readonly costMicroVnd: bigint
  /** Price minus cost, in percent of the price; negative for a loss. */
  readonly marginPercent: number
}

export interface EntryMargin {
  readonly id: string
  readonly price: Price
  /**
   * The margin for each mix of tokens or images that the price may buy (see `mixes.ts`). The first mix decides whether the
   * entry loses money. Empty if the entry's cost is unknown.
   */
  readonly mixes: readonly MixMargin[]
}

const MICRO = 1_000_000n

/** Returns what a target costs on a certain day; null if that is unknown. */
export type RatesOn = (target: ModelEntry['upstreams'][number]) => CostRates | null

/** Returns a lookup for what targets cost on `today`, an ISO date. */
export function ratesOn(tables: Tables, today: string): RatesOn {
  const costs = targetCosts(tables)
  const atMs = Date.parse(`${today}T00:00:00Z`)
  return target => (costs.get(target) as TargetCost | undefined)?.ratesAt(atMs) ?? null
}

/**
 * Margins of all entries, largest loss first; entries of unknown cost come last, by id. Omits entries that have retired by
 * `today`.
 */
export function entryMargins(tables: Tables, today: string): EntryMargin[] {
  const rates = ratesOn(tables, today)
  const lookup = entryLookup(tables, today)
  return tables.entries
    .filter(entry => lookup.servedBy(entry.id, entry.kind) === entry)
    .map(entry => marginsOf(entry, rates))
    .toSorted(byLoss)
}

/** Whether an entry is sold below cost in its first mix. The other mixes are only shown. */
export function loses({ price, mixes: [decisive] }: EntryMargin): boolean {
  return decisive !== undefined && decisive.costMicroVnd > BigInt(price.vnd) * MICRO
}

export function byLoss(a: EntryMargin, b: EntryMargin): number {
  const [first, second] = [a.mixes[0]?.marginPercent, b.mixes[0]?.marginPercent]
  if (first === undefined || second === undefined)
    return Number(first === undefined) - Number(second === undefined) || compareText(a.id, b.id)
  return first - second || compareText(a.id, b.id)
}

export function marginsOf(entry: ModelEntry, rates: RatesOn): EntryMargin {
  const mixes = mixesOf(entry).flatMap((mix): MixMargin[] => {
    const costMicroVnd = weighedCost(entry, rates, known => costOfMix(known, mix))
    if (costMicroVnd === null) return []
    return [
      { mix: mix.name, costMicroVnd, marginPercent: marginPercent(BigInt(entry.price.vnd) * MICRO, costMicroVnd) },
    ]
  })
  return { id: entry.id, price: entry.price, mixes }
}

/** Margin in percent of the revenue, to one decimal. */
export function marginPercent(revenueMicroVnd: bigint, costMicroVnd: bigint): number {
  const margin = (revenueMicroVnd - costMicroVnd) * 1_000n
  const half = margin < 0n ? -revenueMicroVnd / 2n : revenueMicroVnd / 2n
  return Number((margin + half) / revenueMicroVnd) / 10
}

/**
 * Cost at the first target or, if several targets share the calls, the average over them by weight. Null if one of these costs is
 * unknown.
 */
export function weighedCost(
  { upstreams }: ModelEntry,
  rates: RatesOn,
  costOf: (known: CostRates) => bigint | null,
): bigint | null {
  const weighed = upstreams.filter(target => target.weight > 0)
  const takers = weighed.length > 0 ? weighed : upstreams.slice(0, 1)
  let [sum, weights] = [0n, 0n]
  for (const target of takers) {
    const weight = BigInt(Math.max(1, target.weight))
    const known = rates(target)
    const cost = known === null ? null : costOf(known)
    if (cost === null) return null
    sum += cost * weight
    weights += weight
  }
  return (sum + weights / 2n) / weights
}

function costOfMix(rates: CostRates, { name, units }: Mix): bigint | null {
  if (name === 'image' && rates.image === null) return null
  if (name === 'speech' && rates.call === null) return null
  // A usage mix may total a million tokens, but over many calls, so the size of a typical call decides the price tier.
  const plain = { ...rates, tokens: tokenRatesFor(rates, CALL_INPUT_TOKENS), tiers: [] }
  return costIfReported(name === 'image' || name === 'speech' ? { ...plain, tokens: null } : plain, units)
}
