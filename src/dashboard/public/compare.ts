/** Compares two to four models side by side. The visitor can enter the size and number of calls to compare what they cost. */

import { ENDPOINT_FACTS } from '../../catalogue/endpoints.ts'
import type { CatalogueModel } from '../../catalogue/models.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { percent } from '../view/format.ts'
import { calculate } from './calculator.ts'
import { type FiguresByEntry, figuresView, latestFigures } from './model-figures.ts'
import { modelView } from './model-view.ts'
import { COMPARED_MAX, chosenModels } from './models.ts'

export const COMPARE: Page = {
  method: 'GET',
  path: '/compare',
  authentication: 'none',
  purpose: 'Models beside each other',
  handle: compare,
}

const COMPARED_MIN = 2
/** Fields that the price list's form sends too. A redirect drops them, to keep the page's URL short enough to share. */
const DROPPED_FIELDS = ['q', 'vendor', 'capability', 'channel', 'unit', 'price', 'context', 'sort'] as const

async function compare(request: PageRequest): Promise<Answer> {
  const { options, language, query } = request
  if (DROPPED_FIELDS.some(name => query.has(name))) {
    return {
      kind: 'redirect',
      to: `/compare${query.with(Object.fromEntries(DROPPED_FIELDS.map(name => [name, null])))}`,
    }
  }
  const chosen = chosenModels(request)
  const models = chosen.slice(0, COMPARED_MAX)
  const figures = await latestFigures(options)
  return {
    kind: 'page',
    template: 'compare',
    title: text(language, 'compare.title'),
    section: 'models',
    styles: ['models.css'],
    data: {
      models: models.map(model => column(request, model, figures)),
      isNone: models.length === 0,
      isOne: models.length > 0 && models.length < COMPARED_MIN,
      isTooMany: chosen.length > COMPARED_MAX,
      comparedMax: COMPARED_MAX,
      calculator: calculate(request, models),
      ids: models.map(({ main }) => main.entry.id),
      withNames: true,
    },
  }
}

function column(request: PageRequest, model: CatalogueModel, figures: FiguresByEntry) {
  const { options, path, query } = request
  const { servedShare, firstByteMs } = figuresView(figures, model.main.entry.id, options.limits)
  const isThis = (value: string) => model.items.some(item => item === options.catalogue.resolve(value)?.item)
  const others = query.entries.filter(({ name, value }) => name !== 'model' || !isThis(value))
  return {
    ...modelView(model, { ...request, catalogue: options.catalogue }),
    endpoints: model.main.entry.endpoints.map(endpoint => ENDPOINT_FACTS[endpoint].path),
    served: servedShare === null ? null : percent(servedShare),
    firstByteMs,
    without: `${path}?${new URLSearchParams(others.map(({ name, value }) => [name, value]))}`,
  }
}
