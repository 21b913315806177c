/**
 * Each entry is served on the endpoints that the catalogue lists for it; on any other endpoint, the error names the right ones.
 */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { MODEL_ENDPOINTS } from '../../src/endpoints/index.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { API_ROUTES } from '../../src/http/endpoints.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  running = await startTestGateway()
  account = await running.account(1_000_000n)
})
afterAll(() => running.close())

/** The fields that any endpoint requires besides the model, so that only the model can be wrong. */
const BODY = {
  messages: [{ role: 'user', content: 'x' }],
  prompt: 'x',
  input: 'x',
  voice: 'alloy',
  image: 'iVBORw0KGgo=',
}

function call(path: string, body: object, headers: Record<string, string> = { 'x-api-key': account.apiKey }) {
  return fetch(running.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

test('an entry that is not served on an endpoint is refused there, and the ones that serve it are named', async () => {
  const misplaced = MODEL_ENDPOINTS.flatMap(route =>
    TABLES.entries
      .filter(entry => !(entry.endpoints as readonly string[]).includes(route.name))
      .map(entry => ({ route, entry })),
  )
  expect(misplaced.length).toBeGreaterThan(200)
  account = await running.account(1_000_000n)
  for (const { route, entry } of misplaced) {
    const response = await call(route.path, { ...BODY, model: entry.id })
    const served = entry.endpoints.map(endpoint => MODEL_ENDPOINTS.find(other => other.name === endpoint)?.path)
    const { error } = (await response.json()) as { error: { type: string; message: string } }
    expect([response.status, error.type]).toEqual([400, 'invalid_request_error'])
    expect(error.message).toBe(
      `model: ${entry.id} is not served on ${route.path}. Call it with ${served.map(path => `POST ${path}`).join(' or ')}.`,
    )
  }
})

test('the usage row of a call on the wrong endpoint names the model, even if it was called by an alias', async () => {
  account = await running.account(1_000_000n)
  await call('/v1/images/generations', { ...BODY, model: 'claude-opus-5' })
  await call('/v1/messages', { ...BODY, model: 'req/gpt-image-2' })
  await call('/v1/responses', { ...BODY, model: 'opus' })
  const rows = await running.usage(account.accountId)
  expect(rows.map(({ model, requested_name, status, cost }) => ({ model, requested_name, status, cost }))).toEqual([
    { model: 'claude-opus-5', requested_name: null, status: 400, cost: 0n },
    { model: 'req/gpt-image-2', requested_name: null, status: 400, cost: 0n },
    { model: 'claude-opus-5', requested_name: 'opus', status: 400, cost: 0n },
  ])
})

test('every route that declares a key refuses calls without one, before it reads the body', async () => {
  const guarded = API_ROUTES.filter(route => route.authentication === 'key')
  expect(guarded.length).toBeGreaterThanOrEqual(9)
  for (const { method, path } of guarded) {
    const response = await fetch(running.url + path.replace('*', 'x'), {
      method,
      ...(method === 'POST' && { body: '{' }),
    })
    expect([path, response.status]).toEqual([path, 401])
  }
})

test('a path below an endpoint is referred to the endpoint', async () => {
  const response = await fetch(`${running.url}/v1/chat/completions/chatcmpl-1`, {
    headers: { 'x-api-key': account.apiKey },
  })
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({
    error: {
      type: 'not_found_error',
      message:
        'There is no GET /v1/chat/completions/chatcmpl-1; only http://gateway.test/v1/chat/completions itself is served, and no path below it.',
    },
  })
})

test('a base URL without /v1 is pointed out on every endpoint; pages are for browsers without a key', async () => {
  const key = account.apiKey
  const programs: Record<string, string>[] = [
    { 'x-api-key': key },
    { authorization: `Bearer ${key}` },
    { accept: '*/*' },
    { accept: 'application/json' },
    { accept: 'text/html', 'x-api-key': key },
    { accept: 'text/html', authorization: 'Bearer sk-svc-wrong' },
  ]
  const paths = MODEL_ENDPOINTS.map(({ path }): string => path).concat(
    '/v1/messages/count_tokens',
    '/v1/models',
    '/v1/models/gpt-5.5',
  )
  for (const path of paths.map(served => served.slice('/v1'.length))) {
    for (const headers of programs) {
      for (const method of ['GET', 'HEAD', 'POST']) {
        const response = await fetch(running.url + path, { method, headers })
        const found = [method, path, headers, response.status, response.headers.get('content-type')]
        expect(found).toEqual([method, path, headers, 404, 'application/json; charset=utf-8'])
        if (method === 'HEAD') continue
        const { error } = (await response.json()) as { error: { message: string } }
        expect(error.message).toContain(`http://gateway.test/v1${path.replace(/(?<=^\/models)\/.*/, '')}. `)
      }
    }
  }
  for (const path of ['/models', '/models/gpt-5.5']) {
    for (const headers of [{}, { authorization: 'Basic dTpw' }]) {
      const page = await fetch(running.url + path, { headers: { ...headers, accept: 'text/html,*/*;q=0.8' } })
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    }
  }
})
