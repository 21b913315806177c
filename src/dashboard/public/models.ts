/** Models and prices: a searchable list with filters, and a page per entry. */

import type { Catalogue, CatalogueItem } from '../../catalogue/catalogue.ts'
import { ENDPOINT_FACTS } from '../../catalogue/endpoints.ts'
import type { Capability, Channel } from '../../generated/types.ts'
import type { Form } from '../form.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { costOf, modelView } from './model-view.ts'

export const MODEL_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/models',
    authentication: 'none',
    purpose: 'Models and prices; 404 for programs, whose list is /v1/models',
    sharesPath: true,
    handle: list,
  },
  {
    method: 'GET',
    path: '/models/*',
    authentication: 'none',
    purpose: 'One model; 404 for programs',
    sharesPath: true,
    handle: detail,
  },
]

const CHANNELS: readonly Channel[] = ['standard', 'aws']
const CAPABILITIES: readonly Capability[] = ['reasoning', 'vision', 'tools', 'streaming']
const UNITS = ['mtok', 'request', 'image'] as const

interface ModelFilter {
  readonly q: string
  readonly channel: Channel | null
  readonly capability: Capability | null
  readonly unit: (typeof UNITS)[number] | null
}

function readFilter(query: Form): ModelFilter {
  return {
    q: query.text('q', 80),
    channel: query.choice('channel', CHANNELS),
    capability: query.choice('capability', CAPABILITIES),
    unit: query.choice('unit', UNITS),
  }
}

/** Entries that match every search word in id, name, family, vendor or alias. */
function find(catalogue: Catalogue, { q, channel, capability, unit }: ModelFilter): CatalogueItem[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  return catalogue.items.filter(item => {
    const { entry } = item
    if (catalogue.isRetired(item)) return false
    if (channel !== null && entry.channel !== channel) return false
    if (capability !== null && !entry.capabilities.includes(capability)) return false
    if (unit !== null && entry.price.per !== unit) return false
    const searched = [entry.id, entry.name, entry.family, entry.vendor, ...entry.aliases].join(' ').toLowerCase()
    return words.every(word => searched.includes(word))
  })
}

function list({ options, language, query, now }: PageRequest): Answer {
  const { catalogue } = options
  const filter = readFilter(query)
  const choicesOf = (name: string, values: readonly string[], chosen: string | null) => ({
    name,
    label: text(language, `models.${name}` as 'models.channel'),
    choices: [null, ...values].map(value => ({
      value: value ?? '',
      label: text(language, `models.${name}.${value ?? 'all'}` as 'models.channel.all'),
      chosen: value === chosen,
    })),
  })
  return {
    kind: 'page',
    template: 'models',
    title: text(language, 'models.title'),
    section: 'models',
    indexed: true,
    data: {
      total: catalogue.items.filter(item => !catalogue.isRetired(item)).length,
      q: filter.q,
      filters: [
        choicesOf('channel', CHANNELS, filter.channel),
        choicesOf('capability', CAPABILITIES, filter.capability),
        choicesOf('unit', UNITS, filter.unit),
      ],
      isFiltered: filter.q !== '' || [filter.channel, filter.capability, filter.unit].some(value => value !== null),
      models: find(catalogue, filter).map(item => modelView(item, now)),
    },
  }
}

const EXAMPLES = [
  { key: 'model.example.short', tokens: 500 },
  { key: 'model.example.document', tokens: 21_000 },
  { key: 'model.example.agent', tokens: 1_020_000 },
] as const

function detail({ options, params, now }: PageRequest): Answer {
  const { catalogue } = options
  const item = catalogue.resolve(params['*'] ?? '')?.item
  if (item === undefined) return NOT_FOUND
  const { entry } = item
  const name = baseId(entry.id)
  const siblings = catalogue.items.filter(
    other => other !== item && !catalogue.isRetired(other) && baseId(other.entry.id) === name,
  )
  return {
    kind: 'page',
    template: 'model',
    title: `${entry.name} (${entry.id})`,
    section: 'models',
    indexed: true,
    data: {
      model: modelView(item, now),
      aliases: entry.aliases,
      endpoints: entry.endpoints.map(endpoint => ENDPOINT_FACTS[endpoint].path),
      format: entry.apiStandard,
      channelKey: `models.channel.${entry.channel}`,
      releasedOn: entry.releasedOn === null ? null : new Date(`${entry.releasedOn}T12:00:00Z`),
      successor: entry.deprecated?.successor ?? null,
      examples: examplesOf(item),
      siblings: siblings.map(sibling => modelView(sibling, now)),
      speaksMessages: entry.apiStandard === 'messages',
    },
  }
}

function examplesOf(item: CatalogueItem) {
  switch (item.entry.price.per) {
    case 'mtok':
      return EXAMPLES.map(({ key, tokens }) => ({ key, cost: costOf(item, { tokens, calls: 1 }) }))
    case 'request':
      return [{ key: 'model.example.thousand', cost: costOf(item, { tokens: 0, calls: 1000 }) }]
    case 'image':
      return [{ key: 'model.example.hundred', cost: costOf(item, { tokens: 0, calls: 100 }) }]
  }
}

/** The id without its prefix: twins are one model at several prices or in several channels. */
function baseId(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1)
}
