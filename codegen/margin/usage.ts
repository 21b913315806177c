/**
 * Computes what a usage export, such as a month's calls, would earn at the prices and costs of a single day. Costs distinguish
 * fresh input, cache reads, cache writes and output.
 */

import { costIfReported } from '../../src/catalogue/cost.ts'
import type { ModelEntry, Tables } from '../../src/generated/types.ts'
import { entryLookup } from '../diff/entry-lookup.ts'
import { type ChargedCall, imagesOf, readChargedCalls } from '../diff/usage-rows.ts'
import { compareText } from '../findings.ts'
import { marginPercent, type RatesOn, ratesOn, weighedCost } from './margins.ts'

export interface UsageMargin {
  /** The model's name in the usage export. */
  readonly name: string
  /** Number of calls that were charged. */
  readonly calls: number
  readonly revenueMicroVnd: bigint
  /** Null if the cost of any call is unknown. */
  readonly costMicroVnd: bigint | null
  readonly marginMicroVnd: bigint | null
  readonly marginPercent: number | null
}

export interface UsageMargins {
  /** Largest loss in dong first; unknown cost last. */
  readonly rows: readonly UsageMargin[]
  /** Sum over the rows whose cost is known; `costMicroVnd` is the sum over the same rows. */
  readonly revenueMicroVnd: bigint
  readonly costMicroVnd: bigint
  /** Model names in the export that are not in the catalogue. */
  readonly unknown: readonly string[]
}

interface Tally {
  calls: number
  revenue: bigint
  cost: bigint | null
}

const MICRO = 1_000_000n

/** Computes the margins of a usage export at the prices and costs of `today`, an ISO date. Throws if a column is missing. */
export async function usageMargins(
  chunks: AsyncIterable<string>,
  tables: Tables,
  today: string,
): Promise<UsageMargins> {
  const lookup = entryLookup(tables, today)
  const rates = ratesOn(tables, today)
  const tallies = new Map<string, Tally>()
  const unknown = new Set<string>()
  for await (const call of readChargedCalls(chunks)) {
    const entry = lookup.servedBy(call.model, lookup.entry(call.model)?.kind ?? 'chat')
    if (entry === undefined || !lookup.names.has(call.model)) {
      unknown.add(call.model)
      continue
    }
    const each = tallies.get(call.model) ?? { calls: 0, revenue: 0n, cost: 0n }
    tallies.set(call.model, each)
    const cost = costOfCall(entry, call, rates)
    each.calls++
    each.revenue += revenueOf(entry, call)
    each.cost = cost === null || each.cost === null ? null : each.cost + cost
  }
  const rows = [...tallies].map(([name, tally]) => marginOf(name, tally)).toSorted(byLoss)
  const known = rows.filter(row => row.costMicroVnd !== null)
  return {
    rows,
    revenueMicroVnd: known.reduce((sum, row) => sum + row.revenueMicroVnd, 0n),
    costMicroVnd: known.reduce((sum, row) => sum + (row.costMicroVnd ?? 0n), 0n),
    unknown: [...unknown].toSorted(compareText),
  }
}

function marginOf(name: string, { calls, revenue, cost }: Tally): UsageMargin {
  return {
    name,
    calls,
    revenueMicroVnd: revenue,
    costMicroVnd: cost,
    marginMicroVnd: cost === null ? null : revenue - cost,
    marginPercent: cost === null || revenue === 0n ? null : marginPercent(revenue, cost),
  }
}

function byLoss(a: UsageMargin, b: UsageMargin): number {
  if (a.marginMicroVnd === null || b.marginMicroVnd === null)
    return Number(a.marginMicroVnd === null) - Number(b.marginMicroVnd === null) || compareText(a.name, b.name)
  return (
    Number(a.marginMicroVnd > b.marginMicroVnd) - Number(a.marginMicroVnd < b.marginMicroVnd) ||
    compareText(a.name, b.name)
  )
}

function revenueOf({ price }: ModelEntry, call: ChargedCall): bigint {
  const vnd = BigInt(price.vnd)
  if (price.per === 'mtok') return vnd * (call.inputTokens + call.outputTokens)
  return vnd * MICRO * (price.per === 'image' ? imagesOf(call, price.vnd) : 1n)
}

/**
 * What a call costs the operator. The export does not say which upstream target served the call, so this is the average over
 * the targets that share the entry's calls. Null if one of their costs is unknown.
 */
function costOfCall(entry: ModelEntry, call: ChargedCall, rates: RatesOn): bigint | null {
  const { price } = entry
  const units = {
    inputTokens: Number(call.inputTokens),
    cachedInputTokens: Number(call.cachedInputTokens),
    cacheWriteTokens: Number(call.cacheWriteTokens),
    outputTokens: Number(call.outputTokens),
    images: price.per === 'image' ? Number(imagesOf(call, price.vnd)) : 0,
  }
  return weighedCost(entry, rates, known => costIfReported(known, units))
}
