/** Bodies in chunks of one byte: each would be an object in memory, and an event, of its own. */

import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const BYTES = 20_000

let running: TestGateway
beforeAll(async () => {
  running = await startTestGateway()
})
afterAll(() => running.close())

/** Sends the body in chunks of one byte. Returns the reply, and in how many pieces the gateway received the body. */
async function send(key: string, body: string): Promise<{ reply: string; pieces: number }> {
  let pieces = 0
  running.gateway.server.server.prependOnceListener('request', (request: IncomingMessage) => {
    const { emit } = request
    request.emit = (name: string, ...values: unknown[]) => {
      if (name === 'data') pieces++
      return emit.call(request, name, ...values)
    }
  })
  const { port, hostname } = new URL(running.url)
  const chunks = [...body].map(character => `1\r\n${character}\r\n`).join('')
  const head = `POST /v1/messages HTTP/1.1\r\nhost: a\r\nx-api-key: ${key}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n`
  const reply = await new Promise<string>((resolve, reject) => {
    let received = ''
    const socket = connect(Number(port), hostname, () => socket.write(`${head}${chunks}0\r\n\r\n`))
    socket.on('data', data => {
      received += data
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
  return { reply, pieces }
}

test('are read whole, in few pieces', async () => {
  const { apiKey } = await running.account(10n ** 12n)
  const call = { model: 'claude-opus-5', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }
  const { reply, pieces } = await send(apiKey, JSON.stringify(call).padEnd(BYTES))
  expect(reply).toMatch(/^HTTP\/1\.1 200 /)
  expect(pieces).toBeLessThan(100)
})

test('are discarded in few pieces after a refusal', async () => {
  const { reply, pieces } = await send('wrong', 'x'.repeat(BYTES))
  expect(reply).toMatch(/^HTTP\/1\.1 401 /)
  expect(pieces).toBeLessThan(100)
})
