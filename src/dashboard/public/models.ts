/** Models and prices: one card per model; people can search, filter and sort the cards, and choose models to compare. */

import { type CatalogueModel, modelOf, modelsOf, vendorName } from '../../catalogue/models.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { compactCount, dong } from '../view/format.ts'
import {
  CAPABILITIES,
  CHANNELS,
  CONTEXTS,
  filterChoices,
  findModels,
  isFiltered,
  readFilter,
  SORTS,
  UNITS,
} from './model-filter.ts'
import { familyViews, modelView } from './model-view.ts'

export const MODEL_LIST: Page = {
  method: 'GET',
  path: '/models',
  authentication: 'none',
  purpose: 'Models and prices; 404 for programs, whose list is /v1/models',
  sharesPath: true,
  handle: list,
}

export const COMPARED_MAX = 4

/** The models in the `model` query parameters, without duplicates and unknown names. */
export function chosenModels({ options, query }: PageRequest): readonly CatalogueModel[] {
  const { catalogue } = options
  const found = query.entries
    .filter(({ name }) => name === 'model')
    .flatMap(({ value }) => catalogue.resolve(value)?.item ?? [])
    .map(item => modelOf(catalogue, item))
  return [...new Map(found.map(model => [model.main, model])).values()]
}

function list(request: PageRequest): Answer {
  const { options, language, query } = request
  const { catalogue } = options
  const choices = filterChoices(catalogue)
  const filter = readFilter(query, choices)
  const { models, instead } = findModels(catalogue, filter)
  const chosen = chosenModels(request)
  const show = (model: CatalogueModel) => ({
    ...modelView(model, { ...request, catalogue }),
    isChosen: chosen.some(({ main }) => main === model.main),
  })
  const select = (name: string, values: readonly string[], value: string | null, label: (value: string) => string) => ({
    name,
    label: text(language, `models.${name}` as 'models.channel'),
    choices: [
      ...(name === 'sort' ? [] : [{ value: '', label: text(language, `models.${name}.all` as 'models.channel.all') }]),
      ...values.map(each => ({ value: each, label: label(each) })),
    ].map(choice => ({ ...choice, chosen: choice.value === (value ?? '') })),
  })
  const named = (name: string) => (value: string) =>
    text(language, `models.${name}.${value}` as 'models.channel.standard')
  const total = modelsOf(catalogue).length
  const families = familyViews(catalogue).slice(0, 5)
  return {
    kind: 'page',
    template: 'models',
    title: text(language, 'models.title'),
    section: 'models',
    styles: ['models.css'],
    indexed: {
      description: text(language, 'models.description', {
        count: total,
        families: families.map(({ name }) => name).join(', '),
      }),
    },
    data: {
      total,
      entries: catalogue.items.filter(item => !catalogue.isRetired(item)).length,
      q: filter.q,
      instead,
      filters: [
        select('vendor', choices.vendors, filter.vendor, vendor => vendorName(catalogue, vendor)),
        select('capability', CAPABILITIES, filter.capability, named('capability')),
        select('channel', CHANNELS, filter.channel, named('channel')),
        select('unit', UNITS, filter.unit, named('unit')),
        select('price', choices.prices, filter.priceMax, price =>
          text(language, 'models.price.at_most', { price: dong(Number(price)) }),
        ),
        select('context', CONTEXTS, filter.contextMin, tokens =>
          text(language, 'models.context.at_least', { tokens: compactCount(Number(tokens)) }),
        ),
        select('sort', SORTS, filter.sort, named('sort')),
      ],
      isFiltered: isFiltered(filter),
      models: models.map(show),
      // Models chosen before the filter hid them stay chosen.
      hidden: chosen.filter(({ main }) => models.every(model => model.main !== main)).map(show),
      canCompare: models.length > 0 || chosen.length > 0,
      comparedMax: COMPARED_MAX,
    },
  }
}
