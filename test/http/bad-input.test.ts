/** Every kind of bad input gets a status, a type and a message that says what to do; nothing is charged or held. */

import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { LASTING_TABLES } from '../support/tables.ts'

const CREDIT = 1_000n * 1_000_000n

let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  running = await startTestGateway()
  account = await running.account(CREDIT)
})
afterAll(() => running.close())

interface Sent {
  readonly path?: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer<ArrayBuffer> | ReadableStream | null
}

async function send({ path = '/v1/messages', method = 'POST', headers = {}, body = null }: Sent) {
  const response = await fetch(running.url + path, {
    method,
    headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json', ...headers },
    body,
    duplex: 'half',
  } as RequestInit)
  const text = await response.text()
  return { response, json: text === '' ? null : JSON.parse(text) }
}

const GOOD = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'

/** Fails if a refused call has changed the wallet. */
async function expectUntouched() {
  await running.gateway.readiness.idle()
  expect(await running.balance(account.accountId)).toBe(CREDIT)
  const [holds] = await running.database.sql`select count(*)::int as open from hold`
  expect(holds?.open).toBe(0)
}

const CASES: readonly [name: string, sent: Sent, status: number, type: string, message: RegExp][] = [
  ['malformed JSON', { body: '{"model":' }, 400, 'invalid_request_error', /not valid JSON/],
  ['an empty body', { body: '' }, 400, 'invalid_request_error', /body is empty/],
  ['a body that is not an object', { body: '[1]' }, 400, 'invalid_request_error', /must be a JSON object/],
  [
    'a body nested too deeply',
    { body: GOOD.replace('{', `{"deep":${'['.repeat(100_000)}${']'.repeat(100_000)},`) },
    400,
    'invalid_request_error',
    /nested deeper than 500/,
  ],
  ['no model', { body: '{"messages":[{}]}' }, 400, 'invalid_request_error', /model: Field required/],
  [
    'a model that is not a string',
    { body: '{"model":7,"messages":[{}]}' },
    400,
    'invalid_request_error',
    /model: Input should/,
  ],
  ['no messages', { body: '{"model":"opus"}' }, 400, 'invalid_request_error', /messages: Field required/],
  [
    'messages of the wrong kind',
    { body: '{"model":"opus","messages":{}}' },
    400,
    'invalid_request_error',
    /messages: Input/,
  ],
  ['no message', { body: '{"model":"opus","messages":[]}' }, 400, 'invalid_request_error', /at least one message/],
  [
    'stream of the wrong kind',
    { body: GOOD.replace('{', '{"stream":"yes",') },
    400,
    'invalid_request_error',
    /stream: /,
  ],
  ['max_tokens below 0', { body: GOOD.replace('9', '-1') }, 400, 'invalid_request_error', /max_tokens: /],
  ['max_tokens as a string', { body: GOOD.replace('9', '"9"') }, 400, 'invalid_request_error', /max_tokens: /],
  [
    'an image model on a chat endpoint',
    { body: GOOD.replace('claude-opus-5', 'req/gpt-image-2') },
    400,
    'invalid_request_error',
    /POST \/v1\/images\/generations/,
  ],
  [
    'the wrong method for one model',
    { path: '/v1/models/opus', body: GOOD },
    405,
    'invalid_request_error',
    /GET, HEAD/,
  ],
  ['a broken escape', { path: '/v1/models/%E0%A4%A', method: 'GET' }, 400, 'invalid_request_error', /percent sign/],
  ['the wrong method', { method: 'PUT', body: GOOD }, 405, 'invalid_request_error', /supports POST, not PUT/],
  ['an unknown path', { path: '/v1/nothing', body: GOOD }, 404, 'not_found_error', /endpoints are listed at/],
  [
    'a doubled /v1',
    { path: '/v1/v1/messages?beta=true', body: GOOD },
    404,
    'not_found_error',
    /http:\/\/gateway\.test\b/,
  ],
  ['a missing /v1', { path: '/chat/completions', body: GOOD }, 404, 'not_found_error', /http:\/\/gateway\.test\/v1/],
  [
    'an unknown model in the list',
    { path: '/v1/models/none', method: 'GET' },
    404,
    'not_found_error',
    /no model "none"/,
  ],
  ['an unknown coding', { body: GOOD, headers: { 'content-encoding': 'lzma' } }, 415, 'invalid_request_error', /lzma/],
  [
    'two codings',
    { body: GOOD, headers: { 'content-encoding': 'gzip, gzip' } },
    415,
    'invalid_request_error',
    /gzip, gzip/,
  ],
  [
    'a damaged coding',
    { body: GOOD, headers: { 'content-encoding': 'gzip' } },
    400,
    'invalid_request_error',
    /damaged/,
  ],
]

