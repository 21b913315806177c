/** Computes what a month of usage would cost under other prices. */

import type { ModelEntry, Price, Tables } from '../../src/generated/types.ts'
import { compareText } from '../findings.ts'
import { entryLookup } from './entry-lookup.ts'
import { imagesOf, readChargedCalls } from './usage-rows.ts'

export interface UsageRow {
  readonly name: string
  /** Number of calls that were charged. */
  readonly calls: number
  readonly oldVnd: bigint
  readonly newVnd: bigint
}

export interface UsageEffect {
  /** A row per name in the usage, largest effect first. */
  readonly rows: readonly UsageRow[]
  readonly oldVnd: bigint
  readonly newVnd: bigint
  /** Names in the usage that the old catalogue does not know. */
  readonly unknown: readonly string[]
}

interface Tally {
  calls: number
  tokens: bigint
  /** Number of images, for entries priced per image. */
  images: bigint
}

const MICRO = 1_000_000n

/**
 * Compares what the usage costs under both catalogues. Counts only calls that cost something. Prices their tokens and calls
 * again, so it does not matter what the calls were charged at the time. A retirement that only the new catalogue announces is
 * priced as if it had already happened. `today` is an ISO date. Throws if a column is missing.
 */
export async function usageEffect(
  chunks: AsyncIterable<string>,
  old: Tables,
  now: Tables,
  today: string,
): Promise<UsageEffect> {
  const lookups = { old: entryLookup(old, today), now: entryLookup(now, today) }
  // A name in the usage may be an id or an alias of the old catalogue.
  const known = (name: string) =>
    lookups.old.names.has(name) ? (lookups.old.entry(name) ?? lookups.old.servedBy(name)) : undefined
  const tallies = await tally(chunks, known)
  const priceNow = (name: string, { kind, price }: ModelEntry): Price => {
    const afterRetirements = lookups.now.servedAfterRetirements(name, kind)
    const isNewEnd = afterRetirements?.id !== lookups.old.servedAfterRetirements(name, kind)?.id
    return (isNewEnd ? afterRetirements : lookups.now.servedBy(name, kind))?.price ?? price
  }
  const unknown = [...tallies.keys()].filter(name => known(name) === undefined).toSorted(compareText)
  const rows = [...tallies].flatMap(([name, each]): UsageRow[] => {
    const entry = known(name)
    if (entry === undefined) return []
    const oldPrice = lookups.old.servedBy(name, entry.kind)?.price ?? entry.price
    return [{ name, calls: each.calls, oldVnd: costVnd(each, oldPrice), newVnd: costVnd(each, priceNow(name, entry)) }]
  })
  const effect = (row: UsageRow) => (row.newVnd > row.oldVnd ? row.newVnd - row.oldVnd : row.oldVnd - row.newVnd)
  return {
    rows: rows.toSorted(
      (a, b) => Number(effect(b) > effect(a)) - Number(effect(b) < effect(a)) || compareText(a.name, b.name),
    ),
    oldVnd: rows.reduce((sum, row) => sum + row.oldVnd, 0n),
    newVnd: rows.reduce((sum, row) => sum + row.newVnd, 0n),
    unknown,
  }
}

async function tally(
  chunks: AsyncIterable<string>,
  known: (name: string) => ModelEntry | undefined,
): Promise<Map<string, Tally>> {
  const tallies = new Map<string, Tally>()
  for await (const call of readChargedCalls(chunks)) {
    const each = tallies.get(call.model) ?? { calls: 0, tokens: 0n, images: 0n }
    tallies.set(call.model, each)
    each.calls++
    each.tokens += call.inputTokens + call.outputTokens
    const price = known(call.model)?.price
    if (price?.per === 'image') each.images += imagesOf(call, price.vnd)
  }
  return tallies
}

/** What the usage costs at a price, rounded to whole dong for display. */
function costVnd(each: Tally, price: Price): bigint {
  if (price.per === 'mtok') return (each.tokens * BigInt(price.vnd) + MICRO / 2n) / MICRO
  return BigInt(price.vnd) * (price.per === 'image' ? each.images : BigInt(each.calls))
}
