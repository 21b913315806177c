/**
 * Requests refused before their bodies have arrived: the gateway does not read the bodies, but clients can read the replies.
 */

import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

const MB = 1024 * 1024
const CREDIT = 1_000n * 1_000_000n
const GOOD = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'
const LINGER_MS = 1_500

let running: TestGateway
let account: TestAccount
beforeAll(async () => {
  running = await startTestGateway({
    environment: {
      LIMIT_LINGER_MS: String(LINGER_MS),
      LIMIT_LINGER_BYTES_MAX: String(40 * MB),
      LIMIT_BODY_WAIT_MS: '300',
      LIMIT_KEY_BODIES_BYTES_MAX: String(10 * MB),
      LIMIT_BODIES_BYTES_MAX: String(20 * MB),
      LIMIT_BODY_VALUES_MAX: '2000',
    },
  })
  account = await running.account(CREDIT)
})
afterAll(() => running.close())

function post(key: string, body: string | Buffer<ArrayBuffer>, path = '/v1/messages', headers: object = {}) {
  return fetch(running.url + path, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
    body,
  })
}

/** A raw TCP connection to the gateway. */
class Line {
  answer = ''
  closed = false
  readonly socket: Socket

  constructor(text: string) {
    const { port, hostname } = new URL(running.url)
    this.socket = connect({ port: Number(port), host: hostname }, () => this.socket.write(text))
    this.socket.on('data', chunk => {
      this.answer += chunk
    })
    this.socket.on('error', () => {})
    this.socket.on('close', () => {
      this.closed = true
    })
  }

  async until(what: (line: Line) => boolean): Promise<string> {
    await expect.poll(() => what(this), { interval: 5 }).toBe(true)
    return this.answer
  }

  status(): Promise<string> {
    return this.until(line => /^HTTP\/1\.1 \d+/.test(line.answer)).then(answer => answer.slice(9, 12))
  }
}

