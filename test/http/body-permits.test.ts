/**
 * A body of unknown length acquires permits for memory as it grows. Many such bodies at once never deadlock by waiting for each
 * other's permits.
 */

import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

/** Maximum size of a body. A key's permits cover four bodies of this size: 1 MiB, the least that can be configured. */
const BODY_BYTES_MAX = 256 * 1024
const BODIES = 100
const CREDIT = 1_000_000n * 1_000_000n
const BODY = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'

let running: TestGateway
beforeAll(async () => {
  running = await startTestGateway({
    environment: {
      LIMIT_BODY_BYTES_MAX: String(BODY_BYTES_MAX),
      LIMIT_KEY_BODIES_BYTES_MAX: String(4 * BODY_BYTES_MAX),
      LIMIT_BODIES_BYTES_MAX: String(6 * BODY_BYTES_MAX),
      LIMIT_BODY_WAIT_MS: '120000',
    },
  })
})
afterAll(() => running.close())

let sockets: Socket[]
beforeEach(() => {
  sockets = []
  return () => {
    for (const socket of sockets) socket.destroy()
  }
})

/** A body padded with random whitespace. It compresses evenly: half of its compressed bytes decode to half of the body. */
function paddedBody(): Buffer {
  const blanks = Uint8Array.from(randomBytes(0.75 * BODY_BYTES_MAX), byte => [32, 9, 10, 13][byte & 3] as number)
  return Buffer.concat([Buffer.from(BODY), blanks])
}

const gzipped = gzipSync(paddedBody(), { level: 1 })
const plain = paddedBody()

/** A request whose body is sent in two parts, the second on demand. */
interface Sending {
  finish(): void
  readonly status: Promise<string>
}

function sendHalf(apiKey: string, coding: 'gzip' | 'chunked'): Sending {
  const { port, hostname } = new URL(running.url)
  const socket = connect({ port: Number(port), host: hostname })
  sockets.push(socket)
  const body = coding === 'gzip' ? gzipped : plain
  const framing =
    coding === 'gzip' ? `content-encoding: gzip\r\ncontent-length: ${body.length}` : 'transfer-encoding: chunked'
  const part = (bytes: Buffer) => {
    if (coding === 'gzip') return socket.write(bytes)
    socket.write(`${bytes.length.toString(16)}\r\n`)
    socket.write(bytes)
    socket.write('\r\n')
  }
  socket.write(`POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\n${framing}\r\n\r\n`)
  part(body.subarray(0, body.length / 2))
  let answer = ''
  const status = new Promise<string>((resolve, reject) => {
    socket.on('data', chunk => {
      answer += chunk
      if (answer.length >= 12) resolve(answer.slice(9, 12))
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`closed after "${answer}"`)))
  })
  status.catch(() => {})
  return {
    status,
    finish() {
      part(body.subarray(body.length / 2))
      if (coding === 'chunked') socket.write('0\r\n\r\n')
    },
  }
}

test.each([
  ['gzip', 1],
  ['chunked', 1],
  ['gzip', 10],
  ['chunked', 10],
] as const)(
  'a hundred %s bodies of %i keys, all half read at once, are served without a deadlock',
  async (coding, keys) => {
    const accounts = await Promise.all(Array.from({ length: keys }, () => running.account(CREDIT)))
    const { permits } = running.gateway.server.bodies
    const sendings = Array.from({ length: BODIES }, (_, index) =>
      sendHalf(accounts[index % keys]?.apiKey as string, coding),
    )
    await expect.poll(() => permits.waiting).toBeGreaterThan(BODIES / 2)
    for (const { finish } of sendings) finish()
    const statuses = await Promise.all(sendings.map(({ status }) => status))
    expect(statuses).toEqual(Array(BODIES).fill('200'))
    await expect.poll(() => permits.bytes).toBe(0)
    expect(permits.waiting).toBe(0)
  },
  60_000,
)

test('a growing body whose client leaves releases its permits to the others', async () => {
  const account = await running.account(CREDIT)
  const { permits } = running.gateway.server.bodies
  const sendings = Array.from({ length: BODIES }, () => sendHalf(account.apiKey, 'gzip'))
  await expect.poll(() => permits.waiting).toBeGreaterThan(BODIES / 2)
  for (const socket of sockets.slice(0, -1)) socket.destroy()
  sendings.at(-1)?.finish()
  expect(await sendings.at(-1)?.status).toBe('200')
  await expect.poll(() => permits.bytes).toBe(0)
  expect(permits.waiting).toBe(0)
}, 60_000)
