/** The front page for people. */

import type { CatalogueItem } from '../../catalogue/catalogue.ts'
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
  const listed = catalogue.items.filter(candidate => !catalogue.isRetired(candidate))
  return {
    kind: 'page',
    template: 'landing',
    title: text(language, 'landing.title'),
    indexed: { description: text(language, 'landing.lead') },
    data: {
      count: listed.length,
      receipt: {
        model: item.entry.id,
        inputTokens,
        outputTokens,
        priceVnd: item.entry.price.vnd,
        cost: costOf(item, { tokens: inputTokens + outputTokens, calls: 1 }),
      },
      families: familyViews(catalogue),
      images: kindRow(listed, 'image'),
      speech: kindRow(listed, 'speech'),
    },
  }
}

/** Models other than chat models, as one table row; null when the catalogue has none. */
function kindRow(items: readonly CatalogueItem[], kind: 'image' | 'speech') {
  const found = items.filter(({ entry }) => entry.kind === kind)
  const callVnd = lowestPrice(found, kind === 'image' ? 'image' : 'request')
  return callVnd === null ? null : { count: found.length, callVnd }
}
