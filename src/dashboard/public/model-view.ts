/** Prepares models and catalogue entries for the public pages. */

import type { Language } from '../../accounts/types.ts'
import type { Catalogue, CatalogueItem } from '../../catalogue/catalogue.ts'
import { breakEvenTokens, type CatalogueModel, modelsOf, vendorName } from '../../catalogue/models.ts'
import { type MicroVnd, microVnd } from '../../lib/money.ts'
import { text } from '../texts/index.ts'
import { compactCount, count } from '../view/format.ts'

/** One of a model's entries, which differ in their channel (standard or AWS) and price unit (token, call or image). */
export interface VariantView {
  readonly id: string
  readonly labelKey: `models.variant.${'standard' | 'aws'}.${'mtok' | 'request' | 'image'}`
  readonly priceVnd: number
  readonly priceUnitKey: string
  readonly retirement: RetirementView | null
}

export interface RetirementView {
  /** Noon on the day of the retirement; null if no day has been announced. */
  readonly on: Date | null
  /** Text for the day: to come, or past without a successor. */
  readonly onKey: 'models.retires' | 'models.ended'
  readonly successor: string | null
}

export interface ModelView {
  readonly id: string
  readonly path: string
  readonly name: string
  readonly vendor: string
  readonly description: string
  readonly kind: 'chat' | 'image' | 'speech'
  readonly capabilities: readonly string[]
  readonly contextTokens: number | null
  readonly outputTokensMax: number | null
  readonly releasedOn: Date | null
  readonly variants: readonly VariantView[]
  /** Says above how many tokens a call is cheaper at the fixed price; null if the model does not have both prices. */
  readonly breakEven: string | null
  /** The earliest retirement among the variants that customers are already warned about; null if there is none. */
  readonly retirement: RetirementView | null
}

export interface ViewOptions {
  readonly catalogue: Catalogue
  readonly language: Language
  readonly now: Date
}

export function modelPath({ main }: Pick<CatalogueModel, 'main'>): string {
  return `/models/${main.entry.id}`
}

export function modelView(model: CatalogueModel, { catalogue, language, now }: ViewOptions): ModelView {
  const { entry } = model.main
  const hasTokens = entry.kind === 'chat'
  const variants = model.items.map(item => variantView(item, catalogue, now))
  const retirements = variants.flatMap(({ retirement }) => retirement ?? [])
  return {
    id: entry.id,
    path: modelPath(model),
    name: model.name,
    vendor: vendorName(catalogue, entry.vendor),
    description: describe(model, language),
    kind: entry.kind,
    capabilities: entry.capabilities.filter(capability => capability !== 'streaming'),
    contextTokens: hasTokens ? entry.contextTokens : null,
    outputTokensMax: hasTokens ? entry.outputTokensMax : null,
    releasedOn: noonOf(entry.releasedOn),
    variants,
    breakEven: breakEvenText(model, language),
    retirement: retirements.toSorted((left, right) => endOf(left) - endOf(right))[0] ?? null,
  }
}

/** Returns the description in this language. If the Vietnamese one is missing, composes one from the model's limits. */
export function describe({ main: { entry }, name }: CatalogueModel, language: Language): string {
  if (language === 'en') return entry.description
  if (entry.descriptionVi !== null) return entry.descriptionVi
  const { contextTokens, outputTokensMax } = entry
  if (contextTokens === null || outputTokensMax === null) return `${name}.`
  const values = { name, context: compactCount(contextTokens), output: compactCount(outputTokensMax) }
  return text(language, 'model.made_description', values)
}

function variantView({ entry, deprecatedFromMs }: CatalogueItem, catalogue: Catalogue, now: Date): VariantView {
  const { deprecated } = entry
  const isWarned = deprecated !== null && deprecatedFromMs <= now.getTime()
  const onKey = catalogue.hasEnded(entry) ? 'models.ended' : 'models.retires'
  return {
    id: entry.id,
    labelKey: `models.variant.${entry.channel}.${entry.price.per}`,
    priceVnd: entry.price.vnd,
    priceUnitKey: `unit.${entry.price.per}`,
    retirement: isWarned ? { on: noonOf(deprecated.retiresOn), onKey, successor: deprecated.successor } : null,
  }
}

function endOf({ on }: RetirementView): number {
  return on?.getTime() ?? Number.POSITIVE_INFINITY
}

/** Converts an ISO date from the catalogue to noon in Vietnam, which is on the same day in UTC. */
function noonOf(day: string | null): Date | null {
  return day === null ? null : new Date(`${day}T05:00:00Z`)
}

/** Returns a sentence that compares the fixed price with the cheapest price per token; null if the model lacks either. */
function breakEvenText({ items, main }: CatalogueModel, language: Language): string | null {
  const perToken = items
    .filter(({ entry }) => entry.price.per === 'mtok')
    .toSorted((left, right) => left.entry.price.vnd - right.entry.price.vnd)[0]
  const perCall = items.find(({ entry }) => entry.price.per === 'request')
  if (perToken === undefined || perCall === undefined) return null
  const tokens = breakEvenTokens(perCall, perToken)
  if (tokens === null) return null
  const isOutOfReach = tokens > (main.entry.contextTokens ?? Number.POSITIVE_INFINITY)
  return isOutOfReach
    ? text(language, 'model.break_even.never')
    : text(language, 'model.break_even', { tokens: count(tokens) })
}

/** Price of `calls` calls with `tokens` tokens each. */
export function costOf(
  { entry, unitPriceMicroVnd }: CatalogueItem,
  units: { tokens: number; calls: number },
): MicroVnd {
  const tokens = BigInt(units.tokens) * BigInt(units.calls)
  return microVnd(unitPriceMicroVnd * (entry.price.per === 'mtok' ? tokens : BigInt(units.calls)))
}

export interface FamilyView {
  readonly name: string
  readonly count: number
  readonly tokenVnd: number | null
  readonly callVnd: number | null
  readonly query: string
}

/** Lists families of chat models, those with the most models first. */
export function familyViews(catalogue: Catalogue): FamilyView[] {
  const chat = modelsOf(catalogue).filter(({ main }) => main.entry.kind === 'chat')
  return [...Map.groupBy(chat, ({ main }) => main.entry.family)]
    .map(([family, models]) => {
      const items = models.flatMap(model => model.items)
      return {
        name: familyName(family, models),
        count: models.length,
        tokenVnd: lowestPrice(items, 'mtok'),
        callVnd: lowestPrice(items, 'request'),
        query: `?q=${encodeURIComponent(family)}`,
      }
    })
    .sort((left, right) => right.count - left.count || left.name.localeCompare(right.name))
}

export function lowestPrice(
  items: readonly CatalogueItem[],
  per: CatalogueItem['entry']['price']['per'],
): number | null {
  const prices = items.filter(({ entry }) => entry.price.per === per).map(({ entry }) => entry.price.vnd)
  return prices.length === 0 ? null : Math.min(...prices)
}

/** Families have no display names, so this takes the first word of a model's name, without the version. */
function familyName(family: string, models: readonly CatalogueModel[]): string {
  const words = models.map(({ name }) => (name.split(/[\s/-]/)[0] as string).replace(/[\d.]+$/, ''))
  const word = words.sort((left, right) => left.length - right.length)[0] ?? family
  return word === word.toLowerCase() ? family : word
}
