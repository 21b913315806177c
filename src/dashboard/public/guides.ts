/** Quick start and API reference. */

import type { CatalogueItem } from '../../catalogue/catalogue.ts'
import type { OperationView } from '../options.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { REFERENCE_IN_VIETNAMESE, STATUSES_IN_VIETNAMESE } from '../texts/reference.ts'

export const GUIDE_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/quickstart',
    authentication: 'none',
    purpose: 'Snippets for each client',
    handle: quickstart,
  },
  { method: 'GET', path: '/reference', authentication: 'none', purpose: 'API reference', handle: reference },
  { method: 'GET', path: '/openapi.json', authentication: 'none', purpose: 'OpenAPI 3.1 document', handle: document },
]

/** Models named in the snippets: for each kind a capable one, whatever the catalogue contains. */
function exampleModels({ options }: PageRequest) {
  const { catalogue } = options
  const items = catalogue.items.filter(item => !catalogue.isRetired(item))
  const named = (suits: (item: CatalogueItem) => boolean) => {
    const suitable = items.filter(
      item => item.entry.price.per === 'mtok' && item.entry.channel === 'standard' && suits(item),
    )
    // Longest context first, then newest.
    suitable.sort(
      (left, right) =>
        (right.entry.contextTokens ?? 0) - (left.entry.contextTokens ?? 0) ||
        (right.entry.releasedOn ?? '').localeCompare(left.entry.releasedOn ?? ''),
    )
    return suitable[0]?.entry.id ?? catalogue.settings.fallback
  }
  const kind = (wanted: string) => items.find(item => item.entry.kind === wanted)?.entry.id ?? null
  return {
    messages: catalogue.settings.fallback,
    chat: named(({ entry }) => entry.apiStandard === 'chat_completions'),
    responses: named(({ entry }) => entry.upstreams.some(({ wires }) => wires?.[0]?.wire === 'responses')),
    image: kind('image'),
    speech: kind('speech'),
  }
}

function quickstart(request: PageRequest): Answer {
  const { options, language } = request
  return {
    kind: 'page',
    template: 'quickstart',
    title: text(language, 'quickstart.title'),
    section: 'quickstart',
    indexed: { description: text(language, 'quickstart.description') },
    data: {
      models: exampleModels(request),
      costHeader: `x-${options.catalogue.settings.service}-cost-vnd`,
    },
  }
}

function reference({ options, language }: PageRequest): Answer {
  return {
    kind: 'page',
    template: 'reference',
    title: text(language, 'reference.title'),
    section: 'reference',
    indexed: { description: text(language, 'reference.description') },
    scripts: ['try.js'],
    data: { operations: options.openApi.operations.map(language === 'vi' ? inVietnamese : asItIs) },
  }
}

const asItIs = (operation: OperationView): OperationView => operation

function inVietnamese(operation: OperationView): OperationView {
  const translate = (english: string): string => REFERENCE_IN_VIETNAMESE[english] ?? english
  const described = <Item extends { readonly description: string }>(item: Item): Item => ({
    ...item,
    description: translate(item.description),
  })
  return {
    ...described(operation),
    summary: translate(operation.summary),
    fields: operation.fields.map(described),
    answers: operation.answers.map(answer => {
      const meaning = STATUSES_IN_VIETNAMESE[answer.status]
      // `type`, `type`. Then the error's English message.
      const types = /^`[^.]*/.exec(answer.description)?.[0]
      return meaning === undefined ? described(answer) : { ...answer, description: `${types}. ${meaning}` }
    }),
  }
}

function document({ options }: PageRequest): Answer {
  return {
    kind: 'file',
    contentType: 'application/json; charset=utf-8',
    body: JSON.stringify(options.openApi.document),
    headers: { 'cache-control': 'public, max-age=300', 'access-control-allow-origin': '*' },
  }
}
