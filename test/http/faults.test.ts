/**
 * Provider faults over real sockets. For each fault: what the client gets and pays, the hold, the usage row, and that no secret
 * leaks.
 */

import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import {
  chatCall,
  goodMessage,
  MESSAGE,
  MESSAGES_END,
  MESSAGES_START,
  MESSAGES_STREAM,
  messagesEvent,
  textDelta,
} from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway, type UsageRow } from '../support/gateway.ts'
import {
  type Answer,
  drop,
  end,
  hang,
  head,
  json,
  pause,
  raw,
  reset,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  until,
  write,
} from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'

const CREDIT = 1_000_000n * 1_000_000n
const ENTRY = 'claude-opus-5'
/** A model whose provider may be silent only for a short time. */
const IMPATIENT = 'claude-sonnet-4-6'
/** A model whose calls have a short total time limit. */
const HURRIED = 'claude-haiku-4-5'
const PRICE = 6500n
const SECRET = 'upstream-secret-1'

let provider: ScriptedUpstream
let answer: Answer
let running: TestGateway
let account: TestAccount
let log = ''

beforeAll(async () => {
  provider = await startScriptedUpstream(() => answer)
  // Prevents cooldowns, so that each case starts with a healthy upstream.
  const cooldown = { failures: 1000, baseMs: 0, maxMs: 0 }
  running = await startTestGateway({
    tables: changedTables({
      everyUpstream: { cooldown },
      upstreams: {
        deepseek: { totalTimeoutMs: 2_000, paths: { messages: '/v1/messages' } },
        xai: { firstByteTimeoutMs: 400, idleTimeoutMs: 900, paths: { messages: '/v1/messages' } },
      },
      targets: { [HURRIED]: ['deepseek'], [IMPATIENT]: ['xai'] },
    }),
    upstreams: { anthropic: provider.url, deepseek: provider.url, xai: provider.url },
    environment: { LIMIT_PING_AFTER_MS: '100', LIMIT_REPLY_BYTES_MAX: '1000000' },
    log: createLog('info', {
      to: {
        write(line) {
          log += line
        },
      },
    }),
  })
})
beforeEach(async () => {
  account = await running.account(CREDIT)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

function call(extra: object = {}, signal?: AbortSignal) {
  return fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: chatCall(ENTRY, extra),
    ...(signal === undefined ? {} : { signal }),
  })
}

/** The account's only usage row. Fails unless the wallet agrees with it and has no hold. */
async function rowOf(): Promise<UsageRow> {
  const rows = await running.usage(account.accountId)
  expect(rows).toHaveLength(1)
  const row = rows[0] as UsageRow
  const { sql } = running.database
  const [wallet] = await sql`select held_micro_vnd::text as held from wallet where account_id = ${account.accountId}`
  const holds = await sql`select 1 from hold where account_id = ${account.accountId}`
  expect([wallet?.held, holds.length]).toEqual(['0', 0])
  expect(row.charged).toBe(row.cost)
  expect(await running.balance(account.accountId)).toBe(CREDIT - row.charged)
  return row
}

function expectNoSecret(...texts: string[]) {
  for (const text of [...texts, log]) {
    expect(text).not.toContain(SECRET)
    expect(text).not.toContain(account.apiKey)
    expect(text).not.toContain('a secret prompt')
  }
}

const overloaded = { type: 'error', error: { type: 'overloaded_error', message: `Overloaded ${SECRET}` } }
const htmlPage = write(`<html>${SECRET}</html>`)
const JSON_HEAD = head(200, { 'content-type': 'application/json' })
const MEGABYTES = Buffer.alloc(5_000_000, 'a')

