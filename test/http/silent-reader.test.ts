/** Clients that never read their reply are disconnected when the call's time is up, and no provider is blamed. */

import { once } from 'node:events'
import { createServer, request, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough, Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { brotliCompressSync, constants, createGzip } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createLog } from '../../src/lib/log.ts'
import { chatCall, MESSAGES_START, textDelta } from '../support/chat.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { changedTables } from '../support/tables.ts'

const FILLER = 'x'.repeat(1000)
const RESPONSES_START =
  'event: response.created\ndata: {"type":"response.created","response":{"id":"r","output":[]}}\n\n'
const RESPONSES_DELTA = `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"${FILLER}"}\n\n`
const SPEECH_DELTA = `event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"${FILLER}"}\n\n`

interface Route {
  readonly path: string
  readonly body: string
  readonly type: string
  readonly start: string
  /** Repeated endlessly after `start`, but only up to 32 MB with coding `br`: all of it arrives at once, as a few hundred bytes. */
  readonly rest: string
  readonly coding?: 'gzip' | 'br'
}

const speech = (extra: object) => JSON.stringify({ model: 'req/gpt-4o-mini-tts', input: 'x', voice: 'alloy', ...extra })
const SSE = 'text/event-stream'
const MESSAGES: Route = {
  path: '/v1/messages',
  body: chatCall('claude-opus-5', { stream: true }),
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
      body: JSON.stringify({ model: 'gpt-5.5', input: 'x', stream: true }),
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

/** Sends a reply as fast as it is read. */
function pour(response: ServerResponse, { type, start, rest, coding }: Route): void {
  response.writeHead(200, { 'content-type': type, ...(coding && { 'content-encoding': coding }) })
  if (coding === 'br') {
    const all = start + rest.repeat((32 * 2 ** 20) / rest.length)
    response.end(brotliCompressSync(all, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }))
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

let route: Route
let provider: Server
let running: TestGateway
let log = ''

beforeAll(async () => {
  provider = createServer((_request, response) => pour(response, route))
  await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`
  running = await startTestGateway({
    upstreams: { anthropic: url, openai: `${url}/v1` },
    tables: changedTables({
      everyUpstream: { totalTimeoutMs: 3_000, cooldown: { failures: 1, baseMs: 600_000, maxMs: 600_000 } },
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
})
afterAll(async () => {
  await running.close()
  provider.closeAllConnections()
  provider.close()
})

test.each(ROUTES)(
  '%s: a client that never reads is disconnected and pays, and no provider is blamed',
  async (_name, given) => {
    route = given
    log = ''
    const account = await running.account(1_000_000n * 1_000_000n)
    const calls = Array.from({ length: 2 }, () => {
      const call = request(running.url + route.path, { method: 'POST', headers: { 'x-api-key': account.apiKey } })
      call.on('error', () => {}).end(route.body)
      return call
    })
    await Promise.all(calls.map(call => once(call, 'response')))
    const rows = await running.usage(account.accountId)
    expect(rows.map(({ status }) => status)).toEqual([499, 499])
    expect(rows.every(({ cost }) => BigInt(cost) > 0n)).toBe(true)
    for (const upstream of running.gateway.upstreams.status()) {
      expect(upstream).toMatchObject({ state: 'well', failures: 0, failuresByClass: {} })
    }
    const ofCalls = log.split('\n').filter(line => line.includes('"requestId"'))
    expect(ofCalls.join('\n')).toMatch(/"level":("info"|30)/)
    expect(ofCalls.join('\n')).not.toMatch(/"level":("warn"|"error"|40|50)/)
    for (const call of calls) call.destroy()
  },
)
