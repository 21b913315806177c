/** The page of one model: what it is, what it costs, how it has performed, and how to call it. */

import { ENDPOINT_FACTS } from '../../catalogue/endpoints.ts'
import { modelOf } from '../../catalogue/models.ts'
import { toolPrices } from '../../catalogue/tool-prices.ts'
import type { Endpoint } from '../../generated/types.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { dong, percent } from '../view/format.ts'
import { calculate } from './calculator.ts'
import { figuresView, latestFigures } from './model-figures.ts'
import { modelView } from './model-view.ts'

export const MODEL_PAGE: Page = {
  method: 'GET',
  path: '/models/*',
  authentication: 'none',
  purpose: 'One model; 404 for programs',
  sharesPath: true,
  handle: detail,
}

const FORMAT_LABELS: Readonly<Record<Endpoint, string>> = {
  messages: 'Messages',
  chat_completions: 'Chat Completions',
  responses: 'Responses',
  images_generations: 'Images',
  images_edits: 'Image edits',
  audio_speech: 'Speech',
}

async function detail(request: PageRequest): Promise<Answer> {
  const { options, params, language } = request
  const { catalogue } = options
  const named = params['*'] ?? ''
  const item = catalogue.resolve(named)?.item
  if (item === undefined) return NOT_FOUND
  const { entry } = item
  const model = modelOf(catalogue, item)
  const view = modelView(model, { ...request, catalogue })
  const figures = await latestFigures(options)
  const retired = catalogue.items.find(other => other.entry.id === named && catalogue.isRetired(other))
  const variants = view.variants.map(variant => {
    const { servedShare, firstByteMs } = figuresView(figures, variant.id, options.limits)
    return {
      ...variant,
      isChosen: variant.id === entry.id,
      served: servedShare === null ? null : percent(servedShare),
      firstByteMs,
    }
  })
  // The model's own format comes first, because calls in it pass through unchanged.
  const endpoints = entry.endpoints.toSorted(
    (left, right) => Number(right === entry.apiStandard) - Number(left === entry.apiStandard),
  )
  const [first] = view.variants
  return {
    kind: 'page',
    template: 'model',
    title: text(language, 'model.title', { name: view.name }),
    section: 'models',
    styles: ['models.css'],
    indexed: {
      description: text(language, 'model.page_description', {
        description: view.description,
        price: `${dong(first?.priceVnd ?? 0)} ${text(language, `unit.${model.main.entry.price.per}`)}`,
      }),
      path: view.path,
    },
    data: {
      model: view,
      variants,
      hasFigures: variants.some(({ served, firstByteMs }) => served !== null || firstByteMs !== null),
      chosen: entry.id,
      retired: retired === undefined ? null : retired.entry.id,
      aliases: model.items.flatMap(each => each.entry.aliases),
      tools: toolPrices(entry).map(({ tool, vnd }) => ({ tool, price: dong(vnd) })),
      endpoints: endpoints.map(endpoint => ENDPOINT_FACTS[endpoint].path),
      format: entry.apiStandard,
      // Each format has a template with its snippets.
      formats: endpoints.map(id => ({ id, label: FORMAT_LABELS[id] })),
      calculator: calculate(request, [model]),
      withNames: false,
    },
  }
}