const AT_ONCE: readonly [
  name: string,
  answer: Answer,
  status: number,
  type: string,
  calls?: 'streamed' | 'impatient',
][] = [
  ['a reset before the headers', [reset()], 502, 'api_error'],
  ['an end before the headers', [drop()], 502, 'api_error'],
  ['a reset after the headers', [JSON_HEAD, reset()], 502, 'api_error'],
  ['a reset in the body', [JSON_HEAD, write('{"type":'), reset()], 502, 'api_error'],
  ['a reset after the headers of a stream', [sse(), reset()], 502, 'api_error'],
  ['half a line of a stream', [sse(), write('data: {"ty'), end()], 502, 'api_error'],
  ['silence before the headers', [hang()], 502, 'api_error', 'impatient'],
  ['silence after the headers', [sse(), hang()], 502, 'api_error', 'impatient'],
  ['bytes that are not HTTP', [raw(`\x00\x01 garbage ${SECRET}\r\n\r\n`)], 502, 'api_error'],
  ['HTML', [head(200, { 'content-type': 'text/html' }), htmlPage, end()], 502, 'api_error'],
  ['HTML as an error', [head(500, { 'content-type': 'text/html' }), htmlPage, end()], 502, 'api_error'],
  ['HTML labelled as a stream', [sse(), htmlPage, end()], 502, 'api_error'],
  ['an empty reply', [JSON_HEAD, end()], 502, 'api_error'],
  ['half a reply', [JSON_HEAD, write('{"type":"mess'), end()], 502, 'api_error'],
  ['an error in a 200', json(200, overloaded), 503, 'service_unavailable'],
  [
    'an error as the first event',
    [sse(), write(messagesEvent(overloaded)), end()],
    503,
    'service_unavailable',
    'streamed',
  ],
  [
    '400',
    json(400, { error: { type: 'invalid_request_error', message: `bad ${SECRET}` } }),
    400,
    'invalid_request_error',
  ],
  ['413', json(413, { error: { message: 'too large' } }), 413, 'request_too_large'],
  ['401', json(401, { error: { message: `Incorrect API key ${SECRET}` } }), 502, 'api_error'],
  ['402', json(402, { error: { message: 'Insufficient Balance' } }), 502, 'api_error'],
  ['403', json(403, { error: { message: SECRET } }), 502, 'api_error'],
  ['404', json(404, { error: { message: `no model ${SECRET}` } }), 502, 'api_error'],
  ['429', json(429, { error: { message: SECRET } }, { 'retry-after': '7' }), 429, 'rate_limit_error'],
  ['429 without a time to wait', json(429, { error: { message: SECRET } }), 429, 'rate_limit_error'],
  ['429 in a reply of status 200', json(200, { error: { message: SECRET, code: 429 } }), 429, 'rate_limit_error'],
  ['500', json(500, { error: { message: SECRET } }), 502, 'api_error'],
  ['503', json(503, {}), 503, 'service_unavailable'],
  ['529', json(529, overloaded), 503, 'service_unavailable'],
  ['an unknown coding', [head(200, { 'content-encoding': 'secret' }), write('x'), end()], 502, 'api_error'],
  ['damaged compression', [head(200, { 'content-encoding': 'gzip' }), write('not gzip'), end()], 502, 'api_error'],
  [
    'truncated compressed data',
    [head(200, { 'content-encoding': 'gzip' }), write(gzipSync(JSON.stringify(MESSAGE)).subarray(0, 40)), end()],
    502,
    'api_error',
  ],
  [
    'a small reply that decodes to megabytes',
    [head(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }), write(gzipSync(MEGABYTES)), end()],
    502,
    'api_error',
  ],
]

test.each(AT_ONCE)('%s is an HTTP error that costs nothing', async (name, fault, status, type, calls) => {
  for (const stream of calls === 'streamed' ? [true] : [false, true]) {
    answer = fault
    account = await running.account(CREDIT)
    const response = await call({ stream, ...(calls === 'impatient' && { model: IMPATIENT }) })
    const text = await response.text()
    const body = JSON.parse(text) as { type: string; error: { type: string }; request_id: string }
    expect([response.status, body.type, body.error.type]).toEqual([status, 'error', type])
    expect(body.request_id).toBe(response.headers.get('request-id'))
    if (status === 429) expect(response.headers.get('retry-after')).toBe(name === '429' ? '7' : '10')
    expect(await rowOf()).toMatchObject({ status, cost: 0n, streamed: stream })
    expectNoSecret(text)
  }
})

