/** A database that is made read-only for a while, as hosting services do with one whose disk is full. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { chatCall } from '../support/chat.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  running = await startTestGateway({ environment: { LIMIT_DATABASE_WAIT_MS: '500', LIMIT_SETTLE_WAIT_MS: '250' } })
  account = await running.account(1_000_000_000_000n)
})
afterAll(() => running?.close())

const ready = async () => (await fetch(`${running.url}/readyz`)).status
async function call(): Promise<number> {
  const headers = { 'x-api-key': account.apiKey }
  const response = await fetch(`${running.url}/v1/messages`, {
    method: 'POST',
    headers,
    body: chatCall('claude-opus-5'),
  })
  await response.arrayBuffer()
  return response.status
}

test('a gateway on a database that became read-only is not ready, and serves calls again once it takes writes', async () => {
  const { sql } = running.database
  const { name } = (await sql`select current_database() as name`)[0]!
  expect(await call()).toBe(200)
  await sql.unsafe(`alter database "${name}" set default_transaction_read_only = on`)
  // Sessions have the setting from their beginning.
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
             where datname = current_database() and application_name like 'gateway%'`
  await expect.poll(ready, { timeout: 30_000 }).toBe(503)
  expect(await call()).toBe(503)
  await sql.unsafe(`alter database "${name}" reset default_transaction_read_only`)
  await expect.poll(call, { timeout: 30_000 }).toBe(200)
  // Calls and readiness have pools of their own; each replaces its read-only connections in its own time.
  await expect.poll(ready, { timeout: 30_000 }).toBe(200)
})
