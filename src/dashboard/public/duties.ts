/**
 * Pages with the information that the law requires a seller to publish, contact details included. The footer of every page
 * links to them.
 */

import { CONTENT_PAGES, type ContentPage, contentValues, readContent } from '../content.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'

export const DUTY_PAGES: readonly Page[] = CONTENT_PAGES.map(page => ({
  method: 'GET',
  path: `/${page}`,
  authentication: 'none',
  purpose: `Text of the operator: ${page}`,
  handle: request => show(request, page),
}))

async function show({ options, language }: PageRequest, page: ContentPage): Promise<Answer> {
  const { company, people, publicUrl, contentFolder } = options
  const values = contentValues(company, { service: people.serviceName, url: publicUrl })
  const content = await readContent({ page, language }, { folder: contentFolder, values })
  const title = text(language, `duty.${page}`)
  return {
    kind: 'page',
    template: 'duty',
    title,
    indexed: content.isDraft
      ? undefined
      : { description: text(language, 'duty.description', { page: title, service: people.serviceName }) },
    data: { html: content.html, isDraft: content.isDraft, isContact: page === 'contact', company },
  }
}
