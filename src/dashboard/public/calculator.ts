/**
 * Calculates what calls of a given size cost at each of a model's prices. The URL holds all input, so that a result can be
 * shared.
 */

import type { CatalogueModel } from '../../catalogue/models.ts'
import type { MicroVnd } from '../../lib/money.ts'
import type { Form } from '../form.ts'
import type { PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { count } from '../view/format.ts'
import { costOf, modelView, type VariantView } from './model-view.ts'

interface Field {
  readonly name: 'in' | 'out' | 'calls'
  readonly min: number
  readonly max: number
  readonly fallback: number
}

const FIELDS: readonly Field[] = [
  { name: 'in', min: 0, max: 10_000_000, fallback: 2_000 },
  { name: 'out', min: 0, max: 10_000_000, fallback: 500 },
  { name: 'calls', min: 1, max: 100_000_000, fallback: 1_000 },
]

interface ReadField extends Field {
  readonly typed: string
  /** Null if the typed text is not a number within the bounds. */
  readonly value: number | null
}

/** Digits with or without thousands separators. */
const NUMBER = /^\d{1,9}$|^\d{1,3}(?:[., \u00a0]\d{3}){1,2}$/

function readFields(query: Form): ReadField[] {
  return FIELDS.map(field => {
    const typed = query.has(field.name) ? query.text(field.name, 20) : count(field.fallback)
    const value = NUMBER.test(typed) ? Number(typed.replace(/\D/g, '')) : Number.NaN
    return { ...field, typed, value: value >= field.min && value <= field.max ? value : null }
  })
}

export interface CalculatedPrice extends VariantView {
  readonly callMicroVnd: MicroVnd
  readonly totalMicroVnd: MicroVnd
  /** Whether this is the model's lowest price for these calls; false if the model has only one price. */
  readonly isCheapest: boolean
}

export interface Calculation {
  readonly model: { readonly id: string; readonly name: string }
  readonly prices: readonly CalculatedPrice[]
}

/** Returns the form fields and the results; no results while a field is invalid. */
export function calculate(request: PageRequest, models: readonly CatalogueModel[]) {
  const { language, options } = request
  const fields = readFields(request.query)
  const hasTokens = models.some(({ main }) => main.entry.kind === 'chat')
  const shown = fields.filter(({ name }) => hasTokens || name === 'calls')
  const isValid = shown.every(({ value }) => value !== null)
  const [input = 0, output = 0, calls = 1] = fields.map(({ value }) => value ?? undefined)
  const makesImages = models.every(({ main }) => main.entry.kind === 'image')
  const units = { tokens: input + output, calls }
  const tooLong = models.filter(({ main }) => units.tokens > (main.entry.contextTokens ?? Number.POSITIVE_INFINITY))
  return {
    fields: shown.map(({ name, typed, value, min, max }) => ({
      name,
      label: text(language, name === 'calls' && makesImages ? 'calculator.images' : `calculator.${name}`),
      value: typed,
      fault: value === null ? text(language, 'calculator.fault', { min: count(min), max: count(max) }) : '',
    })),
    tooLong:
      tooLong.length === 0 || !isValid
        ? null
        : text(language, 'calculator.too_long', {
            tokens: count(units.tokens),
            names: tooLong.map(({ name }) => name).join(', '),
          }),
    results: isValid ? models.map(model => pricesOf(model, units, { ...request, catalogue: options.catalogue })) : [],
    calls: count(calls),
    eachKey: makesImages ? 'calculator.each.images' : 'calculator.each',
    totalKey: makesImages ? 'calculator.total.images' : 'calculator.total',
  }
}

function pricesOf(
  model: CatalogueModel,
  units: { readonly tokens: number; readonly calls: number },
  view: Parameters<typeof modelView>[1],
): Calculation {
  const { id, name, variants } = modelView(model, view)
  const priced = model.items.map((item, position) => ({
    ...(variants[position] as VariantView),
    callMicroVnd: costOf(item, { ...units, calls: 1 }),
    totalMicroVnd: costOf(item, units),
  }))
  const least = priced.reduce(
    (low, { totalMicroVnd }) => (totalMicroVnd < low ? totalMicroVnd : low),
    priced[0]?.totalMicroVnd as MicroVnd,
  )
  return {
    model: { id, name },
    prices: priced.map(price => ({ ...price, isCheapest: priced.length > 1 && price.totalMicroVnd === least })),
  }
}
