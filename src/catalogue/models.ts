/** Models as people know them: what a vendor makes, with the entries under which it is sold. */

import type { Catalogue, CatalogueItem } from './catalogue.ts'

export interface CatalogueModel {
  /** The entry that stands for the model: priced by the token, on the standard channel, where there is one. */
  readonly main: CatalogueItem
  readonly name: string
  /** Entries that can be called now: `main` first, then AWS, then those priced per call. */
  readonly items: readonly CatalogueItem[]
}

/** What people call a vendor. */
export function vendorName({ settings }: Catalogue, vendor: string): string {
  return settings.vendorNames[vendor] ?? vendor
}

/** All models with an entry that has not retired, in the order of their ids. */
export function modelsOf(catalogue: Catalogue): readonly CatalogueModel[] {
  const present = catalogue.items.filter(item => !catalogue.isRetired(item))
  return [...Map.groupBy(present, keyOf).values()].map(modelWith)
}

/** The model of an entry; a retired entry stands alone. */
export function modelOf(catalogue: Catalogue, item: CatalogueItem): CatalogueModel {
  const key = keyOf(item)
  const items = catalogue.items.filter(other => keyOf(other) === key && !catalogue.isRetired(other))
  return modelWith(items.length === 0 ? [item] : items)
}

function keyOf({ entry }: CatalogueItem): string {
  return `${entry.family} ${entry.modelName}`
}

function modelWith(items: readonly CatalogueItem[]): CatalogueModel {
  const sorted = items.toSorted((left, right) => rankOf(left) - rankOf(right))
  const main = sorted[0] as CatalogueItem
  return { main, name: main.entry.modelName, items: sorted }
}

function rankOf({ entry }: CatalogueItem): number {
  return (entry.price.per === 'mtok' ? 0 : 2) + (entry.channel === 'standard' ? 0 : 1)
}

/**
 * The number of tokens, input and output together, from which a call at a fixed price costs no more than the same call by the
 * token. Null unless one is priced by the call and the other by the token.
 */
export function breakEvenTokens(perCall: CatalogueItem, perToken: CatalogueItem): number | null {
  if (perCall.entry.price.per !== 'request' || perToken.entry.price.per !== 'mtok') return null
  const { unitPriceMicroVnd: callPrice } = perCall
  const { unitPriceMicroVnd: tokenPrice } = perToken
  return Number((callPrice + tokenPrice - 1n) / tokenPrice)
}
