/** The model list as SDKs and price-aware tools read it. */

import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { createCatalogue } from '../../src/catalogue/catalogue.ts'
import { createModelList, type ModelListQuery, type RenderedBody } from '../../src/catalogue/model-list.ts'
import type { Tables } from '../../src/generated/types.ts'
import { LASTING_TABLES } from '../support/tables.ts'
import { compiler, goodTexts, withPassage } from './support.ts'

const catalogue = createCatalogue(LASTING_TABLES)

interface Item extends Record<string, unknown> {
  readonly id: string
}

const models = createModelList(catalogue)

function listed(list = models, query: ModelListQuery = {}) {
  const result = list.list(query)
  if ('problem' in result) throw new Error(result.problem)
  return JSON.parse(result.body) as { data: Item[]; has_more: boolean; first_id: string | null; last_id: string | null }
}

test('the list is one page of all entries, sorted by id', () => {
  const { data, ...rest } = listed()
  expect(data).toHaveLength(LASTING_TABLES.entries.length)
  expect(data.map(item => item.id)).toEqual(data.map(item => item.id).toSorted((a, b) => (a < b ? -1 : 1)))
  expect(rest).toEqual({ object: 'list', has_more: false, first_id: data[0]?.id, last_id: data.at(-1)?.id })
})

test('an item has what both SDK families and price-aware tools read', () => {
  const item = listed().data.find(each => each.id === 'svc/claude-opus-4-6')
  expect(item).toMatchObject({
    id: 'svc/claude-opus-4-6',
    object: 'model',
    type: 'model',
    created: 1770249600,
    created_at: '2026-02-05T00:00:00Z',
    owned_by: 'anthropic',
    display_name: 'Claude Opus 4.6 (AWS)',
    name: 'Claude Opus 4.6 (AWS)',
    context_length: 1_000_000,
    max_input_tokens: 1_000_000,
    max_tokens: 128_000,
    architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
    channel: 'aws',
    api_standard: 'messages',
    endpoints: ['messages', 'chat_completions', 'responses'],
    aliases: [],
    price: { currency: 'VND', unit: '1M_tokens', amount: '7900' },
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
  })
  expect(item?.capabilities).toMatchObject({ vision: { supported: true }, image_input: { supported: true } })
  expect(item).not.toHaveProperty('pricing')
})

test('a price says whether it is per token, per call or per image', () => {
  const prices = new Map(listed().data.map(item => [item.id, item.price]))
  expect(prices.get('gpt-5.2')).toEqual({ currency: 'VND', unit: '1M_tokens', amount: '2400' })
  expect(prices.get('req/deepseek-v4-pro')).toEqual({ currency: 'VND', unit: 'request', amount: '260' })
  expect(prices.get('req/gpt-image-2')).toEqual({ currency: 'VND', unit: 'image', amount: '650' })
})

test('the official SDKs list and retrieve', async () => {
  const answer = (url: string | URL | Request) => {
    const path = new URL(url instanceof Request ? url.url : url).pathname
    const name = decodeURIComponent(path.replace(/^.*\/models\/?/, ''))
    const found = name === '' ? (models.list({}) as RenderedBody) : models.one(name)
    return Promise.resolve(
      new Response(found?.body ?? '{}', {
        status: found === null ? 404 : 200,
        headers: { 'content-type': 'application/json' },
      }),
    )
  }
  const options = { apiKey: 'key', baseURL: 'http://gateway.example/v1', fetch: answer, maxRetries: 0 }
  const openai = new OpenAI(options)
  const anthropic = new Anthropic({ ...options, baseURL: 'http://gateway.example' })
  const ids: string[] = []
  for await (const model of openai.models.list()) ids.push(model.id)
  expect(ids).toHaveLength(LASTING_TABLES.entries.length)
  ids.length = 0
  for await (const model of anthropic.models.list()) ids.push(model.id)
  expect(ids).toHaveLength(LASTING_TABLES.entries.length)
  expect(await openai.models.retrieve('req/gpt-5.5')).toMatchObject({
    id: 'req/gpt-5.5',
    object: 'model',
    owned_by: 'openai',
  })
  expect(await openai.models.retrieve('OpenAI/REQ/GPT-5.5')).toMatchObject({ id: 'req/gpt-5.5' })
  expect(await anthropic.models.retrieve('anthropic/claude-opus-4.5')).toMatchObject({ id: 'claude-opus-4-5' })
  expect(await anthropic.models.retrieve('opus')).toMatchObject({
    id: 'claude-opus-5',
    type: 'model',
    max_tokens: 128_000,
    line: null,
  })
})

test.each<[ModelListQuery, readonly string[]]>([
  [{ channel: 'aws' }, ['svc/alpha-1']],
  [{ channel: 'standard' }, ['alpha-1', 'beta-1', 'beta-2', 'req/alpha-1', 'req/paint']],
  [{ endpoint: 'messages' }, ['alpha-1', 'beta-1', 'beta-2', 'req/alpha-1', 'svc/alpha-1']],
  [{ endpoint: 'responses' }, ['alpha-1', 'beta-1', 'beta-2', 'req/alpha-1', 'svc/alpha-1']],
  [{ endpoint: 'images_generations' }, ['req/paint']],
  [{ capability: 'vision', channel: 'standard', endpoint: 'messages' }, ['alpha-1', 'req/alpha-1']],
])('the filter %j leaves %j', (query, ids) => {
  const { tables } = compiler.compile(goodTexts())
  const list = createModelList(createCatalogue(tables as Tables))
  expect(listed(list, query).data.map(({ id }) => id)).toEqual(ids)
})

