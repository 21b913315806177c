/**
 * Requests that refer to content by URL or id instead of including it. The provider bills for all of that content, whose size
 * the gateway cannot know.
 */

import { request } from 'undici'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { type LongStreams, startLongStreams } from '../support/long-streams.ts'
import { LASTING_TABLES } from '../support/tables.ts'

const REPLY = { events: 1, text: 'x', inputTokens: 20, outputTokens: 1, pauseMs: 0 }

let provider: LongStreams
let running: TestGateway

beforeAll(async () => {
  provider = await startLongStreams(REPLY)
  const { url } = provider
  running = await startTestGateway({ upstreams: { anthropic: url, openai: `${url}/v1` } })
})
beforeEach(() => {
  provider.gate = null
  provider.options = REPLY
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

const user = (part: object) => [{ role: 'user', content: [part] }]
const CLAUDE = 'claude-opus-5'
const GPT = 'gpt-5.5'
const URL = 'https://files.test/long.pdf'
const NAMED = [
  ['messages', CLAUDE, { messages: user({ type: 'document', source: { type: 'url', url: URL } }) }],
  ['messages', CLAUDE, { messages: user({ type: 'document', source: { type: 'file', file_id: 'file_1' } }) }],
  ['chat/completions', GPT, { messages: user({ type: 'file', file: { file_id: 'file_1' } }) }],
  ['responses', GPT, { input: user({ type: 'input_file', file_url: URL }) }],
  ['responses', GPT, { input: [{ type: 'item_reference', id: 'item_1' }] }],
  ['responses', GPT, { input: 'Go on.', previous_response_id: 'resp_1' }],
  ['responses', GPT, { input: 'Go on.', conversation: 'conv_1' }],
] as const

function factsOf(model: string): { price: bigint; context: bigint } {
  const entry = LASTING_TABLES.entries.find(({ id }) => id === model)
  return { price: BigInt(entry?.price.vnd ?? 0), context: BigInt(entry?.contextTokens ?? 0) }
}

async function call(apiKey: string, endpoint: string, body: object): Promise<{ status: number; text: string }> {
  const cap = endpoint === 'responses' ? { max_output_tokens: 100 } : { max_tokens: 100 }
  const reply = await request(`${running.url}/v1/${endpoint}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: JSON.stringify({ ...cap, ...body }),
  })
  return { status: reply.statusCode, text: await reply.body.text() }
}

describe.each(NAMED)('%s with %s: %j', (endpoint, model, body) => {
  const { price, context } = factsOf(model)

  test.each([false, true])('the hold is large enough to fill the context window (stream: %s)', async stream => {
    // Enough for two calls that fill the context window, and a little more.
    const account = await running.account((2n * context + 2_000n) * price)
    const open = Promise.withResolvers<void>()
    provider.gate = open.promise
    const calls = Array.from({ length: 4 }, () => call(account.apiKey, endpoint, { model, stream, ...body }))
    const holds = () => running.database.sql`select amount_micro_vnd as amount from hold
      where account_id = ${account.accountId}`
    try {
      await expect.poll(async () => (await holds()).length).toBe(2)
      for (const { amount } of await holds()) expect(BigInt(amount)).toBeGreaterThanOrEqual(context * price)
    } finally {
      open.resolve()
    }
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200)
    expect(await audit(running.database.sql)).toMatchObject({ clean: true, openHolds: 0 })
  })
})

test('a stream whose named content cost most of the balance runs to its end, because its hold covered that', async () => {
  const { price, context } = factsOf(CLAUDE)
  const account = await running.account((context + 2_000n) * price)
  const inputTokens = Number(context) - 200
  provider.options = { ...REPLY, inputTokens }
  const [, , body] = NAMED[0]
  const { text } = await call(account.apiKey, 'messages', { model: CLAUDE, stream: true, ...body })
  expect(text).toContain('event: message_stop')
  const cost = BigInt(inputTokens + 1) * price
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 200, cost, charged: cost }])
})
