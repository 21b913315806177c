/** The front page in browsers. Programs get JSON at the same path, from `http/service-routes.ts`. */

import { type CatalogueModel, modelsOf } from '../../catalogue/models.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { costOf, familyViews, lowestPrice } from './model-view.ts'

export const LANDING: Page = {
  method: 'GET',
  path: '/',
  authentication: 'none',
  purpose: 'Front page; JSON for programs',
  sharesPath: true,
  handle: landing,
}

const RECEIPT = { inputTokens: 812, outputTokens: 264 }

function landing({ options, language }: PageRequest): Answer {
  const { catalogue } = options
  const { item } = catalogue.fallback('')
  const { inputTokens, outputTokens } = RECEIPT
  const models = modelsOf(catalogue)
  return {
    kind: 'page',
    template: 'landing',
    title: text(language, 'landing.title'),
    indexed: { description: text(language, 'landing.lead') },
    data: {
      heading: text(language, 'landing.heading', { count: models.length }).split(/(?<=\.) /),
      receipt: {
        model: item.entry.id,
        inputTokens,
        outputTokens,
        priceVnd: item.entry.price.vnd,
        cost: costOf(item, { tokens: inputTokens + outputTokens, calls: 1 }),
      },
      families: familyViews(catalogue),
      images: kindRow(models, 'image'),
      speech: kindRow(models, 'speech'),
    },
  }
}

/** Models other than chat models, as one table row; null when the catalogue has none. */
function kindRow(models: readonly CatalogueModel[], kind: 'image' | 'speech') {
  const found = models.filter(({ main }) => main.entry.kind === kind)
  const items = found.flatMap(model => model.items)
  const callVnd = lowestPrice(items, kind === 'image' ? 'image' : 'request')
  return callVnd === null ? null : { count: found.length, callVnd }
}