test.each(CASES)('refuses %s', async (_name, sent, status, type, message) => {
  const { response, json } = await send(sent)
  expect(response.status).toBe(status)
  expect(response.headers.get('content-type')).toMatch(/^application\/json/)
  expect(response.headers.get('x-should-retry')).toBe('false')
  expect(json).toEqual({
    type: 'error',
    error: { type, message: expect.stringMatching(message), code: expect.any(String), param: null },
    request_id: response.headers.get('request-id'),
  })
  expect(response.headers.get('x-request-id')).toBe(json.request_id)
  await expectUntouched()
})

test.each([
  ['no key', {}],
  ['an unknown key', { 'x-api-key': 'sk-svc-none' }],
  ['a key with a quote, for SQL', { 'x-api-key': "sk-svc-' or 1=1 --" }],
  ['a very long key', { 'x-api-key': 'k'.repeat(10_000) }],
  ['another authorization scheme', { authorization: 'Basic abc' }],
])('refuses %s before reading the body', async (_name, headers) => {
  const response = await fetch(`${running.url}/v1/messages`, { method: 'POST', headers, body: '{"model":' })
  expect(response.status).toBe(401)
  expect(await response.json()).toMatchObject({ type: 'error', error: { type: 'authentication_error' } })
})

test('accepts either key when both headers are sent', async () => {
  const { response } = await send({
    body: GOOD,
    headers: { 'x-api-key': 'wrong', authorization: `Bearer ${account.apiKey}` },
  })
  expect(response.status).toBe(200)
  const other = await send({ body: GOOD, headers: { authorization: 'Bearer wrong' } })
  expect(other.response.status).toBe(200)
  await running.gateway.readiness.idle()
  await running.database.sql`select 1`
})

test('refuses a call with an empty wallet, and says where to top up', async () => {
  const poor = await running.account(0n)
  const { response, json } = await send({ body: GOOD, headers: { 'x-api-key': poor.apiKey } })
  expect(response.status).toBe(402)
  expect(response.headers.get('x-should-retry')).toBe('false')
  expect(json.error).toMatchObject({
    type: 'insufficient_balance',
    message: expect.stringContaining('http://gateway.test/topup'),
  })
  expect(await running.usage(poor.accountId)).toMatchObject([{ status: 402, cost: 0n, model: '' }])
})

