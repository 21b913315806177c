/** The HTTP framing of a streamed reply: chunk lengths, its end, and clients without chunked encoding. */

import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatCall, MESSAGES_END, MESSAGES_START, textDelta } from '../support/chat.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { end, sse, startScriptedUpstream, write } from '../support/scripted-upstream.ts'

const EVENTS = [...MESSAGES_START, textDelta('Hà Nội'), textDelta('Huế'), textDelta('Đà Nẵng'), ...MESSAGES_END]

const provider = await startScriptedUpstream(() => [sse(), ...EVENTS.map(event => write(event)), end()])
let running: TestGateway
let apiKey: string

beforeAll(async () => {
  running = await startTestGateway({ upstreams: { anthropic: provider.url } })
  apiKey = (await running.account(1_000_000n * 1_000_000n)).apiKey
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

/** The events as the client gets them, with the model name from its request. */
const TOLD = EVENTS.join('').replace('upstream-name', 'claude-opus-5')

/** Pipelines `calls` requests on one connection, and returns all bytes received until the gateway closes it. */
async function exchange(version: string, calls: number): Promise<string> {
  const body = chatCall('claude-opus-5', { stream: true })
  const head = (last: boolean) =>
    [
      `POST /v1/messages HTTP/${version}`,
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
  for await (const chunk of socket.setEncoding('latin1')) text += chunk
  return text
}

/** Decodes the body of a chunked reply; `rest` is what follows it. */
function unchunk(text: string): { body: string; rest: string } {
  let body = ''
  for (let at = 0; ; ) {
    const lineEnd = text.indexOf('\r\n', at)
    const length = Number.parseInt(text.slice(at, lineEnd), 16)
    const end = lineEnd + 2 + length
    expect(text.slice(end, end + 2)).toBe('\r\n')
    if (length === 0) return { body, rest: text.slice(end + 2) }
    body += text.slice(lineEnd + 2, end)
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
  expect(unchunk(nextBody)).toEqual({ body: first.body, rest: '' })
})

test('a client of HTTP/1.0 gets just the bytes, until the connection ends', async () => {
  const [head, body] = headAndBody(await exchange('1.0', 1))
  expect(head).not.toContain('transfer-encoding')
  expect(Buffer.from(body, 'latin1').toString()).toBe(TOLD)
})
