/** Finds how changed prices or costs affect margins. */

import type { ModelEntry, Tables } from '../../src/generated/types.ts'
import { type EntryMargin, type MixMargin, marginsOf, ratesOn } from './margins.ts'

export interface MarginChange {
  readonly name: string
  /** The entry's first mix, the typical call that decides whether the entry loses money. `old` and `new` are its margins. */
  readonly mix: MixMargin['mix']
  /** Null if the cost was unknown. */
  readonly old: MixMargin | null
  /** Null if the cost is no longer known. */
  readonly new: MixMargin | null
}

/** Margins of entries in both tables whose price or cost differs on `today`, an ISO date; largest loss first. */
export function marginChanges(old: Tables, now: Tables, today: string): MarginChange[] {
  const before = new Map(old.entries.map(entry => [entry.id, entry]))
  const rates = { old: ratesOn(old, today), now: ratesOn(now, today) }
  return now.entries
    .flatMap((entry): MarginChange[] => {
      const earlier = before.get(entry.id)
      if (earlier === undefined) return []
      const [was, is] = [marginsOf(earlier, rates.old), marginsOf(entry, rates.now)]
      const mix = is.mixes[0]?.mix ?? was.mixes[0]?.mix
      if (mix === undefined || factsOf(earlier, was) === factsOf(entry, is)) return []
      return [{ name: entry.id, mix, old: was.mixes[0] ?? null, new: is.mixes[0] ?? null }]
    })
    .toSorted((a, b) => (a.new?.marginPercent ?? 0) - (b.new?.marginPercent ?? 0))
}

function factsOf({ price }: ModelEntry, { mixes }: EntryMargin): string {
  return [price.vnd, price.per, ...mixes.map(({ mix, costMicroVnd }) => `${mix} ${costMicroVnd}`)].join(' ')
}
