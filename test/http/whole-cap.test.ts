/**
 * The hold of a non-streamed call cannot grow, so it covers the full output cap, and the cap is lowered to what the wallet can
 * pay for.
 */

import { request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { type LongStreams, startLongStreams } from '../support/long-streams.ts'
import { standardFirst } from '../support/tables.ts'

const PER_VND = 1_000_000n
const REPLY = { events: 0, text: '', inputTokens: 20, outputTokens: 128_000, pauseMs: 0 }

let provider: LongStreams
let running: TestGateway

beforeAll(async () => {
  provider = await startLongStreams(REPLY)
  const { url } = provider
  running = await startTestGateway({
    upstreams: { anthropic: url, openai: `${url}/v1`, deepseek: url },
    tables: standardFirst(),
  })
})
beforeEach(() => {
  provider.gate = null
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

const PROMPT = [{ role: 'user', content: 'Write a long story.' }]
const ROUTES = [
  ['messages', 'claude-opus-5', 6_500n, { max_tokens: 128_000, messages: PROMPT }, 'max_tokens'],
  ['messages', 'gpt-5.5', 2_400n, { max_tokens: 128_000, messages: PROMPT }, 'max_completion_tokens'],
  ['chat/completions', 'gpt-5.5', 2_400n, { max_tokens: 128_000, messages: PROMPT }, 'max_completion_tokens'],
  ['chat/completions', 'gpt-5.5', 2_400n, { messages: PROMPT }, 'max_completion_tokens'],
  ['chat/completions', 'claude-opus-5', 6_500n, { messages: PROMPT }, 'max_tokens'],
  ['responses', 'gpt-5.5', 2_400n, { max_output_tokens: 128_000, input: PROMPT }, 'max_output_tokens'],
  ['responses', 'gpt-5.5', 2_400n, { input: PROMPT }, 'max_output_tokens'],
] as const

async function call(apiKey: string, endpoint: string, body: object) {
  const headers = { 'x-api-key': apiKey }
  const reply = await request(`${running.url}/v1/${endpoint}`, { method: 'POST', headers, body: JSON.stringify(body) })
  await reply.body.dump()
  const cap = reply.headers['x-svc-output-tokens-max']
  return { status: reply.statusCode, cap: cap === undefined ? null : Number(cap), sent: provider.bodies.at(-1) ?? {} }
}

describe.each(ROUTES)('%s with %s at %d, %j', (endpoint, model, price, body, field) => {
  test('the output cap is lowered to what the wallet can pay for, and the client is told', async () => {
    const credit = 40_000n * price
    const account = await running.account(credit)
    const { status, cap, sent } = await call(account.apiKey, endpoint, { model, ...body })
    expect(status).toBe(200)
    expect(cap).toBeGreaterThan(39_900)
    expect(cap).toBeLessThan(40_000)
    expect(sent[field]).toBe(cap)
    // The provider wrote as much as the cap allowed, and all of it is charged.
    const [row] = await running.usage(account.accountId)
    expect(row).toMatchObject({ status: 200, output_tokens: cap })
    expect(row?.charged).toBe(row?.cost)
  })

  test('an output cap that the wallet can pay for is sent upstream unchanged, without a header', async () => {
    const account = await running.account(200_000n * price)
    const { cap, sent } = await call(account.apiKey, endpoint, { model, ...body })
    const own = { max_tokens: 128_000, max_completion_tokens: 128_000, max_output_tokens: 128_000, ...body } as Record<
      string,
      unknown
    >
    expect(cap).toBeNull()
    // If the client sent no cap, none is sent upstream, except in the messages format, which requires one.
    if (Object.keys(body).length > 1 || field === 'max_tokens') expect(sent[field]).toBe(own[field])
    else expect(sent[field]).toBeUndefined()
  })
})

test('each choice gets its share of what the wallet can pay for', async () => {
  const account = await running.account(40_000n * 2_400n)
  const { cap, sent } = await call(account.apiKey, 'chat/completions', { model: 'gpt-5.5', n: 4, messages: PROMPT })
  expect(cap).toBeGreaterThan(9_900)
  expect(cap).toBeLessThan(10_000)
  expect(sent).toMatchObject({ n: 4, max_completion_tokens: cap })
})

test.each(['gpt-5.5', 'deepseek-v4-flash'])(
  'an output cap in another format’s field does not reduce the hold of %s',
  async model => {
    const account = await running.account(40_000n * 2_400n)
    const body = { model, max_tokens: 128_000, max_completion_tokens: 1, messages: PROMPT }
    const { cap, sent } = await call(account.apiKey, 'messages', body)
    expect(cap).not.toBeNull()
    expect(sent.max_completion_tokens ?? sent.max_tokens).toBe(cap)
    const [row] = await running.usage(account.accountId)
    expect(row?.charged).toBe(row?.cost)
  },
)

test('a budget for thinking stays below a lowered output cap', async () => {
  const account = await running.account(10_000n * 6_500n)
  const thinking = { type: 'enabled', budget_tokens: 30_000 }
  const body = { model: 'claude-opus-4-5', max_tokens: 64_000, thinking, messages: PROMPT }
  const { cap, sent } = await call(account.apiKey, 'messages', body)
  expect(cap).toBeLessThan(10_000)
  expect(sent).toMatchObject({
    max_tokens: cap,
    thinking: { type: 'enabled', budget_tokens: Math.floor(Number(cap) / 2) },
  })
})

test('with less money than a reply costs, the call is sent unchanged and takes the rest of the balance', async () => {
  const account = await running.account(10n)
  const { status, cap, sent } = await call(account.apiKey, 'messages', {
    model: 'claude-opus-5',
    max_tokens: 500,
    messages: PROMPT,
  })
  expect([status, cap, sent.max_tokens]).toEqual([200, null, 500])
  expect(await running.balance(account.accountId)).toBe(0n)
})

test.each([
  ['messages', 'claude-opus-5', { max_tokens: 128_000 }],
  ['chat/completions', 'gpt-5.5', {}],
])('%s with %s: a wallet with less money than a reply costs gets a short one', async (endpoint, model, body) => {
  const account = await running.account(10n)
  const { status, cap, sent } = await call(account.apiKey, endpoint, { model, ...body, messages: PROMPT })
  expect([status, cap, sent.max_tokens ?? sent.max_completion_tokens]).toEqual([200, 1_024, 1_024])
  expect(await running.balance(account.accountId)).toBe(0n)
})

test('64 parallel non-streamed calls of up to 128,000 tokens on 50,000 VND: all end, almost everything is paid, the balance is exactly 0', async () => {
  const credit = 50_000n * PER_VND
  const account = await running.account(credit)
  const open = Promise.withResolvers<void>()
  provider.gate = open.promise
  const before = provider.bodies.length
  const body = { model: 'claude-fable-5', max_tokens: 128_000, messages: PROMPT }
  const calls = Array.from({ length: 64 }, () => call(account.apiKey, 'messages', body))
  // A call may cost 1,062 VND: 47 calls fit, the next one gets a hold for the rest, and the others wait.
  await expect
    .poll(() => provider.bodies.length - before)
    .toBe(48)
    .finally(open.resolve)
  const ends = await Promise.all(calls)
  expect(ends.filter(({ status }) => status !== 200 && status !== 402)).toEqual([])
  const rows = await running.usage(account.accountId)
  const sum = (of: (row: (typeof rows)[number]) => bigint) => rows.reduce((total, row) => total + of(row), 0n)
  const [cost, charged] = [sum(row => row.cost), sum(row => row.charged)]
  expect(charged).toBe(credit)
  expect(charged * 100n).toBeGreaterThanOrEqual(cost * 95n)
  console.info(`64 whole calls: cost ${cost / PER_VND}, charged ${charged / PER_VND} VND`)
  expect(await running.balance(account.accountId)).toBe(0n)
  expect(await audit(running.database.sql)).toMatchObject({ clean: true, openHolds: 0 })
})
