/** How long a provider may be silent: briefly before the first byte of a stream, and afterwards until the call's time is up. */

import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { UPSTREAMS } from '../../src/generated/upstreams.ts'
import { NEVER_CANCELLED } from '../../src/lib/cancellation.ts'
import { SseReader } from '../../src/lib/sse.ts'
import { awaitFirstEvent } from '../../src/pipeline/first-event.ts'
import { UpstreamReply } from '../../src/upstream/reply.ts'
import { chatCall } from '../support/chat.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  end,
  hang,
  pause,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  write,
} from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'

const ENTRY = 'claude-haiku-4-5'
const IMAGES = 'req/gpt-image-2'
const FIRST_BYTE_MS = 300
let answer: Answer
let provider: ScriptedUpstream
let running: TestGateway

beforeAll(async () => {
  provider = await startScriptedUpstream(() => answer)
  running = await startTestGateway({
    tables: changedTables({
      everyUpstream: { cooldown: { failures: 1000, baseMs: 0, maxMs: 0 } },
      upstreams: {
        xai: {
          firstByteTimeoutMs: FIRST_BYTE_MS,
          paths: { messages: '/v1/messages', images_generations: '/v1/images/generations' },
        },
      },
      targets: { [ENTRY]: ['xai'], [IMAGES]: ['xai'] },
    }),
    upstreams: { xai: provider.url },
    environment: { LIMIT_PING_AFTER_MS: '100' },
  })
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

test('the catalogue lets every stream be silent for 15 minutes, and allows 2 for the first byte', () => {
  const waits = [...UPSTREAMS].map(({ id, firstByteTimeoutMs, idleTimeoutMs }) => [
    id,
    firstByteTimeoutMs,
    idleTimeoutMs,
  ])
  expect(waits).toEqual(waits.map(([id]) => [id, 120_000, 900_000]))
})

test('no more comments are kept until the first event than an event may be long', async () => {
  const source = { pause() {}, resume() {}, abort() {} }
  const reply = new UpstreamReply(source, 200, { 'content-type': 'text/event-stream' })
  const limits = { eventBytesMax: 1_000, firstByteMs: 600_000, eventWaitMs: 600_000 }
  const waiting = awaitFirstEvent(reply, { ...limits, room: null, signal: NEVER_CANCELLED, secrets: [] })
  for (let comments = 0; comments < 11; comments++) reply.receive(Buffer.from(`: ${'x'.repeat(96)}\n\n`))
  expect(await waiting).toBe(reply)
})

test('comments before the first event are read as one, and not kept', async () => {
  const source = { pause() {}, resume() {}, abort() {} }
  const reply = new UpstreamReply(source, 200, { 'content-type': 'text/event-stream' })
  const limits = { eventBytesMax: 1_000_000, firstByteMs: 600_000, eventWaitMs: 600_000 }
  const waiting = awaitFirstEvent(reply, { ...limits, room: null, signal: NEVER_CANCELLED, secrets: [] })
  const push = vi.spyOn(SseReader.prototype, 'push')
  const comments = ':\n\n'.repeat(1_000)
  for (const text of [comments, `${comments}: begins`, ' here\n\n', `${comments}data: {}\n\n`])
    reply.receive(Buffer.from(text))
  await waiting
  expect(push.mock.calls.map(([chunk]) => String(chunk))).toEqual([': begins', ' here\n\n', 'data: {}\n\n'])
  push.mockRestore()
  const rest: string[] = []
  reply.consume({ data: chunk => void rest.push(String(chunk)), end() {}, error() {} })
  expect(rest).toEqual([`${comments}data: {}\n\n`])
})

test('a first event in packets of one byte is kept in few objects, with what follows it', async () => {
  const source = { pause() {}, resume() {}, abort() {} }
  const reply = new UpstreamReply(source, 200, { 'content-type': 'text/event-stream' })
  const limits = { eventBytesMax: 1_000_000, firstByteMs: 600_000, eventWaitMs: 600_000 }
  const waiting = awaitFirstEvent(reply, { ...limits, room: null, signal: NEVER_CANCELLED, secrets: [] })
  const text = `data: "${'x'.repeat(100_000)}"\n\ndata: {}\n\n`
  for (const character of text) reply.receive(Buffer.from(character))
  await waiting
  const rest: string[] = []
  reply.consume({ data: chunk => void rest.push(String(chunk)), end() {}, error() {} })
  expect(rest).toEqual([text])
})

test('headers do not count as the first byte: a stream without any is a 502 after the first-byte timeout', async () => {
  const account = await running.account(1_000_000n * 1_000_000n)
  answer = [sse(), hang()]
  const response = await fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: chatCall(ENTRY, { stream: true }),
  })
  expect(response.status).toBe(502)
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 502, cost: 0n }])
})

const COMPLETED =
  'event: image_generation.completed\ndata: {"type":"image_generation.completed","b64_json":"aW1hZ2U="}\n\n'

test.each<[string, Answer]>([
  ['before its headers', [pause(2 * FIRST_BYTE_MS), sse(), write(COMPLETED), end()]],
  ['after them', [sse(), pause(2 * FIRST_BYTE_MS), write(COMPLETED), end()]],
])(
  'a stream of images may be silent as long as a whole reply, for it may begin with the finished image: %s',
  async (_, script) => {
    const account = await running.account(1_000_000n * 1_000_000n)
    answer = script
    const before = provider.requests.length
    const response = await fetch(`${running.url}/v1/images/generations`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey },
      body: JSON.stringify({ model: IMAGES, prompt: 'a cat', stream: true }),
    })
    expect(await response.text()).toBe(COMPLETED)
    expect(provider.requests.length - before).toBe(1)
  },
)

test('a client gets pings while the provider sends nothing but comments, and pays nothing if it leaves then', async () => {
  const account = await running.account(1_000_000n * 1_000_000n)
  answer = [sse(), write(': PROCESSING\n\n'), hang()]
  const leaving = new AbortController()
  const response = await fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: chatCall(ENTRY, { stream: true }),
    signal: leaving.signal,
  })
  expect(response.status).toBe(200)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain('event: ping')
  leaving.abort()
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 499, cost: 0n }])
})
