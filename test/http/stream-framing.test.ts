/** The HTTP framing of a streamed reply: chunk lengths, its end, and clients without chunked encoding. */

import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { chatCall, MESSAGES_END, MESSAGES_START, textDelta } from '../support/chat.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { type Answer, end, hang, raw, sse, startScriptedUpstream, until, write } from '../support/scripted-upstream.ts'

const EVENTS = [...MESSAGES_START, textDelta('Hà Nội'), textDelta('Huế'), textDelta('Đà Nẵng'), ...MESSAGES_END]

/** A run of deltas, which the provider sends as chunks of their own within one write to its socket. */
const BURST = Array.from({ length: 64 }, (_, index) => textDelta(`phở ${index}.`))
const framed = (events: readonly string[]): string =>
  events.map(event => `${Buffer.byteLength(event).toString(16)}\r\n${event}\r\n`).join('')
const BURST_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n'

let answer: Answer = []
const provider = await startScriptedUpstream(() => answer)
let running: TestGateway
let apiKey: string

beforeAll(async () => {
  running = await startTestGateway({ upstreams: { anthropic: provider.url } })
  apiKey = (await running.account(1_000_000n * 1_000_000n)).apiKey
})
beforeEach(() => {
  answer = [sse(), ...EVENTS.map(event => write(event)), end()]
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

/** The events as the client gets them, with the model name from its request. */
const TOLD = EVENTS.join('').replace('upstream-name', 'claude-opus-5')

/** Pipelines `calls` requests on one connection, and returns all bytes received until the gateway closes it. */
async function exchange(
  version: string,
  calls: number,
  {
    path = '/v1/messages',
    body = chatCall('claude-opus-5', { stream: true }),
    onText,
  }: { path?: string; body?: string; onText?: (text: string) => void } = {},
): Promise<string> {
  const head = (last: boolean) =>
    [
      `POST ${path} HTTP/${version}`,
      'host: gateway',
      `x-api-key: ${apiKey}`,
      `content-length: ${Buffer.byteLength(body)}`,
      ...(last ? ['connection: close'] : []),
    ].join('\r\n')
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
  for (let call = 1; call <= calls; call++) {
    socket.write(`${head(call === calls)}\r\n\r\n${body}`)
  }
  let text = ''
  for await (const chunk of socket.setEncoding('latin1')) {
    text += chunk
    onText?.(text)
  }
  return text
}

/** Decodes the body of a chunked reply; `rest` is what follows it. */
function unchunk(text: string): { body: string; chunks: string[]; rest: string } {
  const chunks: string[] = []
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    const length = Number.parseInt(text.slice(at, lineEnd), 16)
    const end = lineEnd + 2 + length
    expect(text.slice(end, end + 2)).toBe('\r\n')
    if (length === 0) return { body: chunks.join(''), chunks, rest: text.slice(end + 2) }
    chunks.push(text.slice(lineEnd + 2, end))
    at = end + 2
  }
}

function headAndBody(text: string): [string, string] {
  const end = text.indexOf('\r\n\r\n') + 4
  return [text.slice(0, end).toLowerCase(), text.slice(end)]
}

test('each chunk has its length in bytes, the end is marked, and the next reply uses the same connection', async () => {
  const [head, body] = headAndBody(await exchange('1.1', 2))
  expect(head).toContain('transfer-encoding: chunked')
  const first = unchunk(body)
  expect(Buffer.from(first.body, 'latin1').toString()).toBe(TOLD)
  const [nextHead, nextBody] = headAndBody(first.rest)
  expect(nextHead).toContain('http/1.1 200')
  expect(unchunk(nextBody)).toMatchObject({ body: first.body, rest: '' })
})

test('a client of HTTP/1.0 gets just the bytes, until the connection ends', async () => {
  const [head, body] = headAndBody(await exchange('1.0', 1))
  expect(head).not.toContain('transfer-encoding')
  expect(Buffer.from(body, 'latin1').toString()).toBe(TOLD)
})

/** Few tokens would mean a small hold, which the burst would have to wait for to grow. */
const LONG = { stream: true, max_tokens: 4_000 }
test.each([
  ['/v1/messages', chatCall('claude-opus-5', LONG)],
  ['/v1/chat/completions', chatCall('claude-opus-5', LONG)],
  ['/v1/responses', JSON.stringify({ model: 'claude-opus-5', stream: true, input: 'a secret prompt' })],
])('events that arrive at once leave %s in one write, as one chunk', async (path, call) => {
  const began = Promise.withResolvers<void>()
  const burst = Promise.withResolvers<void>()
  answer = [
    raw(BURST_HEAD + framed([...MESSAGES_START, textDelta('Trước. ')])),
    until(began.promise),
    raw(framed(BURST)),
    until(burst.promise),
    raw(`${framed([textDelta('Sau. '), ...MESSAGES_END])}0\r\n\r\n`),
    hang(),
  ]
  const onText = (text: string): void => {
    if (text.includes('. ')) began.resolve()
    if (text.includes(' 63.')) burst.resolve()
  }
  const [, body] = headAndBody(await exchange('1.1', 1, { path, body: call, onText }))
  const { chunks } = unchunk(body)
  const withBurst = chunks.filter(chunk => chunk.includes(' 0.') || chunk.includes(' 31.') || chunk.includes(' 63.'))
  // The last events of a Responses stream repeat the whole text.
  const written = withBurst.filter(chunk => !chunk.includes('Sau. '))
  expect(written).toHaveLength(1)
  expect(written[0]?.match(/ \d+\./g)).toHaveLength(BURST.length)
})
