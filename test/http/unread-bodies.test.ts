/** Bodies that no route reads, such as a GET's: what is left of them after the reply is discarded, up to a limit. */

import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const MB = 1024 * 1024
const BYTES_MAX = 4 * MB
const LINGER_MS = 1_500
/** What the kernel may hold of what was sent and never read. */
const IN_FLIGHT = 16 * MB
const CHUNK = `${MB.toString(16)}\r\n${'x'.repeat(MB)}\r\n`

let running: TestGateway
let key: string
beforeAll(async () => {
  running = await startTestGateway({
    environment: {
      LIMIT_LINGER_MS: String(LINGER_MS),
      LIMIT_LINGER_IDLE_MS: '500',
      LIMIT_LINGER_BYTES_MAX: String(BYTES_MAX),
    },
  })
  key = (await running.account(1_000_000n)).apiKey
})
afterAll(() => running.close())

/** A connection on which the gateway's replies are read. */
function open(head: string) {
  const { port, hostname } = new URL(running.url)
  const line = { replies: '', isClosed: false, socket: connect(Number(port), hostname) }
  line.socket.write(`${head}\r\n\r\n`)
  line.socket.on('data', data => {
    line.replies += data
  })
  line.socket.on('error', () => {})
  line.socket.on('close', () => {
    line.isClosed = true
  })
  return line
}

const CHUNKED = 'host: x\r\ntransfer-encoding: chunked'
const unread = () =>
  [
    ['a GET', `GET /healthz HTTP/1.1\r\n${CHUNKED}`, 200],
    ['a GET with a key', `GET /v1/models HTTP/1.1\r\n${CHUNKED}\r\nx-api-key: ${key}`, 200],
    ['a page', `GET /signin HTTP/1.1\r\n${CHUNKED}\r\naccept: text/html`, 200],
    [
      'a preflight',
      `OPTIONS /v1/models HTTP/1.1\r\n${CHUNKED}\r\norigin: a\r\naccess-control-request-method: GET`,
      204,
    ],
    [
      'a form of another type',
      `POST /signin HTTP/1.1\r\n${CHUNKED}\r\ncontent-type: text/plain\r\naccept: text/html`,
      415,
    ],
    ['an expectation', `POST /v1/messages HTTP/1.1\r\n${CHUNKED}\r\nexpect: a`, 417],
  ] as const

test('a body that goes on for ever is read no further than the limit, and then its connection is closed', async () => {
  for (const [name, head, status] of unread()) {
    const line = open(head)
    await expect.poll(() => line.replies).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    let sent = 0
    const send = (): void => {
      while (!line.isClosed && sent < 200 * MB) {
        sent += MB
        if (!line.socket.write(CHUNK)) {
          line.socket.once('drain', send)
          return
        }
      }
    }
    send()
    await expect.poll(() => line.isClosed, { message: name, timeout: 10_000 }).toBe(true)
    expect([name, sent < BYTES_MAX + IN_FLIGHT]).toEqual([name, true])
  }
  expect(running.gateway.server.lingering.size).toBe(0)
}, 30_000)

test('a body that trickles, or stops, has no more time than the limits', async () => {
  const closing = unread().map(async ([name, head, status]) => {
    const [trickling, silent] = [open(head), open(head)]
    await expect.poll(() => silent.replies).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    const drip = setInterval(() => trickling.socket.write('1\r\nx\r\n'), 50)
    for (const line of [silent, trickling]) {
      await expect.poll(() => line.isClosed, { message: name, timeout: 10_000 }).toBe(true)
    }
    clearInterval(drip)
  })
  await Promise.all(closing)
}, 30_000)

test('behind a body that ends, the connection is used again', async () => {
  const line = open(`GET /healthz HTTP/1.1\r\n${CHUNKED}`)
  await expect.poll(() => line.replies).toContain('{"ok":true}')
  line.socket.write(`${CHUNK.repeat(3)}0\r\n\r\n`)
  line.replies = ''
  line.socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
  await expect.poll(() => line.replies).toContain('{"ok":true}')
  expect(line.isClosed).toBe(false)
  expect(running.gateway.server.lingering.size).toBe(0)
  line.socket.destroy()
})

test('a client that leaves in the middle of its body is forgotten at once', async () => {
  const line = open(`GET /healthz HTTP/1.1\r\n${CHUNKED}`)
  await expect.poll(() => running.gateway.server.lingering.size).toBe(1)
  line.socket.resetAndDestroy()
  await expect.poll(() => running.gateway.server.lingering.size, { timeout: 300 }).toBe(0)
})
