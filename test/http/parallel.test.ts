/**
 * Many concurrent calls on a wallet that can pay for only a few: it ends at exactly zero, and nobody is refused while money is
 * left.
 */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { changedTables } from '../support/tables.ts'

const PER_VND = 1_000_000n
/** 700 tokens at 2,400 VND per million, in µVND. */
const COST = 1_680_000n
const REPLY = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  model: 'gpt-5.5',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 600, completion_tokens: 100, total_tokens: 700 },
})

let provider: Server
let running: TestGateway
const agent = new Agent({ connections: 1000, pipelining: 1 })

beforeAll(async () => {
  provider = createServer((incoming, response) => {
    incoming.resume().on('end', () => response.writeHead(200, { 'content-type': 'application/json' }).end(REPLY))
  })
  await new Promise<void>(resolve => provider.listen(0, '127.0.0.1', resolve))
  running = await startTestGateway({
    upstreams: { openai: `http://127.0.0.1:${(provider.address() as AddressInfo).port}` },
    // A thousand calls can take a while on a busy machine.
    environment: { LIMIT_ADMISSION_WAIT_MS: '120000', LIMIT_DATABASE_WAIT_MS: '60000' },
    // Calls are limited by money only.
    tables: changedTables({ settings: { concurrencyMax: 0 } }),
  })
})
afterAll(async () => {
  await running.close()
  await agent.close()
  provider.closeAllConnections()
  provider.close()
})

async function callsAtOnce(apiKey: string, count: number): Promise<Map<number, number>> {
  const body = JSON.stringify({ model: 'gpt-5.5', messages: [{ role: 'user', content: 'x' }] })
  const one = async () => {
    const headers = { authorization: `Bearer ${apiKey}` }
    const reply = await request(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body,
      dispatcher: agent,
    })
    await reply.body.dump()
    return reply.statusCode
  }
  const statuses = await Promise.all(Array.from({ length: count }, one))
  return new Map([...new Set(statuses)].map(status => [status, statuses.filter(other => other === status).length]))
}

test.each([
  ['10 VND', 10n * PER_VND, 6],
  ['the price of one call', COST, 1],
  ['1 µVND less than the price', COST - 1n, 1],
])('1,000 calls at once on a wallet of %s take it to exactly zero', async (_name, credit, servedMin) => {
  const account = await running.account(credit)
  const answers = await callsAtOnce(account.apiKey, 1000)
  const served = answers.get(200) ?? 0
  expect([...answers.keys()].sort()).toEqual([200, 402])
  expect(served).toBeGreaterThanOrEqual(servedMin)
  expect(await running.balance(account.accountId)).toBe(0n)
  const rows = await running.usage(account.accountId)
  expect(rows).toHaveLength(1000)
  expect(rows.reduce((sum, row) => sum + row.charged, 0n)).toBe(credit)
  expect(rows.every(row => row.balance_after >= 0n)).toBe(true)
  // The rows are sorted by when they were written. No call after the first one refused for lack of money was charged.
  const firstRefused = rows.findIndex(row => row.status === 402)
  expect(rows.slice(firstRefused).every(row => row.charged === 0n)).toBe(true)
  expect(rows[firstRefused]?.balance_after).toBe(0n)
})

test('1,000 calls at once on a wallet that has the money are all served and charged in full', async () => {
  const account = await running.account(2_000n * PER_VND)
  expect([...(await callsAtOnce(account.apiKey, 1000))]).toEqual([[200, 1000]])
  expect(await running.balance(account.accountId)).toBe(320n * PER_VND)
  expect(await audit(running.database.sql)).toMatchObject({ clean: true, openHolds: 0 })
})
