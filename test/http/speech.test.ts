/**
 * Speech calls over real connections: audio is relayed as it arrives, every served call costs the entry's price per call, and a
 * client can tell that a reply was truncated.
 */

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  drop,
  end,
  head,
  json,
  reset,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  until,
  write,
} from '../support/scripted-upstream.ts'

const PER_VND = 1_000_000n
const CREDIT = 100_000n * PER_VND
const PRICE = 1350n * PER_VND
const MODEL = 'req/gpt-4o-mini-tts'

let answer: Answer
let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  provider = await startScriptedUpstream(() => answer)
  running = await startTestGateway({ upstreams: { openai: `${provider.url}/v1` } })
})
beforeEach(async () => {
  account = await running.account(CREDIT)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

function speak(body: object | string, signal?: AbortSignal) {
  const whole =
    typeof body === 'string' ? body : JSON.stringify({ model: MODEL, input: 'Xin chào', voice: 'alloy', ...body })
  return fetch(`${running.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: whole,
    ...(signal && { signal }),
  })
}

async function expectRow(row: object, spent: bigint) {
  expect(await running.usage(account.accountId)).toMatchObject([row])
  expect(await running.balance(account.accountId)).toBe(CREDIT - spent)
}

const AUDIO = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7) % 256))
const audio = (type = 'audio/mpeg') => head(200, { 'content-type': type })

test('audio is relayed as it arrives, byte for byte, with the provider’s content type', async () => {
  const more = Promise.withResolvers<void>()
  answer = [audio(), write(AUDIO.subarray(0, 100)), until(more.promise), write(AUDIO.subarray(100)), end()]
  const body = `{ "model":"${MODEL}","input":"Xin ch\\u00e0o","voice":"alloy","speed":1.25,"instructions":"ấm áp","x_new":12345678901234567890}`
  const response = await speak(body)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const chunks = [Buffer.from((await reader.read()).value ?? [])]
  expect(chunks[0]?.length).toBe(100)
  more.resolve()
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(Buffer.from(next.value))
  expect(Buffer.concat(chunks).equals(AUDIO)).toBe(true)
  expect(response.headers.get('content-type')).toBe('audio/mpeg')
  expect(provider.requests.at(-1)?.path).toBe('/v1/audio/speech')
  expect(provider.requests.at(-1)?.body.toString()).toBe(body.replace(MODEL, 'gpt-4o-mini-tts'))
  expect(Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('x-svc-')))).toEqual({
    'x-svc-model': MODEL,
    'x-svc-price-vnd-per-request': '1350',
    'x-svc-cost-vnd': '1350',
  })
  await expectRow({ status: 200, cost: PRICE, charged: PRICE, streamed: false, model: MODEL }, PRICE)
})

test('the call is settled before the audio ends', async () => {
  answer = [audio('audio/wav'), write(AUDIO), end()]
  await (await speak({})).arrayBuffer()
  const [row] = await running.database.sql`select count(*)::int as n from usage where account_id = ${account.accountId}`
  expect(row?.n).toBe(1)
})

const DELTA = 'event: speech.audio.delta\ndata: {"type":"speech.audio.delta","audio":"AAAA"}\n\n'
const DONE =
  'event: speech.audio.done\ndata: {"type":"speech.audio.done","usage":{"input_tokens":4,"output_tokens":90,"total_tokens":94}}\n\n'

test('events pass byte for byte, at the same price', async () => {
  answer = [sse(), write(DELTA + DELTA + DONE, { cutEvery: 9 }), end()]
  const response = await speak({ stream_format: 'sse' })
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(await response.text()).toBe(DELTA + DELTA + DONE)
  expect(provider.requests.at(-1)?.headers.accept).toBe('text/event-stream')
  await expectRow({ status: 200, cost: PRICE, streamed: true, input_tokens: 4, output_tokens: 90 }, PRICE)
})

test.each<[string, Answer]>([
  ['is reset', [audio(), write(AUDIO), reset()]],
  ['is dropped', [audio(), write(AUDIO), drop()]],
])('audio that %s is truncated for the client, too, and not charged', async (_name, behaviour) => {
  answer = behaviour
  const response = await speak({})
  expect(response.status).toBe(200)
  await expect(response.arrayBuffer()).rejects.toThrow()
  await expectRow({ status: 502, cost: 0n }, 0n)
})

test('an event stream that ends early gets an error event and is not charged', async () => {
  answer = [sse(), write(DELTA), end()]
  const text = await (await speak({ stream_format: 'sse' })).text()
  expect(text.startsWith(DELTA)).toBe(true)
  expect(text).toMatch(/data: \{"type":"error","error":\{.*\n\n$/)
  await expectRow({ status: 502, cost: 0n }, 0n)
})

test('a client that leaves in the middle pays the price, and the provider is aborted', async () => {
  answer = [audio(), write(AUDIO), { do: 'hang' }]
  const leaving = new AbortController()
  const response = await speak({}, leaving.signal)
  await (response.body as ReadableStream<Uint8Array>).getReader().read()
  leaving.abort()
  expect(await provider.requests.at(-1)?.outcome).toBe('aborted')
  await expectRow({ status: 499, cost: PRICE }, PRICE)
})

test('a client that leaves before the first byte pays nothing', async () => {
  answer = [{ do: 'hang' }]
  const before = provider.requests.length
  const leaving = new AbortController()
  const request = speak({}, leaving.signal).catch(() => null)
  await provider.received(before + 1)
  leaving.abort()
  await request
  expect(await provider.requests.at(-1)?.outcome).toBe('aborted')
  await expectRow({ status: 499, cost: 0n }, 0n)
})

test.each<[string, Answer, number]>([
  ['an unknown voice', json(400, { error: { message: "Invalid value: 'nobody'", param: 'voice' } }), 400],
  ['a broken provider', [head(500), write('oops'), end()], 502],
  ['an empty reply', [audio(), end()], 502],
  ['an error in a 200', json(200, { error: { message: 'x' } }), 502],
])('does not charge for %s', async (_name, behaviour, status) => {
  answer = behaviour
  const response = await speak({ voice: 'nobody' })
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ type: 'error' })
  await expectRow({ status, cost: 0n }, 0n)
})

test.each([
  ['no input', { input: undefined }, /input: Field required/],
  ['an empty input', { input: '  ' }, /input: Input should be a non-empty string/],
  ['an input that is not a string', { input: ['x'] }, /input: /],
  ['no voice', { voice: undefined }, /voice: Field required/],
  ['a voice that is not a name', { voice: 7 }, /voice: /],
  ['an unknown stream format', { stream_format: 'ws' }, /stream_format: Input should be audio or sse/],
  ['a chat model', { model: 'gpt-5.5' }, /gpt-5\.5 is not served on \/v1\/audio\/speech\. Call it with POST/],
  ['an unknown model', { model: 'tts-9' }, /\/v1\/audio\/speech serves: req\/gpt-4o-mini-tts/],
])('refuses %s', async (_name, body, message) => {
  const before = provider.requests.length
  const response = await speak(body)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { message: expect.stringMatching(message) } })
  expect(provider.requests.length).toBe(before)
  await expectRow({ status: 400, cost: 0n }, 0n)
})
