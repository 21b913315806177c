/** What the playground's script needs to know about the models. */

import type { Catalogue, CatalogueItem } from '../../catalogue/catalogue.ts'
import { effortLevels, supportedParameters } from '../../catalogue/model-item.ts'
import { vendorName } from '../../catalogue/models.ts'
import { dong } from '../view/format.ts'

/** The field names are short because the page repeats them for each of some ninety models. */
export interface PlaygroundModel {
  readonly kind: 'chat' | 'image' | 'speech'
  /** In µVND per token (`mtok`), call (`request`) or image. */
  readonly price: number
  readonly per: 'mtok' | 'request' | 'image'
  /** Names as in `GET /v1/models`. */
  readonly parameters: readonly string[]
  readonly efforts: readonly string[]
  /** True if the model accepts pictures. */
  readonly sees: boolean
}

/** Parameters that the page has a field for. Others, such as tools, can only be used through the API. */
export const PLAYGROUND_PARAMETERS = {
  chat: ['max_tokens', 'temperature', 'top_p', 'top_k', 'stop', 'reasoning_effort'],
  image: ['size', 'n'],
  speech: ['voice', 'instructions', 'response_format', 'speed'],
} as const

export interface ModelGroup {
  readonly vendor: string
  readonly models: readonly { readonly id: string; readonly price: string; readonly unitKey: string }[]
}

/** Groups models by vendor, without retired ones. */
export function modelGroups(catalogue: Catalogue): readonly ModelGroup[] {
  const groups = Object.groupBy(offered(catalogue), ({ entry }) => entry.vendor)
  return Object.entries(groups)
    .map(([vendor, items = []]) => ({
      vendor: vendorName(catalogue, vendor),
      models: items.map(({ entry }) => ({
        id: entry.id,
        price: dong(entry.price.vnd),
        unitKey: `unit.${entry.price.per}`,
      })),
    }))
    .sort((left, right) => left.vendor.localeCompare(right.vendor))
}

export function playgroundModels(catalogue: Catalogue): Readonly<Record<string, PlaygroundModel>> {
  return Object.fromEntries(offered(catalogue).map(item => [item.entry.id, playgroundModel(item)]))
}

function offered(catalogue: Catalogue): CatalogueItem[] {
  return catalogue.items.filter(item => !catalogue.isRetired(item))
}

function playgroundModel({ entry, unitPriceMicroVnd }: CatalogueItem): PlaygroundModel {
  const supported = supportedParameters(entry)
  const efforts = effortLevels(entry)
  return {
    kind: entry.kind,
    price: Number(unitPriceMicroVnd),
    per: entry.price.per,
    parameters: PLAYGROUND_PARAMETERS[entry.kind].filter(
      name => supported.includes(name) && (name !== 'reasoning_effort' || efforts.length > 0),
    ),
    efforts,
    sees: entry.capabilities.includes('vision') || entry.endpoints.includes('images_edits'),
  }
}
