/** The bodies of `GET /v1/models` and `GET /v1/models/{id}`, rendered once and cached with their ETags. */

import { createHash } from 'node:crypto'
import type { Capability, Channel } from '../generated/types.ts'
import { type Coding, compress } from '../lib/content-coding.ts'
import { allows } from './allowed.ts'
import type { Catalogue, CatalogueItem } from './catalogue.ts'
import { ENDPOINT_ORDER } from './endpoints.ts'
import { type ModelItem, modelItem } from './model-item.ts'

export interface ModelListQuery {
  readonly channel?: string | undefined
  readonly endpoint?: string | undefined
  readonly capability?: string | undefined
  readonly limit?: string | undefined
  readonly after_id?: string | undefined
  readonly before_id?: string | undefined
}

export interface RenderedBody {
  readonly body: string
  /** A strong ETag, with its quotes. */
  readonly etag: string
  /** The body in a content coding; compressed on first use, then cached. */
  coded(coding: Coding): Promise<Buffer>
}

export type ModelListResult = RenderedBody | { readonly problem: string }

export interface ModelList {
  /**
   * Lists the models that a key may call (null: all models), filtered and paged. If a query parameter is wrong, `problem` names
   * it and says what to write instead; the route then replies 400.
   */
  list(query: ModelListQuery, allowed?: readonly string[] | null): ModelListResult
  /** One entry by id or alias; null if there is none. */
  one(name: string): RenderedBody | null
}

const CHANNELS: readonly Channel[] = ['standard', 'aws']
const CAPABILITIES: readonly Capability[] = ['reasoning', 'vision', 'tools', 'streaming']
const LIMIT_MAX = 1000
/** Maximum number of cached lists. Each combination of filters and a key's allowed models is cached as a separate list. */
const LISTS_MAX = 300

interface Rendered {
  readonly catalogueItem: CatalogueItem
  readonly item: ModelItem
  readonly json: string
}

export function createModelList(catalogue: Catalogue, now: () => number = Date.now): ModelList {
  // `lists` is bounded by LISTS_MAX, `single` by the number of entries.
  const lists = new Map<string, RenderedBody>()
  const single = new Map<string, RenderedBody>()
  let epoch = ''
  let rendered: readonly Rendered[] = []

  const refresh = () => {
    const time = now()
    const warned = catalogue.items.filter(item => item.deprecatedFromMs <= time).length
    const ended = catalogue.items.filter(item => catalogue.hasEnded(item.entry)).length
    const current = `${warned}/${catalogue.retiredCount()}/${ended}`
    if (current === epoch) return
    epoch = current
    lists.clear()
    single.clear()
    rendered = catalogue.items
      .filter(item => !catalogue.isRetired(item))
      .map(catalogueItem => {
        const isDeprecated = catalogueItem.deprecatedFromMs <= time
        const isRetired = catalogue.hasEnded(catalogueItem.entry)
        const item = modelItem(catalogueItem.entry, { isDeprecated, isRetired })
        return { catalogueItem, item, json: JSON.stringify(item) }
      })
  }

  return {
    list(query, allowed = null) {
      refresh()
      const problem = findProblem(query)
      if (problem !== null) return { problem }
      const isPaged = query.limit !== undefined || query.after_id !== undefined || query.before_id !== undefined
      const key = `${query.channel ?? ''} ${query.endpoint ?? ''} ${query.capability ?? ''} ${allowed?.join(' ') ?? ''}`
      const known = isPaged ? undefined : lists.get(key)
      if (known !== undefined) return known
      const matching = rendered.filter(
        each => matches(each.catalogueItem, query) && allows(catalogue, allowed, each.catalogueItem.entry),
      )
      const page = isPaged ? cut(matching, query) : { items: matching, hasMore: false }
      if ('problem' in page) return page
      const body = renderList(page.items, page.hasMore)
      if (lists.size >= LISTS_MAX) lists.clear()
      if (!isPaged) lists.set(key, body)
      return body
    },
    one(name) {
      refresh()
      const resolution = catalogue.resolve(name)
      if (resolution === null) return null
      const { id } = resolution.entry
      const known = single.get(id)
      if (known !== undefined) return known
      const found = rendered.find(each => each.catalogueItem.entry.id === id)
      if (found === undefined) return null
      const body = withEtag(found.json)
      single.set(id, body)
      return body
    },
  }
}

function findProblem(query: ModelListQuery): string | null {
  const words: readonly [string, string | undefined, readonly string[]][] = [
    ['channel', query.channel, CHANNELS],
    ['endpoint', query.endpoint, ENDPOINT_ORDER],
    ['capability', query.capability, CAPABILITIES],
  ]
  for (const [name, value, known] of words) {
    if (value !== undefined && !known.includes(value)) return `${name}: must be one of ${known.join(', ')}`
  }
  if (query.limit !== undefined && !(/^[0-9]{1,4}$/.test(query.limit) && inLimits(Number(query.limit)))) {
    return `limit: must be a whole number from 1 to ${LIMIT_MAX}`
  }
  if (query.after_id !== undefined && query.before_id !== undefined) return 'after_id, before_id: send only one of them'
  return null
}

function inLimits(limit: number): boolean {
  return limit >= 1 && limit <= LIMIT_MAX
}

function matches({ entry }: CatalogueItem, query: ModelListQuery): boolean {
  if (query.channel !== undefined && entry.channel !== query.channel) return false
  if (query.endpoint !== undefined && !entry.endpoints.some(endpoint => endpoint === query.endpoint)) return false
  return query.capability === undefined || entry.capabilities.some(capability => capability === query.capability)
}

type Page = { readonly items: readonly Rendered[]; readonly hasMore: boolean } | { readonly problem: string }

/** Returns the page after `after_id` or before `before_id`; without either, the first page. */
function cut(matching: readonly Rendered[], query: ModelListQuery): Page {
  const limit = query.limit === undefined ? LIMIT_MAX : Number(query.limit)
  const cursor = query.after_id ?? query.before_id
  const at = matching.findIndex(each => each.catalogueItem.entry.id === cursor)
  if (cursor !== undefined && at < 0) {
    const name = query.after_id !== undefined ? 'after_id' : 'before_id'
    return { problem: `${name}: must be the id of a listed model` }
  }
  if (query.before_id !== undefined) {
    const from = Math.max(0, at - limit)
    return { items: matching.slice(from, at), hasMore: from > 0 }
  }
  const items = matching.slice(at + 1, at + 1 + limit)
  return { items, hasMore: at + 1 + items.length < matching.length }
}

function renderList(items: readonly Rendered[], hasMore: boolean): RenderedBody {
  const id = (each: Rendered | undefined) => JSON.stringify(each?.catalogueItem.entry.id ?? null)
  const data = items.map(each => each.json).join(',')
  const ends = `"first_id":${id(items[0])},"last_id":${id(items.at(-1))}`
  return withEtag(`{"object":"list","data":[${data}],"has_more":${hasMore},${ends}}`)
}

function withEtag(body: string): RenderedBody {
  const made = new Map<Coding, Promise<Buffer>>()
  return {
    body,
    etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`,
    coded(coding) {
      const known = made.get(coding) ?? compress(body, coding, { quality: 6 })
      made.set(coding, known)
      return known
    },
  }
}