test.each<[ModelListQuery, string]>([
  [{ channel: 'AWS' }, 'channel: must be one of standard, aws'],
  [
    { endpoint: '/v1/messages' },
    'endpoint: must be one of messages, chat_completions, responses, images_generations, images_edits, audio_speech',
  ],
  [{ capability: '' }, 'capability: must be one of reasoning, vision, tools, streaming'],
  [{ limit: '0' }, 'limit: must be a whole number from 1 to 1000'],
  [{ after_id: 'nobody' }, 'after_id: must be the id of a listed model'],
  [{ after_id: 'gpt-5.2', before_id: 'gpt-5.2' }, 'after_id, before_id: send only one of them'],
])('the query %j is refused: %s', (query, problem) => {
  expect(models.list(query)).toEqual({ problem })
})

test('pages follow each other without gap or repetition, forwards and backwards', () => {
  const all = listed().data.map(item => item.id)
  const forwards: string[] = []
  for (
    let page = listed(models, { limit: '40' });
    ;
    page = listed(models, { limit: '40', after_id: page.last_id ?? '' })
  ) {
    forwards.push(...page.data.map(item => item.id))
    if (!page.has_more) break
  }
  expect(forwards).toEqual(all)
  const last = listed(models, { limit: '10', before_id: 'gpt-5.2' })
  const at = all.indexOf('gpt-5.2')
  expect(last.data.map(item => item.id)).toEqual(all.slice(at - 10, at))
  expect(last.has_more).toBe(true)
  expect(listed(models, { limit: '1000' }).has_more).toBe(false)
})

test('a body is rendered once, and its ETag changes only with it', () => {
  const first = models.list({})
  expect(models.list({})).toBe(first)
  expect(models.one('opus')).toBe(models.one('claude-opus-5'))
  expect((first as RenderedBody).etag).toMatch(/^"[\w-]{27}"$/)
  const etags = [{}, { channel: 'aws' }, { limit: '2' }].map(query => (models.list(query) as RenderedBody).etag)
  expect(new Set(etags).size).toBe(3)
  expect((createModelList(catalogue).list({}) as RenderedBody).etag).toBe(etags[0])
})

test('unknown names and names of Object.prototype are not models', () => {
  for (const name of ['nobody', '__proto__', 'constructor', '']) expect(models.one(name)).toBeNull()
})

test('a deprecated entry is marked from its date on, and leaves the list when it retires', () => {
  const texts = withPassage(
    'families/beta.yaml',
    '      - id: beta-1\n',
    '      - id: beta-1\n        deprecated: { since: 2026-11-01, retires: 2027-02-01, successor: beta-2 }\n',
  )
  const { tables } = compiler.compile(texts)
  if (tables === null) throw new Error('unreachable')
  let time = Date.parse('2026-10-31T23:59:59Z')
  const now = () => time
  const list = createModelList(createCatalogue(tables, { now }), now)
  const find = () => listed(list).data.find(item => item.id === 'beta-1')
  expect(find()).toMatchObject({
    lifecycle: 'active',
    deprecated_at: null,
    successor: 'beta-2',
    retires_at: '2027-02-01T00:00:00Z',
  })
  const before = list.list({}) as RenderedBody
  time += 1000
  expect(find()).toMatchObject({ lifecycle: 'deprecated', deprecated_at: '2026-11-01T00:00:00Z' })
  expect((list.list({}) as RenderedBody).etag).not.toBe(before.etag)
  time = Date.parse('2027-02-01T00:00:00Z')
  expect(find()).toBeUndefined()
  expect(JSON.parse(list.one('beta-1')?.body ?? '{}')).toMatchObject({ id: 'beta-2' })
})

test('an entry that retires without a successor stays in the list, marked as retired', () => {
  const texts = withPassage(
    'families/paint.yaml',
    '{ id: req/paint,',
    '{ id: req/paint, deprecated: { since: 2026-11-01, retires: 2027-02-01 },',
  )
  const { tables } = compiler.compile(texts)
  if (tables === null) throw new Error('unreachable')
  let time = Date.parse('2027-01-31T23:59:59Z')
  const now = () => time
  const list = createModelList(createCatalogue(tables, { now }), now)
  const find = () => listed(list).data.find(item => item.id === 'req/paint')
  expect(find()).toMatchObject({ lifecycle: 'deprecated' })
  time += 1000
  expect(find()).toMatchObject({ lifecycle: 'retired', retires_at: '2027-02-01T00:00:00Z', successor: null })
})

test('an empty list has no first and no last id', () => {
  const { tables } = compiler.compile(goodTexts())
  if (tables === null) throw new Error('unreachable')
  expect(listed(createModelList(createCatalogue(tables)), { endpoint: 'audio_speech' })).toEqual({
    object: 'list',
    data: [],
    has_more: false,
    first_id: null,
    last_id: null,
  })
})
