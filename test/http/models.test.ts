/** The model list over real connections: compression, caching by ETag, and the official SDKs. */

import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { LASTING_TABLES } from '../support/tables.ts'

let running: TestGateway
let account: TestAccount
beforeAll(async () => {
  running = await startTestGateway()
  account = await running.account(0n)
})
afterAll(() => running.close())

function ask(path: string, headers: Record<string, string>, method = 'GET') {
  return fetch(running.url + path, { method, headers: { 'x-api-key': account.apiKey, ...headers } })
}

const CODINGS: readonly (readonly [accepted: string, coding: string | null])[] = [
  ['identity', null],
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, deflate, br', 'br'],
  ['GZIP;q=0.5', 'gzip'],
  ['br;q=0, gzip;q=1.0', 'gzip'],
  ['br; q=0.0, gzip;q=0', null],
  ['brotli, xgzip', null],
]

test.each(['/v1/models', '/v1/models?channel=aws', '/v1/models?limit=5', '/v1/models/req/gpt-5.5'])(
  '%s is sent in a coding that the client accepts, with an ETag of its own',
  async path => {
    const plain = await ask(path, { 'accept-encoding': 'identity' })
    const text = await plain.text()
    const tags = new Map<string | null, string>()
    for (const [accepted, coding] of CODINGS) {
      const response = await ask(path, { 'accept-encoding': accepted })
      const { headers } = response
      expect([accepted, headers.get('content-encoding'), headers.get('vary')]).toEqual([
        accepted,
        coding,
        'accept-encoding',
      ])
      expect(await response.text()).toBe(text)
      if (coding !== null && text.length > 10_000)
        expect(Number(headers.get('content-length'))).toBeLessThan(text.length / 5)
      const tag = headers.get('etag') ?? ''
      expect(tags.get(coding) ?? tag).toBe(tag)
      tags.set(coding, tag)
    }
    expect(new Set(tags.values()).size).toBe(3)
    for (const [coding, tag] of tags) {
      const accepted = coding ?? 'identity'
      for (const method of ['GET', 'HEAD']) {
        const known = await ask(path, { 'accept-encoding': accepted, 'if-none-match': `"x", W/${tag}` }, method)
        expect([method, known.status, known.headers.get('etag'), await known.text()]).toEqual([method, 304, tag, ''])
      }
      const other = await ask(path, { 'accept-encoding': accepted === 'br' ? 'gzip' : 'br', 'if-none-match': tag })
      expect([other.status, await other.text()]).toEqual([200, text])
    }
  },
)

test('the query filters the list; fields after the fiftieth are ignored', async () => {
  const list = async (query: string) => {
    const response = await ask(`/v1/models?${query}`, {})
    const { data = [] } = (await response.json()) as { data?: { id: string; channel: string }[] }
    return [response.status, data.length, [...new Set(data.map(({ channel }) => channel))].join()]
  }
  expect(await list('channel=aws&limit=%33')).toEqual([200, 3, 'aws'])
  expect(await list('limit=none')).toEqual([400, 0, ''])
  expect(await list(`${'x=1&'.repeat(49)}limit=2`)).toEqual([200, 2, 'standard'])
  expect(await list(`${'x=1&'.repeat(50)}limit=2`)).toEqual(await list('x=1'))
})

test('the openai SDK reads the compressed list, and pickers see what a model costs', async () => {
  const client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: account.apiKey, maxRetries: 0 })
  const { data, response } = await client.models.list().withResponse()
  expect(response.headers.get('content-encoding')).toMatch(/^(br|gzip)$/)
  const described = new Map(
    data.data.map(model => [model.id, (model as unknown as { description: string }).description]),
  )
  expect(described.size).toBe(LASTING_TABLES.entries.length)
  expect(described.get('gpt-5.5')).toMatch(/^2,400 VND per 1M tokens\. \S/)
  expect(described.get('req/gpt-5.5')).toMatch(/^[\d,]+ VND per request\. \S/)
  expect(described.get('req/gpt-image-2')).toMatch(/^650 VND per image\. \S/)
})
