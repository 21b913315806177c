/** Clients that announce a body but never send it do not keep other clients out of the memory reserved for bodies. */

import { connect, type Socket } from 'node:net'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

const MB = 1024 * 1024
const GOOD = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'
const POLL = { interval: 5 }

let running: TestGateway
let account: TestAccount
const sockets: Socket[] = []
beforeAll(async () => {
  running = await startTestGateway({
    environment: {
      LIMIT_BODY_IDLE_MS: '3000',
      LIMIT_BODIES_BYTES_MAX: String(20 * MB),
      LIMIT_STRANGERS_BODIES_BYTES_MAX: String(MB),
      TRUSTED_PROXIES: '127.0.0.1',
    },
  })
  account = await running.account(1_000n * 1_000_000n)
  return () => running.close()
})
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy()
})

function stall(path: string, headers: readonly string[]): { answer: string } {
  const { port, hostname } = new URL(running.url)
  const socket = connect({ port: Number(port), host: hostname })
  sockets.push(socket)
  const received = { answer: '' }
  socket.on('data', chunk => {
    received.answer += chunk
  })
  socket.on('error', () => {})
  socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\n${headers.join('\r\n')}\r\n\r\n`)
  return received
}

function post(headers: Readonly<Record<string, string>>, path: string, body: string): Promise<Response> {
  return fetch(running.url + path, { method: 'POST', headers, body, redirect: 'manual' })
}

test('bodies that never arrive lose their permits, and waiting ones are served', async () => {
  const other = await running.account(1_000n * 1_000_000n)
  const stalled = stall('/v1/messages', [`x-api-key: ${other.apiKey}`, `content-length: ${20 * MB}`])
  await expect.poll(() => running.gateway.server.bodies.permits.bytes, POLL).toBe(20 * MB)
  expect((await post({ 'x-api-key': account.apiKey }, '/v1/messages', GOOD)).status).toBe(200)
  await expect.poll(() => stalled.answer, POLL).toMatch(/^HTTP\/1\.1 408 [\s\S]*"code":"request_timeout"/)
  await expect.poll(() => running.gateway.server.bodies.permits.bytes, POLL).toBe(0)
})

test('a host with stalled forms does not block others from the pages', async () => {
  const form = 'application/x-www-form-urlencoded'
  const type = `content-type: ${form}`
  const count = 40
  const arrived = new Promise<void>(resolve => {
    let requests = 0
    running.gateway.server.server.on('request', () => {
      if (++requests === count) resolve()
    })
  })
  const stalled = Array.from({ length: count }, () =>
    stall('/signin', ['accept: text/html', 'x-forwarded-for: 203.0.113.7', type, 'content-length: 65536']),
  )
  await arrived
  const headers = { accept: 'text/html', 'x-forwarded-for': '203.0.113.8', origin: running.url, 'content-type': form }
  expect((await post(headers, '/signin', 'email=a%40b.c&password=wrong')).status).toBeLessThan(500)
  expect(stalled.filter(({ answer }) => answer !== '')).toEqual([])
})
