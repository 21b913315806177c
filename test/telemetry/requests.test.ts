/**
 * Metrics about requests before the pipeline runs them: body bytes in memory, requests that wait for memory or are refused,
 * connections kept open after a refusal, and calls refused because too many of their key's calls are in flight.
 */

import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { limitConcurrency } from '../../src/accounts/key-rate.ts'
import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { scrape } from '../support/exposition.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const MB = 1024 * 1024
const GOOD = '{"model":"claude-opus-5","max_tokens":9,"messages":[{"role":"user","content":"x"}]}'

let running: TestGateway
const sockets: Socket[] = []
beforeAll(async () => {
  running = await startTestGateway({
    environment: { METRICS_PORT: '0', LIMIT_KEY_BODIES_BYTES_MAX: String(MB), LIMIT_BODY_WAIT_MS: '3000' },
  })
})
afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await running.close()
})

/** Sends a request's headers, which announce a body, but never the body. */
function announce(key: string, bytes: number): void {
  const { port, hostname } = new URL(running.url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  socket.write(`POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-length: ${bytes}\r\n\r\n`)
  sockets.push(socket.resume())
}

function post(key: string): Promise<Response> {
  return fetch(`${running.url}/v1/messages`, { method: 'POST', headers: { 'x-api-key': key }, body: GOOD })
}

async function figure(name: string, labels?: Readonly<Record<string, string>>): Promise<number> {
  return (await scrape(running.gateway.metrics?.url ?? '')).sum(name, labels)
}

test('count bodies in memory, waiting and refused', async () => {
  const { apiKey } = await running.account(1_000_000_000n)
  const keys = { kind: 'keys' }
  announce(apiKey, MB)
  await expect.poll(() => figure('gateway_bodies_bytes', keys)).toBe(MB)
  const refused = post(apiKey)
  await expect.poll(() => figure('gateway_bodies_waiting', keys)).toBe(1)
  expect((await refused).status).toBe(429)
  expect(await figure('gateway_bodies_refused_total', keys)).toBe(1)
  expect(await figure('gateway_bodies_waiting')).toBe(0)
  expect(await figure('gateway_bodies_refused_total', { kind: 'strangers' })).toBe(0)
})

test('count connections that linger after a refusal', async () => {
  expect(await figure('gateway_connections_lingering')).toBe(0)
  announce('sk-svc-wrong', 15 * MB)
  await expect.poll(() => figure('gateway_connections_lingering')).toBe(1)
})

test('count calls refused because their key has too many in flight', async () => {
  const { accountId, keyId, apiKey } = await running.account(1_000_000_000n)
  await limitConcurrency(running.database.sql, { accountId, keyId, by: COMMAND_LINE }, 1)
  announce(apiKey, 1000)
  await expect.poll(() => figure('gateway_bodies_bytes')).toBeGreaterThanOrEqual(1000)
  await expect.poll(async () => (await post(apiKey)).status).toBe(429)
  expect(await figure('gateway_calls_refused_in_flight_total')).toBeGreaterThan(0)
})