function head(key: string, more: string, path = '/v1/messages'): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n${more}\r\n\r\n`
}

test('an empty wallet gets a 402 before the body and a usage row, and a top-up makes the next call work', async () => {
  const poor = await running.account(0n)
  const line = new Line(head(poor.apiKey, `content-length: ${15 * MB}`))
  expect(await line.status()).toBe('402')
  line.socket.destroy()
  expect(await running.usage(poor.accountId)).toMatchObject([{ status: 402, cost: 0n, model: '' }])
  await running.database.sql`update wallet set balance_micro_vnd = 1000000000 where account_id = ${poor.accountId}`
  expect((await post(poor.apiKey, GOOD)).status).toBe(200)
})

test('a wallet that ran dry while its key was cached is checked before the next body', async () => {
  const person = await running.account(CREDIT)
  expect((await post(person.apiKey, GOOD)).status).toBe(200)
  await running.gateway.readiness.idle()
  const drain = (balance: bigint) =>
    running.database
      .sql`update wallet set balance_micro_vnd = ${String(balance)}::bigint where account_id = ${person.accountId}`
  await drain(0n)
  expect((await post(person.apiKey, GOOD)).status).toBe(402)
  const line = new Line(head(person.apiKey, `content-length: ${15 * MB}`))
  expect(await line.status()).toBe('402')
  line.socket.destroy()
  await drain(CREDIT)
  expect((await post(person.apiKey, GOOD)).status).toBe(200)
})

test('tokens are counted for an empty wallet', async () => {
  const poor = await running.account(0n)
  const answer = await post(poor.apiKey, GOOD, '/v1/messages/count_tokens')
  expect(answer.status).toBe(200)
  expect(await answer.json()).toEqual({ input_tokens: expect.any(Number) })
})

const values = Array(3000).fill('{}').join(',')
test.each([
  ['/v1/messages', `{"model":"claude-opus-5","messages":[${values}]}`],
  ['/v1/chat/completions', `{"model":"claude-opus-5","messages":[${values}]}`],
  ['/v1/responses', `{"model":"gpt-5.5","input":[${values}]}`],
  ['/v1/messages/count_tokens', `{"model":"claude-opus-5","messages":[${values}]}`],
  ['/v1/images/generations', `{"model":"req/gpt-image-2","prompt":"x","more":[${values}]}`],
  ['/v1/images/edits', `{"model":"req/gpt-image-2","prompt":"x","image":"x","more":[${values}]}`],
  ['/v1/audio/speech', `{"model":"x","input":"x","voice":"x","more":[${values}]}`],
])('%s refuses a body with too many values, and names the limit', async (path, body) => {
  const answer = await post(account.apiKey, body, path)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({
    error: { type: 'invalid_request_error', message: expect.stringContaining('more than 2000 values') },
  })
})

test.each([
  ['/v1/messages', { ...JSON.parse(GOOD) }],
  ['/v1/chat/completions', { ...JSON.parse(GOOD) }],
  ['/v1/responses', { model: 'gpt-5.5', input: 'x' }],
  ['/v1/messages/count_tokens', { ...JSON.parse(GOOD) }],
  ['/v1/images/generations', { model: 'req/gpt-image-2', prompt: 'x' }],
])('%s refuses a body with more than a thousand top-level fields', async (path, body) => {
  const fields = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, 1]))
  const known = Object.keys(body).length
  const answer = await post(account.apiKey, JSON.stringify({ ...body, ...fields(1001 - known) }), path)
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({
    error: { type: 'invalid_request_error', message: expect.stringContaining('more than 1000 top-level fields') },
  })
  expect((await post(account.apiKey, JSON.stringify({ ...body, ...fields(1000 - known) }), path)).status).toBe(200)
})

test('a key whose bodies use up its permits waits, then gets 429; others are served, and a finished body makes room', async () => {
  const held = [1, 2].map(() => new Line(head(account.apiKey, `content-length: ${5 * MB}`)))
  await expect.poll(() => running.gateway.server.bodies.permits.bytes).toBe(10 * MB)
  const refused = await post(account.apiKey, GOOD)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('2')
  expect(await refused.json()).toMatchObject({ error: { type: 'rate_limit_error', code: 'rate_limited' } })
  const other = await running.account(CREDIT)
  expect((await post(other.apiKey, GOOD)).status).toBe(200)
  const waiting = post(account.apiKey, GOOD)
  held[0]?.socket.destroy()
  expect((await waiting).status).toBe(200)
  held[1]?.socket.destroy()
  await expect.poll(() => running.gateway.server.bodies.permits.bytes).toBe(0)
})

test('a full process makes bodies of all keys wait, and chunked ones need permits as they grow', async () => {
  const others = await Promise.all([1, 2].map(() => running.account(CREDIT)))
  const full = others.map(({ apiKey }) => new Line(head(apiKey, `content-length: ${10 * MB}`)))
  await expect.poll(() => running.gateway.server.bodies.permits.bytes).toBe(20 * MB)
  expect((await post(account.apiKey, GOOD)).status).toBe(429)
  full[0]?.socket.destroy()
  await expect.poll(() => running.gateway.server.bodies.permits.bytes).toBe(10 * MB)
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(Buffer.alloc(11 * MB, ' '))
      controller.enqueue(Buffer.from(GOOD))
      controller.close()
    },
  })
  const grown = await fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
    body: stream,
    duplex: 'half',
  } as RequestInit)
  expect(grown.status).toBe(429)
  full[1]?.socket.destroy()
  await expect.poll(() => running.gateway.server.bodies.permits.bytes).toBe(0)
  expect(running.gateway.server.bodies.permits.waiting).toBe(0)
})

test('a body that grows a thousandfold when decoded is refused', async () => {
  const body = gzipSync(Buffer.from(GOOD.replace('"x"', `"${'a'.repeat(4 * MB)}"`)))
  const answer = await post(account.apiKey, body, '/v1/messages', { 'content-encoding': 'gzip' })
  expect(answer.status).toBe(413)
  expect(await answer.json()).toMatchObject({ error: { message: expect.stringContaining('more than 100 times') } })
})

const TRIES = 8
const statusOf = (error: unknown) => (error as { status?: number }).status

test('413 for 21 MB and 401 for 15 MB reach Node’s fetch and both SDKs, every time', async () => {
  const large = GOOD.replace('"x"', `"${randomBytes(10.5 * MB).toString('hex')}"`)
  const medium = large.slice(0, 15 * MB)
  const messages = (content: string) => [{ role: 'user' as const, content }]
  const seen: (number | undefined)[] = []
  for (let count = 0; count < TRIES; count++) {
    seen.push((await post(account.apiKey, large)).status, (await post('sk-svc-wrong', medium)).status)
    for (const [apiKey, content] of [
      [account.apiKey, large],
      ['sk-svc-wrong', medium],
    ] as const) {
      const anthropic = new Anthropic({ baseURL: running.url, apiKey, maxRetries: 0 })
      const openai = new OpenAI({ baseURL: `${running.url}/v1`, apiKey, maxRetries: 0 })
      const body = { model: 'claude-opus-5', messages: messages(content) }
      seen.push(statusOf(await anthropic.messages.create({ ...body, max_tokens: 9 }).catch(error => error)))
      seen.push(statusOf(await openai.chat.completions.create(body).catch(error => error)))
    }
  }
  expect(seen.filter(status => status === 413)).toHaveLength(3 * TRIES)
  expect(seen.filter(status => status === 401)).toHaveLength(3 * TRIES)
}, 120_000)

test('404 and 415 are sent without reading the body into memory, and clients can read them', async () => {
  const body = randomBytes(15 * MB)
  expect((await post('sk-svc-wrong', body, '/v1/nothing')).status).toBe(404)
  const coded = await post(account.apiKey, body, '/v1/messages', { 'content-encoding': 'lzma' })
  expect(coded.status).toBe(415)
  expect(running.gateway.server.bodies.permits.bytes).toBe(0)
})

test('a client that keeps sending after its refusal is disconnected after some time, or some bytes', async () => {
  const slow = new Line(head('sk-svc-wrong', `content-length: ${30 * MB}`))
  expect(await slow.status()).toBe('401')
  const drip = setInterval(() => slow.socket.write('x'), 50)
  const start = performance.now()
  await slow.until(line => line.closed)
  clearInterval(drip)
  expect(performance.now() - start).toBeGreaterThan(LINGER_MS / 2)
  const greedy = new Line(head('sk-svc-wrong', `content-length: ${1000 * MB}`))
  expect(await greedy.status()).toBe('401')
  const chunk = Buffer.alloc(MB)
  let sent = 0
  const push = (): void => {
    while (!greedy.closed && sent < 200 * MB) {
      sent += MB
      if (!greedy.socket.write(chunk)) return void greedy.socket.once('drain', push)
    }
  }
  push()
  await greedy.until(line => line.closed)
  expect(sent).toBeLessThan(100 * MB)
})

test.each([
  ['no Host', ''],
  ['two Hosts', 'host: a\r\nHost: b\r\n'],
])('%s is 400', async (_name, hosts) => {
  const line = new Line(`GET /healthz HTTP/1.1\r\n${hosts}connection: close\r\n\r\n`)
  const answer = await line.until(({ closed }) => closed)
  expect(answer).toMatch(/^HTTP\/1\.1 400 /)
  expect(answer).toContain('exactly one Host header')
})

test('100 Continue is sent only if key and length are valid', async () => {
  const expecting = (key: string, length: number) =>
    new Line(head(key, `expect: 100-continue\r\nconnection: close\r\ncontent-length: ${length}`))
  for (const [key, length, status] of [
    ['sk-svc-wrong', GOOD.length, '401'],
    [account.apiKey, 21 * MB, '413'],
    [(await running.account(0n)).apiKey, GOOD.length, '402'],
  ] as const) {
    const line = expecting(key, length)
    const answer = await line.until(({ closed }) => closed)
    expect(answer.slice(9, 12)).toBe(status)
    expect(answer).not.toContain('100 Continue')
  }
  const good = expecting(account.apiKey, GOOD.length)
  expect(await good.status()).toBe('100')
  good.socket.write(GOOD)
  expect(await good.until(({ closed }) => closed)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
})

test('a client that got 100 Continue and is refused in mid-body can read the reply', async () => {
  const line = new Line(head(account.apiKey, 'expect: 100-continue\r\ntransfer-encoding: chunked'))
  expect(await line.status()).toBe('100')
  const chunk = `${MB.toString(16)}\r\n${' '.repeat(MB)}\r\n`
  for (let count = 0; count < 22; count++) line.socket.write(chunk)
  await line.until(({ answer }) => answer.includes('HTTP/1.1 413 '))
  expect(running.gateway.server.lingering.size).toBe(1)
  line.socket.write('0\r\n\r\n')
  expect(await line.until(({ closed }) => closed)).toContain('"code":"request_too_large"')
})

test('every reply of the API forbids sniffing its type', async () => {
  for (const answer of [
    await post(account.apiKey, GOOD),
    await post(account.apiKey, '{'),
    await post('sk-svc-wrong', GOOD),
    await post(account.apiKey, GOOD.replace('{', '{"stream":true,')),
    await fetch(`${running.url}/v1/models`, { headers: { 'x-api-key': account.apiKey } }),
    await fetch(`${running.url}/v1/nothing`),
    await fetch(`${running.url}/healthz`),
  ]) {
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    await answer.text()
  }
})
