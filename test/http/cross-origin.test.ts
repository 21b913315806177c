/** Calls from pages of other origins: the API answers them as the vendors' APIs do, and nothing else does. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

const ORIGIN = 'https://chat.example'
const BODY = JSON.stringify({ model: 'claude-opus-5', max_tokens: 50, messages: [{ role: 'user', content: 'x' }] })

let running: TestGateway
let account: TestAccount
beforeAll(async () => {
  running = await startTestGateway()
  account = await running.account(1_000n * 1_000_000n)
})
afterAll(() => running.close())

function preflight(path: string, headers = 'authorization,content-type,x-stainless-lang', method = 'POST') {
  return fetch(running.url + path, {
    method: 'OPTIONS',
    headers: { origin: ORIGIN, 'access-control-request-method': method, 'access-control-request-headers': headers },
  })
}

function call(path: string, init: RequestInit = {}, key = account.apiKey) {
  return fetch(running.url + path, {
    ...init,
    headers: { origin: ORIGIN, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  })
}

function crossOriginOf({ headers }: Response): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => name.startsWith('access-control-')))
}

const READABLE = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' }

test.each([
  ['/v1/messages', 'POST'],
  ['/v1/messages?beta=true', 'POST'],
  ['/v1/chat/completions', 'POST'],
  ['/v1/responses', 'POST, GET'],
  ['/v1/models', 'GET, HEAD'],
  ['/v1/models/req/tts-1', 'GET, HEAD'],
])('a preflight for %s is granted with the headers that SDKs send, without a key', async (path, methods) => {
  const answer = await preflight(path)
  expect(answer.status).toBe(204)
  expect(await answer.text()).toBe('')
  const allowed = answer.headers
    .get('access-control-allow-methods')
    ?.split(', ')
    .filter(name => name !== 'HEAD')
  expect(allowed?.sort()).toEqual(
    methods
      .split(', ')
      .filter(name => name !== 'HEAD')
      .sort(),
  )
  expect(crossOriginOf(answer)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-headers': 'authorization,content-type,x-stainless-lang',
    'access-control-max-age': '86400',
  })
})

test('replies, streams and lists can be read by the page, with all their headers', async () => {
  const whole = await call('/v1/messages', { method: 'POST', body: BODY })
  expect([whole.status, crossOriginOf(whole)]).toEqual([200, READABLE])
  expect(whole.headers.get('x-svc-cost-vnd')).not.toBeNull()
  const stream = await call('/v1/chat/completions', { method: 'POST', body: BODY.replace('{', '{"stream":true,') })
  expect([stream.status, crossOriginOf(stream)]).toEqual([200, READABLE])
  expect(await stream.text()).toContain('[DONE]')
  const models = await call('/v1/models')
  expect([models.status, crossOriginOf(models)]).toEqual([200, READABLE])
})

test('errors can be read, too: before the body, in the call, and for a wrong path', async () => {
  const wrongKey = await call('/v1/messages', { method: 'POST', body: BODY }, 'sk-svc-wrong')
  expect([wrongKey.status, crossOriginOf(wrongKey)]).toEqual([401, READABLE])
  const malformed = await call('/v1/messages', { method: 'POST', body: '{' })
  expect([malformed.status, crossOriginOf(malformed)]).toEqual([400, READABLE])
  const tooLarge = await call('/v1/messages', { method: 'POST', body: 'x'.repeat(21 * 1024 * 1024) })
  expect([tooLarge.status, crossOriginOf(tooLarge)]).toEqual([413, READABLE])
  const wrongPath = await call('/v1/v1/messages', { method: 'POST', body: BODY })
  expect([wrongPath.status, crossOriginOf(wrongPath)]).toEqual([404, READABLE])
})

test('requests that do not come from a page get no such headers', async () => {
  const answer = await fetch(`${running.url}/v1/models`, { headers: { 'x-api-key': account.apiKey } })
  expect([answer.status, crossOriginOf(answer)]).toEqual([200, {}])
})

test('paths that read cookies are closed to other pages', async () => {
  for (const path of ['/playground/v1/messages', '/signin', '/keys', '/operator', '/']) {
    const asked = await preflight(path)
    expect([path, asked.status >= 400, crossOriginOf(asked)]).toEqual([path, true, {}])
    const read = await call(path)
    expect([path, crossOriginOf(read)]).toEqual([path, {}])
  }
})
