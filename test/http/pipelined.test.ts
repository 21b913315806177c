/** Requests that a client sends ahead of the replies to earlier ones (pipelining). */

import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goodMessage } from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { type ScriptedUpstream, startScriptedUpstream, until } from '../support/scripted-upstream.ts'

const SENT = 500
const ANSWERED = 17

const gate = Promise.withResolvers<void>()
let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount
beforeAll(async () => {
  provider = await startScriptedUpstream(() => [until(gate.promise), ...goodMessage])
  running = await startTestGateway({
    upstreams: { anthropic: provider.url },
    environment: { LIMIT_KEEP_ALIVE_TIMEOUT_MS: '1000' },
  })
  account = await running.account(10n ** 12n)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

/** Sends the text on a connection of its own. Resolves with all that was received when the gateway has closed the connection. */
function exchange(text: string): Promise<string> {
  const { port, hostname } = new URL(running.url)
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.on('data', chunk => {
      received += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}

const statusesIn = (received: string) => [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))

test.each([
  ['are answered at once', 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n', 200],
  ['have no key', 'GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n', 401],
  ['have a malformed path', 'GET /% HTTP/1.1\r\nhost: a\r\n\r\n', 400],
  ['expect the impossible', 'GET /healthz HTTP/1.1\r\nhost: a\r\nexpect: a\r\n\r\n', 417],
])(
  'of hundreds that %s the first ones are, and the last of these closes the connection',
  async (_, request, status) => {
    const received = await exchange(request.repeat(SENT))
    expect(statusesIn(received)).toEqual(Array(ANSWERED).fill(status))
    const last = received.lastIndexOf('HTTP/1.1')
    expect(received.slice(0, last)).not.toMatch(/connection: close/i)
    expect(received.slice(last)).toMatch(/connection: close/i)
  },
)

test('hundreds behind a call do not end it', async () => {
  const body = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'
  const head = `POST /v1/messages HTTP/1.1\r\nhost: a\r\nx-api-key: ${account.apiKey}\r\ncontent-length: ${body.length}\r\n\r\n`
  const received = exchange(head + body + 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(SENT))
  await provider.received(1)
  gate.resolve()
  expect(statusesIn(await received)).toEqual(Array(ANSWERED).fill(200))
  expect(await received).toContain('"type":"message"')
})
