/** Catalogue entries as shown on the pages. */

import type { Catalogue, CatalogueItem } from '../../catalogue/catalogue.ts'
import { type MicroVnd, microVnd } from '../../lib/money.ts'

export interface ModelView {
  readonly id: string
  readonly name: string
  readonly kind: 'chat' | 'image' | 'speech'
  readonly channel: 'standard' | 'aws'
  readonly capabilities: readonly string[]
  readonly contextTokens: number | null
  readonly outputTokensMax: number | null
  readonly priceVnd: number
  readonly pricePer: 'mtok' | 'request' | 'image'
  readonly priceUnitKey: string
  readonly isDeprecated: boolean
  readonly path: string
}

export function modelView({ entry, deprecatedFromMs }: CatalogueItem, now: Date): ModelView {
  const hasTokens = entry.kind === 'chat'
  return {
    id: entry.id,
    name: entry.name,
    kind: entry.kind,
    channel: entry.channel,
    capabilities: entry.capabilities,
    contextTokens: hasTokens ? entry.contextTokens : null,
    outputTokensMax: hasTokens ? entry.outputTokensMax : null,
    priceVnd: entry.price.vnd,
    pricePer: entry.price.per,
    priceUnitKey: `unit.${entry.price.per}`,
    isDeprecated: deprecatedFromMs <= now.getTime(),
    path: `/models/${entry.id}`,
  }
}

/** The price of calls of a given size. */
export function costOf(
  { entry, unitPriceMicroVnd }: CatalogueItem,
  units: { tokens: number; calls: number },
): MicroVnd {
  return microVnd(unitPriceMicroVnd * BigInt(entry.price.per === 'mtok' ? units.tokens : units.calls))
}

export interface FamilyView {
  readonly name: string
  readonly count: number
  readonly tokenVnd: number | null
  readonly callVnd: number | null
  readonly query: string
}

/** Chat families by number of entries, largest first, without entries of other kinds. */
export function familyViews(catalogue: Catalogue): FamilyView[] {
  const chat = catalogue.items.filter(item => item.entry.kind === 'chat' && !catalogue.isRetired(item))
  const families = Object.entries(Object.groupBy(chat, item => item.entry.family))
  return families
    .map(([family, items = []]) => ({
      name: familyName(family, items),
      count: items.length,
      tokenVnd: lowestPrice(items, 'mtok'),
      callVnd: lowestPrice(items, 'request'),
      query: `?q=${encodeURIComponent(family)}`,
    }))
    .sort((left, right) => right.count - left.count || left.name.localeCompare(right.name))
}

export function lowestPrice(items: readonly CatalogueItem[], per: ModelView['pricePer']): number | null {
  const prices = items.filter(({ entry }) => entry.price.per === per).map(({ entry }) => entry.price.vnd)
  return prices.length === 0 ? null : Math.min(...prices)
}

/** First word of the models' names without the version: families have ids, but no display names. */
function familyName(family: string, items: readonly CatalogueItem[]): string {
  const words = items.map(({ entry }) => (entry.name.split(/[\s/-]/)[0] as string).replace(/[\d.]+$/, ''))
  const word = words.sort((left, right) => left.length - right.length)[0] ?? family
  return word === word.toLowerCase() ? family : word
}