const LATER: readonly [name: string, rest: Answer, model?: string][] = [
  ['a reset', [reset()]],
  ['a premature end', [end()]],
  ['a FIN in the middle', [drop()]],
  ['half a line', [write('data: {"ty'), end()]],
  ['garbage', [write('data: {{{\n\n'), end()]],
  ['an error event', [write(messagesEvent(overloaded)), end()]],
  ['silence', [hang()], IMPATIENT],
]

test.each(LATER)(
  '%s after the first events is an error event that costs nothing',
  async (_name, rest, model = ENTRY) => {
    answer = [sse(), write(MESSAGES_START.join('') + textDelta('Xin')), ...rest]
    const response = await call({ model, stream: true })
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(text).toMatch(
      /event: error\ndata: \{"type":"error","error":\{"type":"(api_error|overloaded_error)".*\}\n\n$/,
    )
    expect(text).not.toContain('message_stop')
    expect(await rowOf()).toMatchObject({ cost: 0n, streamed: true, status: expect.toSatisfy(status => status >= 502) })
    expectNoSecret(text)
  },
)

test('an error event that the client may see contains no credential', async () => {
  const refusal = { type: 'error', error: { type: 'invalid_request_error', message: `bad input for ${SECRET}` } }
  answer = [sse(), write(MESSAGES_START.join('') + messagesEvent(refusal)), end()]
  const text = await (await call({ stream: true })).text()
  expect(text).toContain('bad input for ***')
  expectNoSecret(text)
})

test('clients get pings while a provider is silent, until it has been silent too long', async () => {
  answer = [sse(), write(MESSAGES_START.join('')), hang()]
  const text = await (await call({ model: IMPATIENT, stream: true })).text()
  expect(text).toMatch(/event: ping\ndata: \{"type":"ping"\}\n\n(event: ping[\s\S]*)?event: error\n/)
})

test('a provider that never stops sending is disconnected when the call’s time is up', async () => {
  const { promise: never } = Promise.withResolvers<void>()
  const slowly = Array.from({ length: 100 }, () => [write(textDelta('x')), pause(50)]).flat()
  answer = [sse(), write(MESSAGES_START.join('')), ...slowly, until(never)]
  const response = await call({ model: HURRIED, stream: true })
  const text = await response.text()
  expect(text).toMatch(/event: error\n[^\n]*\n\n$/)
  expect(text.split('text_delta').length).toBeLessThan(100)
  expect(await provider.requests.at(-1)?.outcome).toBe('aborted')
})

test('uses the later report of a provider that reports usage twice', async () => {
  const usage = (tokens: number) =>
    messagesEvent({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: tokens } })
  const text = MESSAGES_START.join('') + textDelta('x') + usage(9) + usage(30) + messagesEvent({ type: 'message_stop' })
  answer = [sse(), write(text), end()]
  await (await call({ stream: true })).text()
  expect(await rowOf()).toMatchObject({ status: 200, input_tokens: 10, output_tokens: 30, cost: 40n * PRICE })
})

test('counts what a provider does not report, and marks it as estimated', async () => {
  const silent = messagesEvent({ type: 'message_start', message: { id: 'm', model: 'upstream-name', content: [] } })
  const stop = messagesEvent({ type: 'message_delta', delta: { stop_reason: 'end_turn' } })
  answer = [sse(), write(silent + textDelta('one two three') + stop + messagesEvent({ type: 'message_stop' })), end()]
  await (await call({ stream: true })).text()
  const row = await rowOf()
  expect(row).toMatchObject({ status: 200, output_tokens: 3, estimated: true })
  expect(row.input_tokens).toBeGreaterThan(0)
})

