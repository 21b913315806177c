/** For search engines and browsers: robots.txt, sitemap.xml, favicon.ico. */

import { readFileSync } from 'node:fs'
import { modelsOf } from '../../catalogue/models.ts'
import { CONTENT_PAGES, findDrafts } from '../content.ts'
import { alternatesOf } from '../languages.ts'
import type { Answer, FileAnswer, Page, PageRequest } from '../page.ts'
import { LANGUAGES } from '../preferences.ts'
import { modelPath } from './model-view.ts'

export const CRAWLER_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/robots.txt',
    authentication: 'none',
    purpose: 'What search engines may read',
    handle: robots,
  },
  { method: 'GET', path: '/sitemap.xml', authentication: 'none', purpose: 'Pages for search engines', handle: sitemap },
  { method: 'GET', path: '/favicon.ico', authentication: 'none', purpose: 'Icon for old browsers', handle: favicon },
]

/** Public pages that always exist, unlike those of single models and CONTENT_PAGES. */
const FIXED_PATHS = ['/', '/models', '/quickstart', '/reference']
const PUBLIC_FOR_5_MINUTES = { 'cache-control': 'public, max-age=300' }
/** `assets/icon.svg` rendered at 32 × 32 pixels. */
const ICON = new URL('../assets/favicon.ico', import.meta.url)
let icon: Buffer | undefined

function file(contentType: string, body: FileAnswer['body']): Answer {
  return { kind: 'file', contentType, body, headers: PUBLIC_FOR_5_MINUTES }
}

/** Outside production, nothing may be indexed: a test system must not show up in search results next to the real one. */
function robots({ options }: PageRequest): Answer {
  const lines = options.production
    ? ['User-agent: *', 'Disallow: /v1/', 'Allow: /', '', `Sitemap: ${options.publicUrl}/sitemap.xml`]
    : ['User-agent: *', 'Disallow: /']
  return file('text/plain; charset=utf-8', `${lines.join('\n')}\n`)
}

async function sitemap({ options }: PageRequest): Promise<Answer> {
  const { catalogue, publicUrl, contentFolder } = options
  const drafts = await findDrafts(contentFolder, LANGUAGES)
  const texts = CONTENT_PAGES.filter(page => !drafts.some(draft => draft.startsWith(`${page}.`)))
  const paths = [...FIXED_PATHS, ...modelsOf(catalogue).map(modelPath), ...texts.map(page => `/${page}`)]
  const entries = paths.flatMap(path => urlsOf(publicUrl + path))
  const body = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">',
    ...entries,
    '</urlset>',
  ]
  return file('application/xml; charset=utf-8', `${body.join('\n')}\n`)
}

/** One `<url>` per language, each linking to all of them. */
function urlsOf(address: string): string[] {
  const links = alternatesOf(encodeXml(address))
  const others = LANGUAGES.map(
    language => `<xhtml:link rel="alternate" hreflang="${language}" href="${links[language]}"/>`,
  )
  return LANGUAGES.map(language => `<url><loc>${links[language]}</loc>${others.join('')}</url>`)
}

function encodeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

function favicon(): Answer {
  icon ??= readFileSync(ICON)
  return file('image/x-icon', icon)
}
