/** How much input an account can have counted for free. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { CountBudget } from '../../src/http/count-budget.ts'
import type { Caller } from '../../src/pipeline/call.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const MIB = 1024 * 1024

let running: TestGateway
beforeAll(async () => {
  running = await startTestGateway({ environment: { LIMIT_COUNTED_BYTES_PER_MINUTE_MAX: String(MIB) } })
})
afterAll(() => running.close())

function send(path: string, apiKey: string, body: object) {
  return fetch(`${running.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: JSON.stringify({ model: 'claude-opus-5', ...body }),
  })
}

test('an account that has too much input counted gets a 429 on both endpoints, other accounts and calls do not', async () => {
  const [poor, other] = [await running.account(0n), await running.account(0n)]
  const messages = [{ role: 'user', content: 'x'.repeat(MIB) }]
  const first = await send('/v1/messages/count_tokens', poor.apiKey, { messages })
  expect(first.status).toBe(200)
  const refused = await send('/v1/messages/count_tokens', poor.apiKey, { messages })
  expect(refused.status).toBe(429)
  // Four times its quarter of the limit, of which one was free.
  const seconds = Number(refused.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(120)
  expect(seconds).toBeLessThanOrEqual(181)
  expect(await refused.json()).toEqual({
    type: 'error',
    error: {
      type: 'rate_limit_error',
      message: `This account has had too much input counted; try again in ${seconds} s.`,
      code: 'rate_limited',
      param: null,
    },
    request_id: refused.headers.get('request-id'),
  })
  expect((await send('/v1/responses/input_tokens', poor.apiKey, { input: 'x' })).status).toBe(429)
  expect((await send('/v1/messages', poor.apiKey, { messages })).status).toBe(402)
  expect((await send('/v1/messages/count_tokens', other.apiKey, { messages })).status).toBe(200)
})

test('short requests count as 64 KiB, also those that arrive together', async () => {
  const { apiKey } = await running.account(1_000_000_000n)
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => send('/v1/responses/input_tokens', apiKey, { input: 'x' })),
  )
  const counted = answers.filter(({ status }) => status === 200).length
  expect(counted).toBeGreaterThanOrEqual(16)
  expect(counted).toBeLessThan(40)
})

test('an account may go on when the minute has given back what it had counted', () => {
  let nowMs = 0
  const budget = new CountBudget({ countedBytesPerMinuteMax: 4 * MIB }, () => nowMs)
  const poor = { accountId: 1, walletEmpty: true } as Caller
  const rich = { accountId: 2, walletEmpty: false } as Caller
  budget.take(poor, 2 * MIB)
  budget.take(rich, 2 * MIB)
  expect(() => budget.take(poor, 1)).toThrow(/try again in 61 s/)
  budget.take(rich, 2 * MIB)
  expect(() => budget.check(rich)).toThrow(/try again in 1 s/)
  nowMs = 61_000
  budget.take(poor, 1)
  budget.take(rich, 4 * MIB)
})
