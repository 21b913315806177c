/**
 * Clients that end their side of the connection once they have sent their request (half-close), as some health checks and simple
 * programs do. A client that has left looks the same, so calls are not run for them.
 */

import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goodMessage } from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { type ScriptedUpstream, startScriptedUpstream, until } from '../support/scripted-upstream.ts'

const BODY = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'

let gate = Promise.withResolvers<void>()
let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount
beforeAll(async () => {
  provider = await startScriptedUpstream(() => [until(gate.promise), ...goodMessage])
  running = await startTestGateway({ upstreams: { anthropic: provider.url } })
  account = await running.account(1_000_000n * 1_000_000n)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

/** Sends the text and, at once or when `sent` resolves, ends this side. Returns all that was received until the gateway closed its side. */
function exchange(text: string, sent: () => Promise<unknown> = async () => {}): Promise<string> {
  const { port, hostname } = new URL(running.url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true }, () => {
      socket.write(text)
      void sent().then(() => socket.end())
    })
    socket.on('data', data => {
      received += data
    })
    socket.on('end', () => resolve(received))
    socket.on('error', reject)
  })
}

const statusesIn = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
const request = (line: string, headers = '') => `${line} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`
const post = (path: string, body: string, headers = '') =>
  `${request(`POST ${path}`, `x-api-key: ${account.apiKey}\r\n${headers}content-length: ${body.length}\r\n`)}${body}`

test('get the reply of every route that runs no model, and then the connection is closed', async () => {
  const key = `x-api-key: ${account.apiKey}\r\n`
  const browser = 'accept: text/html\r\n'
  for (const [text, status] of [
    [request('GET /healthz'), 200],
    [request('GET /readyz'), 200],
    ['GET /readyz HTTP/1.0\r\n\r\n', 200],
    [request('GET /v1/models', key), 200],
    [request('GET /v1/models', 'x-api-key: sk-svc-wrong\r\n'), 401],
    [request('GET /v1/key', key), 200],
    [request('GET /signin', browser), 200],
    [request('GET /nothing', browser), 404],
    [post('/v1/messages/count_tokens', BODY), 200],
  ] as const) {
    const received = await exchange(text)
    expect([text, statusesIn(received)]).toEqual([text, [status]])
    const length = Number(/content-length: (\d+)/i.exec(received)?.[1])
    expect([text, Buffer.byteLength(received.slice(received.indexOf('\r\n\r\n') + 4))]).toEqual([text, length])
  }
})

test('get the replies to all requests that they have sent ahead', async () => {
  const received = await exchange(request('GET /readyz').repeat(3) + request('GET /healthz'))
  expect(statusesIn(received)).toEqual([200, 200, 200, 200])
})

test('a call whose client has ended its side counts as left: it is not sent, and costs nothing', async () => {
  const before = provider.requests.length
  const received = await exchange(post('/v1/messages', BODY))
  expect(received).toBe('')
  await expect.poll(async () => (await running.usage(account.accountId)).length).toBe(1)
  const [row] = await running.usage(account.accountId)
  expect(row).toMatchObject({ cost: 0n, charged: 0n })
  expect([400, 499]).toContain(row?.status)
  expect(provider.requests.length).toBe(before)
})

test('a stream whose client ends its side is aborted at once', async () => {
  gate = Promise.withResolvers<void>()
  const before = provider.requests.length
  const received = exchange(post('/v1/messages', BODY.replace('{', '{"stream":true,')), () =>
    provider.received(before + 1),
  )
  expect(await received).toBe('')
  expect(await provider.requests.at(-1)?.outcome).toBe('aborted')
  gate.resolve()
})

test('a truncated request gets an error', async () => {
  const received = await exchange(post('/v1/messages', BODY).slice(0, -10))
  expect(statusesIn(received)).toEqual([400])
})