test.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
])('reads replies compressed with %s although this was not requested', async (coding, compress) => {
  answer = [
    head(200, { 'content-type': 'application/json', 'content-encoding': coding }),
    write(compress(JSON.stringify(MESSAGE)), { cutEvery: 7 }),
    end(),
  ]
  const whole = await call()
  expect(whole.headers.get('content-encoding')).toBeNull()
  expect(await whole.json()).toEqual({ ...MESSAGE, model: ENTRY })
  expect(await rowOf()).toMatchObject({ status: 200, cost: 17n * PRICE })
  account = await running.account(CREDIT)
  answer = [sse({ 'content-encoding': coding }), write(compress(MESSAGES_STREAM), { cutEvery: 11 }), end()]
  expect(await (await call({ stream: true })).text()).toBe(MESSAGES_STREAM.replace('upstream-name', ENTRY))
  expect(await rowOf()).toMatchObject({ status: 200, cost: 35n * PRICE })
})

test('relays a million tiny events', async () => {
  const events = 1_000_000
  const chunk = Buffer.from(textDelta('x').repeat(1000))
  answer = [
    sse(),
    write(MESSAGES_START.join('')),
    ...Array.from({ length: events / 1000 }, () => write(chunk)),
    write(MESSAGES_END.join('')),
    end(),
  ]
  const response = await call({ stream: true })
  let bytes = 0
  let tail = Buffer.alloc(0)
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += part.length
    tail = Buffer.concat([tail, part]).subarray(-200)
  }
  expect(bytes).toBeGreaterThan(events * textDelta('x').length)
  expect(tail.toString()).toMatch(/event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/)
  expect(await rowOf()).toMatchObject({ status: 200, output_tokens: 25 })
})

test('a client that leaves before the first event pays nothing, and the provider’s request is aborted', async () => {
  for (const silence of [[hang()], [sse(), hang()], [sse(), write(': wait\n\n'), hang()]] as Answer[]) {
    account = await running.account(CREDIT)
    answer = silence
    log = ''
    const before = provider.requests.length
    const leaving = new AbortController()
    const left = call({ stream: true }, leaving.signal).catch(() => null)
    await provider.received(before + 1)
    leaving.abort()
    await left
    expect(await provider.requests[before]?.outcome).toBe('aborted')
    expect(await rowOf()).toMatchObject({ status: 499, cost: 0n })
    expect(provider.requests.length).toBe(before + 1)
    expect(log).not.toMatch(/"level":"?(warn|error|40|50)/)
  }
})

test('a client that leaves while it waits for money is no error of the gateway', async () => {
  account = await running.account(100_000n)
  answer = [hang()]
  log = ''
  const before = provider.requests.length
  const leaving = new AbortController()
  const holding = call({ stream: true }, leaving.signal).catch(() => null)
  await provider.received(before + 1)
  const waiting = call({}, leaving.signal).catch(() => null)
  await expect.poll(() => running.gateway.readiness.callsInFlight).toBe(2)
  leaving.abort()
  await Promise.all([holding, waiting])
  const rows = await running.usage(account.accountId)
  expect(rows.map(({ status, cost }) => [status, cost])).toEqual([
    [499, 0n],
    [499, 0n],
  ])
  expect(provider.requests.length).toBe(before + 1)
  expect(log).not.toMatch(/"level":"?(warn|error|40|50)/)
})

test('client headers never go upstream, and provider headers never come back', async () => {
  answer = [
    head(200, { 'content-type': 'application/json', 'x-ratelimit-limit': '5', 'set-cookie': SECRET }),
    write(JSON.stringify(MESSAGE)),
    end(),
  ]
  const response = await fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${account.apiKey}`,
      cookie: 'c=1',
      'x-forwarded-for': '1.2.3.4',
      'user-agent': 'agent',
      'x-custom': 'y',
    },
    body: chatCall(ENTRY),
  })
  expect([...response.headers.keys()].filter(name => /ratelimit|cookie/.test(name))).toEqual([])
  const sent = provider.requests.at(-1)?.headers ?? {}
  expect(Object.keys(sent).toSorted()).toEqual([
    'accept',
    'accept-encoding',
    'anthropic-version',
    'connection',
    'content-length',
    'content-type',
    'host',
    'x-api-key',
  ])
  expect(sent['x-api-key']).toBe(SECRET)
  answer = goodMessage
})