test('refuses a revoked key at the next call, also in another process', async () => {
  const person = await running.account(CREDIT)
  const sibling = await running.sibling()
  const call = (url: string) =>
    fetch(`${url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': person.apiKey }, body: GOOD })
  expect((await call(running.url)).status).toBe(200)
  expect((await call(sibling.url)).status).toBe(200)
  await running.database
    .sql`update api_key set revoked_at = now(), encryption_id = null, encryption_iv = null, ciphertext = null
                              where key_id = ${person.keyId}`
  for (const url of [running.url, sibling.url]) {
    const response = await call(url)
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: { type: 'authentication_error' } })
    const list = await fetch(`${url}/v1/models`, { headers: { 'x-api-key': person.apiKey } })
    expect(list.status).toBe(401)
  }
})

const LIMIT = 20 * 1024 * 1024

/** A valid body of exactly `bytes` bytes. */
function bodyOf(bytes: number): Buffer<ArrayBuffer> {
  const [head, tail] = [
    '{"model":"claude-opus-5","max_tokens":9,"pad":"',
    '","messages":[{"role":"user","content":"x"}]}',
  ]
  const pad = randomBytes(Math.ceil(bytes / 2)).toString('hex')
  return Buffer.from(head + pad.slice(0, bytes - head.length - tail.length) + tail)
}

test('accepts a body of exactly 20 MB and refuses one byte more, declared, chunked or compressed', async () => {
  const rich = await running.account(1_000_000n * 1_000_000n)
  const headers = { 'x-api-key': rich.apiKey }
  const whole = bodyOf(LIMIT)
  const over = bodyOf(LIMIT + 1)
  const stream = (body: Buffer) =>
    new ReadableStream({
      start(controller) {
        for (let at = 0; at < body.length; at += 1 << 20) controller.enqueue(body.subarray(at, at + (1 << 20)))
        controller.close()
      },
    })
  expect((await send({ body: whole, headers })).response.status).not.toBe(413)
  expect((await send({ body: stream(whole), headers })).response.status).not.toBe(413)
  for (const sent of [
    { body: over, headers },
    { body: stream(over), headers },
    { body: gzipSync(over), headers: { ...headers, 'content-encoding': 'gzip' } },
    { body: brotliCompressSync(over, { params: { 1: 1 } }), headers: { ...headers, 'content-encoding': 'br' } },
    { body: zstdCompressSync(over), headers: { ...headers, 'content-encoding': 'zstd' } },
  ]) {
    const { response, json } = await send(sent)
    expect(response.status).toBe(413)
    expect(json.error).toMatchObject({ type: 'request_too_large', message: expect.stringContaining('20 MB') })
  }
  expect((await running.usage(rich.accountId)).filter(row => row.status === 413)).toHaveLength(5)
})

test('reads compressed bodies', async () => {
  const { response } = await send({ body: zstdCompressSync(GOOD), headers: { 'content-encoding': 'zstd' } })
  expect(response.status).toBe(200)
})

test('reports oversized headers, and bytes that are not HTTP, with the same error shape', async () => {
  const raw = (text: string) =>
    new Promise<string>((resolve, reject) => {
      const url = new URL(running.url)
      const socket = connect(Number(url.port), url.hostname, () => socket.write(text))
      let answer = ''
      socket.on('data', chunk => {
        answer += chunk
      })
      socket.on('end', () => resolve(answer))
      socket.on('error', reject)
    })
  const large = await raw(`GET / HTTP/1.1\r\nhost: x\r\nx-large: ${'a'.repeat(20_000)}\r\n\r\n`)
  expect(large).toMatch(/^HTTP\/1\.1 431 /)
  expect(large).toContain('"type":"invalid_request_error"')
  expect(await raw('nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
})

test('introduces itself on its front page', async () => {
  const page = await fetch(`${running.url}/`)
  expect(page.status).toBe(200)
  expect(await page.json()).toMatchObject({ service: 'svc', models: LASTING_TABLES.entries.length })
  const head = await fetch(`${running.url}/`, { method: 'HEAD' })
  expect(head.status).toBe(200)
  expect(await head.text()).toBe('')
})

test('writes one row of cost 0 for each refused call of an account, and the audit is clean', async () => {
  const person = await running.account(CREDIT)
  for (const body of ['{', '{"model":"opus"}', GOOD.replace('claude-opus-5', 'req/gpt-image-2')]) {
    await send({ body, headers: { 'x-api-key': person.apiKey } })
  }
  expect(await running.usage(person.accountId)).toMatchObject([
    { status: 400, model: '', requested_name: null, cost: 0n },
    { status: 400, model: '', requested_name: null, cost: 0n },
    { status: 400, model: 'req/gpt-image-2', requested_name: null, cost: 0n },
  ])
  expect(await running.balance(person.accountId)).toBe(CREDIT)
  const { audit } = await import('../../src/ledger/audit.ts')
  expect(await audit(running.database.sql)).toMatchObject({ clean: true, openHolds: 0 })
})
