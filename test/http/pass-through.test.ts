/**
 * If client and provider use the same format, bytes pass unchanged except for the model's name, however the provider's stream is
 * split.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

const PER_VND = 1_000_000n
const CREDIT = 1_000_000n * PER_VND

interface Seen {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

let provider: Server
let answer: (response: ServerResponse, request: IncomingMessage) => void | Promise<void>
let seen: Seen[] = []
let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  provider = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    seen.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks).toString('utf8') })
    await answer(response, request)
  })
  await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  running = await startTestGateway({ upstreams: { anthropic: url, openai: `${url}/v1`, deepseek: url } })
})
beforeEach(async () => {
  seen = []
  account = await running.account(CREDIT)
})
afterAll(async () => {
  await running.close()
  provider.closeAllConnections()
  provider.close()
})

const json =
  (status: number, body: string, headers: Record<string, string> = {}) =>
  (response: ServerResponse) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)
  }

function stream(chunks: readonly (string | Buffer)[], { end = true } = {}) {
  return async (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of chunks) {
      response.write(chunk)
      await new Promise(resolve => setImmediate(resolve))
    }
    if (end) response.end()
    else response.destroy()
  }
}

function call(path: string, body: string, headers: Record<string, string> = {}) {
  return fetch(running.url + path, { method: 'POST', headers: { 'x-api-key': account.apiKey, ...headers }, body })
}

const REPLY =
  '{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5-20260601","content":[{"type":"text","text":"Xin chào \\u0111ó","big":12345678901234567890}],' +
  '"stop_reason":"end_turn","new_field":{"__proto__":{"x":1}},"usage":{"input_tokens":10,"cache_read_input_tokens":5,"cache_creation_input_tokens":2,"output_tokens":7}}'

test('relays every byte of a request and of a reply, except the model', async () => {
  answer = json(200, REPLY)
  const body =
    '{ "max_tokens" : 10, "x_unknown": 12345678901234567890, "model":"opus",\n "messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"ế\\u00e9","__proto__":{"a":1}}]}], "metadata":{"model":"inner"}}'
  const response = await call('/v1/messages?beta=true', body, {
    'anthropic-version': '2026-10-21',
    'anthropic-beta': 'a-1,b-2',
    cookie: 'secret=1',
  })
  expect(response.status).toBe(200)
  expect(seen[0]?.body).toBe(body.replace('"opus"', '"claude-opus-5"'))
  expect(seen[0]?.path).toBe('/v1/messages')
  expect(seen[0]?.headers).toMatchObject({
    'x-api-key': 'upstream-secret-1',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'a-1,b-2',
    'accept-encoding': 'identity',
  })
  expect(seen[0]?.headers.cookie).toBeUndefined()
  expect(seen[0]?.headers.authorization).toBeUndefined()
  expect(await response.text()).toBe(REPLY.replace('claude-opus-5-20260601', 'claude-opus-5'))
})

test('bills every input token that the provider reports, to the µVND', async () => {
  answer = json(200, REPLY)
  const response = await call(
    '/v1/messages',
    '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}',
  )
  await response.text()
  expect(Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('x-svc-')))).toEqual({
    'x-svc-model': 'claude-opus-5',
    'x-svc-price-vnd-per-mtok': '6500',
    'x-svc-input-tokens': '17',
    'x-svc-output-tokens': '7',
    'x-svc-balance-vnd': '999999.844',
    'x-svc-cost-vnd': '0.156',
    'x-svc-wire': 'messages',
  })
  expect(await running.balance(account.accountId)).toBe(CREDIT - 24n * 6500n)
  expect(await running.usage(account.accountId)).toEqual([
    {
      model: 'claude-opus-5',
      requested_name: null,
      status: 200,
      input_tokens: 17,
      output_tokens: 7,
      cost: 24n * 6500n,
      charged: 24n * 6500n,
      balance_after: CREDIT - 24n * 6500n,
      streamed: false,
      estimated: false,
    },
  ])
})

test('bills a per-call entry at its fixed price', async () => {
  answer = json(200, REPLY)
  const response = await call(
    '/v1/messages',
    '{"model":"req/claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}',
  )
  expect(((await response.json()) as { model: string }).model).toBe('req/claude-opus-5')
  expect(response.headers.get('x-svc-price-vnd-per-request')).toBe('1500')
  expect(response.headers.get('x-svc-cost-vnd')).toBe('1500')
  expect(await running.balance(account.accountId)).toBe(CREDIT - 1500n * PER_VND)
})

test('maps aliases and unknown names, and reports it', async () => {
  answer = json(200, REPLY)
  const of = async (model: string) => {
    const body = JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'x' }] })
    const response = await call('/v1/messages', body)
    const reply = (await response.json()) as { model: string }
    return [reply.model, response.headers.get('x-svc-model'), response.headers.get('x-svc-model-mapped-from')]
  }
  expect(await of('claude-opus-5')).toEqual(['claude-opus-5', 'claude-opus-5', null])
  expect(await of('claude-opus-5[1m]')).toEqual(['claude-opus-5', 'claude-opus-5', null])
  expect(await of('sonnet')).toEqual(['claude-sonnet-5', 'claude-sonnet-5', 'sonnet'])
  expect(await of('claude-opus-5-5')).toEqual(['claude-opus-5', 'claude-opus-5', 'claude-opus-5-5'])
  expect(await of('haiku')).toEqual(['claude-fable-5', 'claude-fable-5', 'haiku'])
  const odd = 'tên lạ\r\nx: y\0\ud800'
  expect(await of(odd)).toEqual(['claude-fable-5', 'claude-fable-5', encodeURIComponent(odd.toWellFormed())])
  const long = await of('ế'.repeat(1000))
  expect(long[2]?.length).toBeLessThanOrEqual(256)
  expect(() => decodeURIComponent(long[2] as string)).not.toThrow()
  expect((await running.usage(account.accountId)).map(row => row.requested_name?.slice(0, 6) ?? null)).toEqual([
    null,
    null,
    'sonnet',
    'claude',
    'haiku',
    'tên lạ',
    'ếếếếếế',
  ])
})

test('if a body has two models, the one billed is the one sent upstream', async () => {
  answer = json(200, REPLY)
  await call(
    '/v1/messages',
    '{"model":"claude-haiku-4-5","max_tokens":9,"messages":[{"role":"user","content":"x"}],"model":"claude-fable-5"}',
  )
  expect(seen[0]?.body).toBe('{"max_tokens":9,"messages":[{"role":"user","content":"x"}],"model":"claude-fable-5"}')
})

const EVENTS = [
  'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"claude-opus-5-20260601","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}\n\n',
  'event: ping\ndata: {"type": "ping"}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Tiếng Việt 🌿 \\"model\\":\\"x\\""}}\n\n',
  'event: brand_new\ndata: {"type":"brand_new","model":"untouched"}\n\n',
  ': a comment\n\n',
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":25}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
]
const STREAMED = '{"model":"claude-opus-5","stream":true,"max_tokens":9,"messages":[{"role":"user","content":"x"}]}'

test.each([1, 2, 7, 100_000])(
  'relays a messages stream split every %i bytes, byte for byte except the model',
  async size => {
    const bytes = Buffer.from(EVENTS.join(''))
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    )
    answer = stream(chunks)
    const response = await call('/v1/messages', STREAMED)
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('x-svc-model')).toBe('claude-opus-5')
    expect(response.headers.get('x-svc-cost-vnd')).toBeNull()
    expect(await response.text()).toBe(EVENTS.join('').replace('claude-opus-5-20260601', 'claude-opus-5'))
    expect(await running.usage(account.accountId)).toMatchObject([
      { status: 200, input_tokens: 10, output_tokens: 25, cost: 35n * 6500n, streamed: true, estimated: false },
    ])
  },
)

const CHUNK = (rest: string) =>
  `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"gpt-5.5-2026-04-23",${rest}}\n\n`
const CHAT_EVENTS = [
  CHUNK('"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null'),
  CHUNK('"choices":[{"index":0,"delta":{"content":"Chào"},"finish_reason":null}],"x_new":true'),
  CHUNK('"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]'),
  CHUNK('"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":4,"total_tokens":15}'),
  'data: [DONE]\n\n',
]

test('requests usage from a chat upstream, and hides the usage chunk from a client that did not request it', async () => {
  answer = stream(CHAT_EVENTS)
  const plain = '{"model":"gpt-5.5","stream":true,"messages":[{"role":"user","content":"x"}]}'
  const response = await call('/v1/chat/completions', plain)
  const expected = CHAT_EVENTS.filter(event => !event.includes('"choices":[]')).join('')
  expect(await response.text()).toBe(expected.replaceAll('gpt-5.5-2026-04-23', 'gpt-5.5'))
  expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({ stream_options: { include_usage: true } })
  const asked = plain.replace('{', '{"stream_options":{"include_usage":true},')
  expect(await (await call('/v1/chat/completions', asked)).text()).toBe(
    CHAT_EVENTS.join('').replaceAll('gpt-5.5-2026-04-23', 'gpt-5.5'),
  )
  expect(seen[1]?.body).toBe(asked)
  expect(await running.usage(account.accountId)).toMatchObject([
    { cost: 15n * 2400n, input_tokens: 11, output_tokens: 4 },
    { cost: 15n * 2400n, input_tokens: 11, output_tokens: 4 },
  ])
})

test('settles a stream before its last event is sent', async () => {
  answer = stream(EVENTS)
  const response = await call('/v1/messages', STREAMED)
  await response.text()
  const [row] = await running.database
    .sql`select count(*)::int as rows from usage where account_id = ${account.accountId}`
  expect(row?.rows).toBe(1)
})

test.each<[string, typeof answer, number, string]>([
  [
    '400',
    json(400, '{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: too many"}}'),
    400,
    'invalid_request_error',
  ],
  ['401', json(401, '{"error":{"message":"Incorrect API key provided: upstream-secret-1"}}'), 502, 'api_error'],
  ['402', json(402, '{"error":{"message":"Insufficient Balance"}}'), 502, 'api_error'],
  ['429', json(429, '{"error":{"message":"slow down"}}', { 'retry-after': '7' }), 429, 'rate_limit_error'],
  ['500', json(500, 'oops'), 502, 'api_error'],
  ['529', json(529, '{"type":"error","error":{"type":"overloaded_error","message":"x"}}'), 503, 'service_unavailable'],
  ['garbage', json(200, '<html>'), 502, 'api_error'],
  ['an error in a 200', json(200, '{"error":{"message":"x"}}'), 502, 'api_error'],
  ['a closed connection', response => void response.destroy(), 502, 'api_error'],
])('does not charge for %s by the provider', async (_name, behaviour, status, type) => {
  answer = behaviour
  for (const body of [STREAMED.replace('"stream":true,', ''), STREAMED]) {
    const response = await call('/v1/messages', body)
    const text = await response.text()
    expect([response.status, (JSON.parse(text) as { error: { type: string } }).error.type]).toEqual([status, type])
    expect(text).not.toContain('upstream-secret')
    if (status === 429) expect(response.headers.get('retry-after')).toBe('7')
  }
  expect(await running.balance(account.accountId)).toBe(CREDIT)
  expect((await running.usage(account.accountId)).map(row => row.status)).toEqual([status, status])
})

test('a stream that ends early gets an error event and is not charged', async () => {
  for (const behaviour of [stream(EVENTS.slice(0, 4)), stream(EVENTS.slice(0, 4), { end: false })]) {
    answer = behaviour
    const text = await (await call('/v1/messages', STREAMED)).text()
    expect(text).toMatch(/event: error\ndata: \{"type":"error","error":\{"type":"api_error".*\n\n$/)
    expect(text).not.toContain('message_stop')
  }
  answer = stream([...CHAT_EVENTS.slice(0, 2), 'data: {"error":{"message":"boom","type":"server_error"}}\n\n'])
  const chat = await (await call('/v1/chat/completions', STREAMED.replace('claude-opus-5', 'gpt-5.5'))).text()
  expect(chat).toMatch(/\n\ndata: \{"type":"error","error":\{.*\n\n$/)
  expect(chat).not.toContain('[DONE]')
  expect(await running.balance(account.accountId)).toBe(CREDIT)
  expect((await running.usage(account.accountId)).map(row => row.status)).toEqual([502, 502, 502])
})

test('an error before the first event is a true HTTP error', async () => {
  answer = stream([
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  ])
  const response = await call('/v1/messages', STREAMED)
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ error: { type: 'service_unavailable' } })
})

test('a client that leaves a stream pays for what was sent to it, and the provider is aborted', async () => {
  let aborted: () => void = () => {}
  const upstreamClosed = new Promise<void>(resolve => {
    aborted = resolve
  })
  answer = response => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.on('close', aborted)
    response.write(EVENTS.slice(0, 4).join(''))
  }
  const leaving = new AbortController()
  const response = await fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: STREAMED,
    signal: leaving.signal,
  })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  while (!text.includes('content_block_delta')) text += Buffer.from((await reader.read()).value ?? []).toString()
  leaving.abort()
  await upstreamClosed
  const [row] = await running.usage(account.accountId)
  expect(row).toMatchObject({ status: 499, input_tokens: 10, estimated: true })
  expect(row?.output_tokens).toBeGreaterThan(4)
  expect(row?.output_tokens).toBeLessThan(25)
  expect(row?.cost).toBe(BigInt(10 + (row?.output_tokens ?? 0)) * 6500n)
})

test('a client that leaves a non-streamed call pays for the finished call', async () => {
  let release: () => void = () => {}
  const arrived = new Promise<void>(resolve => {
    answer = async response => {
      resolve()
      await new Promise<void>(finish => {
        release = finish
      })
      json(200, REPLY)(response)
    }
  })
  const leaving = new AbortController()
  const gone = running.clientGone()
  const request = fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: STREAMED.replace('"stream":true,', ''),
    signal: leaving.signal,
  }).catch(() => null)
  await arrived
  leaving.abort()
  await request
  await gone
  release()
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 499, cost: 24n * 6500n, estimated: false }])
})

test('a reply without usage is counted here and marked as estimated', async () => {
  answer = json(200, '{"type":"message","model":"m","content":[{"type":"text","text":"one two three four"}]}')
  const body = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'
  const response = await call('/v1/messages', body)
  expect(response.headers.get('x-svc-output-tokens')).toBe('4')
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 200, output_tokens: 4, estimated: true }])
})

test('plain JSON in reply to a streamed call is replayed as a stream', async () => {
  answer = json(200, REPLY)
  const response = await call('/v1/messages', STREAMED)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const text = await response.text()
  expect([...text.matchAll(/^event: (\w+)$/gm)].map(match => match[1])).toEqual([
    'message_start',
    'content_block_start',
    'content_block_delta',
    'content_block_stop',
    'message_delta',
    'message_stop',
  ])
  expect(text).not.toContain('claude-opus-5-20260601')
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 200, cost: 24n * 6500n, estimated: false }])
})

test('a complete stream without usage is counted here and marked as estimated', async () => {
  answer = stream(EVENTS.map(event => event.replace(',"usage":{"output_tokens":25}', '')))
  await (await call('/v1/messages', STREAMED)).text()
  const [row] = await running.usage(account.accountId)
  expect(row).toMatchObject({ status: 200, input_tokens: 10, estimated: true })
  expect(row?.output_tokens).toBeGreaterThan(4)
})

test.each([
  ['more tokens than any call can use', '{"input_tokens":2000000000,"output_tokens":7}'],
  ['nothing at all', '{"input_tokens":0,"output_tokens":0}'],
  ['negative counts', '{"input_tokens":-10,"output_tokens":-7}'],
])('ignores a provider that reports %s: counts here, and leaves no hold', async (_name, usage) => {
  answer = json(
    200,
    `{"type":"message","model":"m","content":[{"type":"text","text":"one two three"}],"usage":${usage}}`,
  )
  const response = await call('/v1/messages', STREAMED.replace('"stream":true,', ''))
  expect(response.status).toBe(200)
  await response.text()
  const [row] = await running.usage(account.accountId)
  expect(row).toMatchObject({ status: 200, estimated: true })
  expect(row?.cost).toBeGreaterThan(0n)
  const [holds] = await running.database.sql`select count(*)::int as open from hold`
  expect(holds?.open).toBe(0)
})

test.each([
  ['/v1/messages', STREAMED, EVENTS.slice(-1)],
  ['/v1/chat/completions', STREAMED.replace('claude-opus-5', 'gpt-5.5'), CHAT_EVENTS.slice(-1)],
])('a stream of %s with nothing but its end is not a reply and costs nothing', async (path, body, events) => {
  answer = stream(events)
  const response = await call(path, body)
  const text = await response.text()
  expect(text).toContain('"api_error"')
  expect(await running.balance(account.accountId)).toBe(CREDIT)
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 502, cost: 0n }])
})
