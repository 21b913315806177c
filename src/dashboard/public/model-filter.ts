/** Filters and sorts the price list. The URL contains the entire filter. */

import type { Catalogue } from '../../catalogue/catalogue.ts'
import { type CatalogueModel, modelsOf } from '../../catalogue/models.ts'
import type { Capability, Channel } from '../../generated/types.ts'
import type { Form } from '../form.ts'
import { type Found, searchModels } from './model-search.ts'
import { lowestPrice } from './model-view.ts'

export const CHANNELS: readonly Channel[] = ['standard', 'aws']
/** Values of the capability filter: abilities of chat models, and what other models produce. */
export const CAPABILITIES = ['reasoning', 'vision', 'tools', 'image', 'speech'] as const
export const UNITS = ['mtok', 'request', 'image'] as const
/** Choices for the minimum context, in tokens. */
export const CONTEXTS = ['128000', '200000', '400000', '1000000'] as const
export const SORTS = ['featured', 'price', 'context', 'newest', 'name'] as const

export interface ModelFilter {
  readonly q: string
  readonly vendor: string | null
  readonly capability: (typeof CAPABILITIES)[number] | null
  readonly channel: Channel | null
  readonly unit: (typeof UNITS)[number] | null
  /** Highest price, in dong per million tokens. */
  readonly priceMax: string | null
  readonly contextMin: (typeof CONTEXTS)[number] | null
  readonly sort: (typeof SORTS)[number]
}

export interface FilterChoices {
  readonly vendors: readonly string[]
  readonly prices: readonly string[]
}

export function filterChoices(catalogue: Catalogue): FilterChoices {
  const models = modelsOf(catalogue)
  const prices = models.map(({ items }) => lowestPrice(items, 'mtok')).filter(price => price !== null)
  return {
    vendors: [...new Set(models.map(({ main }) => main.entry.vendor))].sort(),
    prices: priceSteps(prices.toSorted((left, right) => left - right)).map(String),
  }
}

/** The 25th, 50th and 75th percentiles of the prices, without duplicates. */
function priceSteps(sorted: readonly number[]): number[] {
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1]
  return [...new Set([at(0.25), at(0.5), at(0.75)])].filter(price => price !== undefined)
}

export function readFilter(query: Form, { vendors, prices }: FilterChoices): ModelFilter {
  return {
    q: query.text('q', 80),
    vendor: query.choice('vendor', vendors),
    capability: query.choice('capability', CAPABILITIES),
    channel: query.choice('channel', CHANNELS),
    unit: query.choice('unit', UNITS),
    priceMax: query.choice('price', prices),
    contextMin: query.choice('context', CONTEXTS),
    sort: query.choice('sort', SORTS) ?? 'featured',
  }
}

export function isFiltered({ sort: _, ...filter }: ModelFilter): boolean {
  return Object.values(filter).some(value => value !== null && value !== '')
}

/** Finds the models that match. The best matches of a search come first, unless another order is chosen. */
export function findModels(catalogue: Catalogue, filter: ModelFilter): Found {
  const matching = modelsOf(catalogue).filter(model => matches(model, filter))
  const sorted = matching.toSorted(ORDERS[filter.sort](matching))
  if (filter.q === '') return { models: sorted, instead: null }
  const { models, instead } = searchModels(catalogue, sorted, filter.q)
  return { models: filter.sort === 'featured' ? models : sorted.filter(model => models.includes(model)), instead }
}

function matches({ main, items }: CatalogueModel, filter: ModelFilter): boolean {
  const { vendor, capability, channel, unit, priceMax, contextMin } = filter
  const { entry } = main
  if (vendor !== null && entry.vendor !== vendor) return false
  if (capability !== null && entry.kind !== capability && !can(main, capability)) return false
  if (contextMin !== null && (entry.contextTokens ?? 0) < Number(contextMin)) return false
  // A single entry must meet all conditions: a price per token on AWS must not count for the standard channel.
  return items.some(
    ({ entry: { channel: own, price } }) =>
      (channel === null || own === channel) &&
      (unit === null || price.per === unit) &&
      (priceMax === null || (price.per === 'mtok' && price.vnd <= Number(priceMax))),
  )
}

function can({ entry }: CatalogueModel['main'], capability: NonNullable<ModelFilter['capability']>): boolean {
  return entry.capabilities.includes(capability as Capability)
}

type Order = (left: CatalogueModel, right: CatalogueModel) => number

const byName: Order = (left, right) => left.name.localeCompare(right.name)
const released = ({ main }: CatalogueModel, unknown: string) => main.entry.releasedOn ?? unknown

/** Ties are broken by name, so that the order is the same every time. */
const ORDERS: Readonly<Record<ModelFilter['sort'], (models: readonly CatalogueModel[]) => Order>> = {
  // The largest families first, and the newest models first within a family; a model without a date counts as brand-new.
  featured: models => {
    const sizes = Map.groupBy(models, ({ main }) => main.entry.family)
    const sizeOf = ({ main }: CatalogueModel) => sizes.get(main.entry.family)?.length ?? 0
    return (left, right) =>
      sizeOf(right) - sizeOf(left) ||
      left.main.entry.family.localeCompare(right.main.entry.family) ||
      released(right, '9').localeCompare(released(left, '9')) ||
      byName(left, right)
  },
  price: () => (left, right) => priceOf(left) - priceOf(right) || byName(left, right),
  context: () => (left, right) =>
    (right.main.entry.contextTokens ?? 0) - (left.main.entry.contextTokens ?? 0) || byName(left, right),
  newest: () => (left, right) => released(right, '').localeCompare(released(left, '')) || byName(left, right),
  name: () => byName,
}

/** The price per token; models without one come last, ordered by their price per call. */
function priceOf({ items }: CatalogueModel): number {
  const perToken = lowestPrice(items, 'mtok')
  if (perToken !== null) return perToken
  return Number.MAX_SAFE_INTEGER / 2 + (lowestPrice(items, 'request') ?? lowestPrice(items, 'image') ?? 0)
}
