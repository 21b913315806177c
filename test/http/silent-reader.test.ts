/** Clients that never read their reply are disconnected when the call's time is up, and no provider is blamed. */

import { once } from 'node:events'
import { createServer, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { brotliCompressSync, constants, createGzip } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { MESSAGES_START, textDelta } from '../support/chat.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { changedTables } from '../support/tables.ts'

const FILLER = 'x'.repeat(1000)
const RESPONSES_START =
  'event: response.created\ndata: {"type":"response.created","response":{"id":"r","output":[]}}\n\n'
const RESPONSES_DELTA = `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"${FILLER}"}\n\n`
const SPEECH_DELTA = `event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"${FILLER}"}\n\n`

interface Route {
  readonly path: string
  /** The request, without its text: that is the route's name, by which the provider knows what to send. */
  readonly body: (text: string) => object
  readonly type: string
  readonly start: string
  /** Repeated endlessly after `start`, but only up to 32 MB with coding `br`: all of it arrives at once, as a few hundred bytes. */
  readonly rest: string
  readonly coding?: 'gzip' | 'br'
}

const speech = (extra: object) => (input: string) => ({ model: 'req/gpt-4o-mini-tts', voice: 'alloy', input, ...extra })
const SSE = 'text/event-stream'
const MESSAGES: Route = {
  path: '/v1/messages',
  body: content => ({ model: 'claude-opus-5', max_tokens: 9, stream: true, messages: [{ role: 'user', content }] }),
  type: SSE,
  start: MESSAGES_START.join(''),
  rest: textDelta(FILLER),
}
const ROUTES: readonly (readonly [name: string, route: Route])[] = [
  ['messages', MESSAGES],
  ['compressed messages', { ...MESSAGES, coding: 'gzip' }],
  ['compressed messages that have arrived', { ...MESSAGES, coding: 'br' }],
  ['converted messages', { ...MESSAGES, path: '/v1/chat/completions' }],
  [
    'responses',
    {
      path: '/v1/responses',
      body: input => ({ model: 'gpt-5.5', input, stream: true }),
      type: SSE,
      start: RESPONSES_START,
      rest: RESPONSES_DELTA,
    },
  ],
  [
    'speech as events',
    {
      path: '/v1/audio/speech',
      body: speech({ stream_format: 'sse' }),
      type: SSE,
      start: SPEECH_DELTA,
      rest: SPEECH_DELTA,
    },
  ],
  ['speech', { path: '/v1/audio/speech', body: speech({}), type: 'audio/mpeg', start: FILLER, rest: FILLER }],
]

const BROTLI = brotliCompressSync(MESSAGES.start + MESSAGES.rest.repeat((32 * 2 ** 20) / MESSAGES.rest.length), {
  params: { [constants.BROTLI_PARAM_QUALITY]: 1 },
})

/** Sends a reply as fast as it is read. */
function pour(response: ServerResponse, { type, start, rest, coding }: Route): void {
  response.writeHead(200, { 'content-type': type, ...(coding && { 'content-encoding': coding }) })
  if (coding === 'br') {
    response.end(BROTLI)
    return
  }
  const chunk = rest.repeat(60)
  function* endless() {
    yield start
    while (!response.destroyed) yield chunk
  }
  // Level 0 does not compress, so the gateway receives as many bytes as are generated.
  const coder = coding === undefined ? new PassThrough() : createGzip({ level: 0 })
  pipeline(Readable.from(endless()), coder, response).catch(() => {})
}

/** How long a call may take. It must suffice for a stream to begin on a busy machine; then the call waits for it to pass. */
const CALL_MS = 20_000
let provider: Server
let running: TestGateway
let log = ''
/** The statuses and costs of two calls per route, in the order of ROUTES. */
let rows: readonly Awaited<ReturnType<TestGateway['usage']>>[]

/** All calls wait at the same time. */
beforeAll(async () => {
  provider = createServer(async (received, response) => {
    const body = await text(received)
    const [, route] = ROUTES.find(([name]) => body.includes(JSON.stringify(name))) as (typeof ROUTES)[number]
    pour(response, route)
  })
  await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  running = await startTestGateway({
    upstreams: { anthropic: url, openai: `${url}/v1` },
    tables: changedTables({
      everyUpstream: { totalTimeoutMs: CALL_MS, cooldown: { failures: 1, baseMs: 600_000, maxMs: 600_000 } },
    }),
    // The streams wait for their readers only, not for their holds.
    environment: { LIMIT_HOLD_EXTEND_TOKENS: '1000000' },
    log: createLog('info', {
      to: {
        write(line) {
          log += line
        },
      },
    }),
  })
  rows = await Promise.all(ROUTES.map(([name, route]) => rowsOf(name, route)))
}, 60_000)
afterAll(async () => {
  await running.close()
  provider.closeAllConnections()
  provider.close()
})

async function rowsOf(name: string, { path, body }: Route) {
  const account = await running.account(1_000_000n * 1_000_000n)
  const calls = Array.from({ length: 2 }, () => {
    const call = request(running.url + path, { method: 'POST', headers: { 'x-api-key': account.apiKey } })
    call.on('error', () => {}).end(JSON.stringify(body(name)))
    return call
  })
  await Promise.all(calls.map(call => once(call, 'response')))
  const found = await running.usage(account.accountId)
  for (const call of calls) call.destroy()
  return found
}

test.each(ROUTES.map(([name], index) => [name, index] as const))(
  '%s: a client that never reads is disconnected and pays',
  (_name, index) => {
    expect(rows[index]?.map(({ status }) => status)).toEqual([499, 499])
    expect(rows[index]?.every(({ cost }) => BigInt(cost) > 0n)).toBe(true)
  },
)

test('no provider is blamed', () => {
  for (const upstream of running.gateway.upstreams.status()) {
    expect(upstream).toMatchObject({ state: 'well', failures: 0, failuresByClass: {} })
  }
  const ofCalls = log.split('\n').filter(line => line.includes('"requestId"'))
  expect(ofCalls.length).toBeGreaterThanOrEqual(2 * ROUTES.length)
  expect(ofCalls.join('\n')).not.toMatch(/"level":("warn"|"error"|40|50)/)
})
