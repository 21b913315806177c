/** Groups entries into models as people know them: a vendor's model may be sold under several entries. */

import type { Catalogue, CatalogueItem } from './catalogue.ts'

export interface CatalogueModel {
  /** The entry that represents the model, preferably one priced per token on the standard channel. */
  readonly main: CatalogueItem
  readonly name: string
  /** Entries that can be called now: `main` first, then AWS entries, then entries priced per call. */
  readonly items: readonly CatalogueItem[]
}

export function vendorName({ settings }: Catalogue, vendor: string): string {
  return settings.vendorNames[vendor] ?? vendor
}

/** All models with at least one entry that has not retired, in order of their ids. */
export function modelsOf(catalogue: Catalogue): readonly CatalogueModel[] {
  const present = catalogue.items.filter(item => !catalogue.isRetired(item))
  return [...Map.groupBy(present, keyOf).values()].map(modelWith)
}

/**
 * Returns the model that an entry belongs to, with all its entries that have not retired. If all have retired, the model has
 * only the given entry.
 */
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
 * The smallest number of tokens (input plus output) at which a call costs no more by the price per call than by the price per
 * token. Null unless one entry is priced per call and the other per token.
 */
export function breakEvenTokens(perCall: CatalogueItem, perToken: CatalogueItem): number | null {
  if (perCall.entry.price.per !== 'request' || perToken.entry.price.per !== 'mtok') return null
  const { unitPriceMicroVnd: callPrice } = perCall
  const { unitPriceMicroVnd: tokenPrice } = perToken
  return Number((callPrice + tokenPrice - 1n) / tokenPrice)
}
