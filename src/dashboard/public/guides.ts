/** The quick start page, the API reference and the OpenAPI document. */

import type { OperationView } from '../options.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { REFERENCE_IN_VIETNAMESE, STATUSES_IN_VIETNAMESE } from '../texts/reference.ts'
import { toolGroups } from './tools/index.ts'

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

function quickstart(request: PageRequest): Answer {
  const { options, language } = request
  return {
    kind: 'page',
    template: 'quickstart',
    title: text(language, 'quickstart.title'),
    section: 'quickstart',
    indexed: { description: text(language, 'quickstart.description') },
    data: {
      groups: toolGroups(request),
      costHeader: `x-${options.catalogue.settings.service}-cost-vnd`,
      tagHeader: `x-${options.catalogue.settings.service}-tag`,
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
      // The description is one or more types in back-ticks, then the error's English message.
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
