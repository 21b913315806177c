/**
 * A call's usage row says what the call cost the operator. This cost depends on the upstream that served the call and on each
 * kind of token, and never affects what the customer pays.
 */

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { type Answer, end, head, json, sse, startScriptedUpstream, write } from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'

const FX = [{ from: '2026-01-01', vndPerUsd: '25000' }]
const TABLES = changedTables({
  settings: { fx: FX },
  everyUpstream: { discount: [] },
  // The operator buys from the second upstream of gpt-5.5 at a tenth of the price.
  upstreams: { deepseek: { discount: [{ from: '2026-01-01', share: '0.1' }] } },
  targets: { 'gpt-5.5': ['openai', 'deepseek'] },
  costs: {
    'claude-opus-5': [{ from: '2026-01-01', input: '5', cached: '0.5', cacheWrite: '6.25', output: '25' }],
    'req/claude-opus-5': [{ from: '2026-01-01', input: '5', cached: '0.5', cacheWrite: '6.25', output: '25' }],
    'gpt-5.5': [{ from: '2026-01-01', input: '4', cached: '0.4', output: '30' }],
    'gpt-5.4': [{ from: '2199-01-01', input: '4', output: '30' }],
    'req/gpt-image-2': [{ from: '2026-01-01', image: '0.07' }],
    'req/gpt-4o-mini-tts': [{ from: '2026-01-01', call: '0.015' }],
  },
})

let running: TestGateway
let account: TestAccount
let answer: Answer = json(599, {})
const provider = await startScriptedUpstream(request => (request.path.startsWith('/broken/') ? json(500, {}) : answer))

beforeAll(async () => {
  running = await startTestGateway({
    tables: TABLES,
    upstreams: { anthropic: provider.url, openai: `${provider.url}/v1`, deepseek: provider.url },
  })
})
beforeEach(async () => {
  account = await running.account(1_000_000n * 1_000_000n)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

function call(path: string, body: object, signal?: AbortSignal) {
  return fetch(running.url + path, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: signal ?? null,
  })
}

/** The account's only usage row. */
async function row(from = running) {
  await from.usage(account.accountId)
  const rows = await from.database.sql`
    select status, upstream_cost_micro_vnd::text as upstream_cost, cache_write_tokens::int as written,
           cost_micro_vnd::text as cost, input_tokens::int as input, output_tokens::int as output
      from usage where account_id = ${account.accountId}`
  expect(rows).toHaveLength(1)
  return rows[0]
}

const HI = [{ role: 'user', content: 'hi' }]
const MESSAGES = { model: 'claude-opus-5', max_tokens: 100, messages: HI }
/** 10 uncached input tokens, 700 read from the cache, 90 written to it, and 20 output tokens. */
const USAGE = { input_tokens: 10, cache_read_input_tokens: 700, cache_creation_input_tokens: 90, output_tokens: 20 }
/** The cost of this usage in µVND. (USD per million tokens × VND per USD = µVND per token.) */
const COST = String(25_000 * (10 * 5 + 90 * 6.25 + 20 * 25) + 12_500 * 700)
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'xin chào' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: USAGE,
}

test('each kind of token has its own purchase price, while the customer pays one price', async () => {
  answer = json(200, MESSAGE)
  expect((await call('/v1/messages', MESSAGES)).status).toBe(200)
  expect(await row()).toEqual({
    status: 200,
    upstream_cost: COST,
    written: 90,
    cost: String(820 * 6500),
    input: 800,
    output: 20,
  })
})

test('a converted reply and a stream cost as much as a plain reply', async () => {
  answer = json(200, MESSAGE)
  await (await call('/v1/chat/completions', MESSAGES)).text()
  expect(await row()).toMatchObject({ upstream_cost: COST, written: 90 })
  account = await running.account(1_000_000n * 1_000_000n)
  const event = (data: { type: string }) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const start = { ...MESSAGE, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } }
  const events = [
    { type: 'message_start', message: start },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'xin chào' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: USAGE },
    { type: 'message_stop' },
  ]
  answer = [sse(), write(events.map(event).join('')), end()]
  await (await call('/v1/messages', { ...MESSAGES, stream: true })).text()
  expect(await row()).toMatchObject({ upstream_cost: COST, written: 90 })
})

test('a call with a fixed price still costs the operator its tokens, counted here if none are reported', async () => {
  answer = json(200, MESSAGE)
  await (await call('/v1/messages', { ...MESSAGES, model: 'req/claude-opus-5' })).text()
  expect(await row()).toMatchObject({ upstream_cost: COST, cost: String(1500 * 1_000_000) })
  account = await running.account(1_000_000n * 1_000_000n)
  answer = json(200, { ...MESSAGE, usage: undefined })
  await (await call('/v1/messages', { ...MESSAGES, model: 'req/claude-opus-5' })).text()
  const counted = await row()
  const output = counted?.output
  expect([counted?.input, output]).toEqual([expect.any(Number), expect.any(Number)])
  expect(counted).toMatchObject({ upstream_cost: String(25_000 * (counted?.input * 5 + output * 25)) })
})

const CHAT = { model: 'gpt-5.5', messages: HI }
const COMPLETION = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'chào' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, prompt_tokens_details: { cached_tokens: 60 } },
}
const COMPLETION_COST = 25_000 * (40 * 4 + 60 * 0.4 + 10 * 30)

test('the cost is that of the upstream that served, with its discount', async () => {
  answer = json(200, COMPLETION)
  await (await call('/v1/chat/completions', CHAT)).text()
  expect(await row()).toMatchObject({ upstream_cost: String(COMPLETION_COST) })
  const failing = await startTestGateway({
    tables: TABLES,
    upstreams: { openai: `${provider.url}/broken`, deepseek: provider.url },
  })
  try {
    account = await failing.account(1_000_000n * 1_000_000n)
    const reply = await fetch(`${failing.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.apiKey}` },
      body: JSON.stringify(CHAT),
    })
    expect(reply.status).toBe(200)
    expect(await row(failing)).toMatchObject({ upstream_cost: String(COMPLETION_COST / 10), cost: String(110 * 2400) })
  } finally {
    await failing.close()
  }
})

test('images cost per image, and speech per call', async () => {
  answer = json(200, { created: 1, data: [{ b64_json: 'aGk=' }, { b64_json: 'aGk=' }] })
  const images = { model: 'req/gpt-image-2', prompt: 'a cat', n: 2 }
  expect((await call('/v1/images/generations', images)).status).toBe(200)
  expect(await row()).toMatchObject({ upstream_cost: String(2 * 1_750 * 1_000_000) })
  account = await running.account(1_000_000n * 1_000_000n)
  answer = [head(200, { 'content-type': 'audio/mpeg' }), write('sound'), end()]
  await (await call('/v1/audio/speech', { model: 'req/gpt-4o-mini-tts', input: 'chào', voice: 'alloy' })).arrayBuffer()
  expect(await row()).toMatchObject({ upstream_cost: String(375 * 1_000_000) })
})

test('the cost of images that never arrived is unknown', async () => {
  answer = json(200, { created: 1, data: [] })
  expect((await call('/v1/images/generations', { model: 'req/gpt-image-2', prompt: 'a cat' })).status).toBe(200)
  expect(await row()).toMatchObject({ status: 200, upstream_cost: null, cost: '0' })
})

test('a call that reached no upstream cost nothing; the cost of one that failed there is unknown', async () => {
  expect((await call('/v1/messages', { ...MESSAGES, max_tokens: 'many' })).status).toBe(400)
  expect(await row()).toMatchObject({ status: 400, upstream_cost: '0' })
  account = await running.account(1_000_000n * 1_000_000n)
  answer = json(400, { type: 'error', error: { type: 'invalid_request_error', message: 'no' } })
  expect((await call('/v1/messages', MESSAGES)).status).toBe(400)
  expect(await row()).toMatchObject({ status: 400, upstream_cost: null, cost: '0' })
})

test('a future price is not used yet, and an unknown one is not guessed', async () => {
  answer = json(200, COMPLETION)
  await (await call('/v1/chat/completions', { ...CHAT, model: 'gpt-5.4' })).text()
  expect(await row()).toMatchObject({ upstream_cost: null, cost: String(110 * 2400) })
  account = await running.account(1_000_000n * 1_000_000n)
  await (await call('/v1/chat/completions', { ...CHAT, model: 'gpt-5.5-instant' })).text()
  expect(await row()).toMatchObject({ upstream_cost: null, cost: String(110 * 2400) })
})

test('the tokens of a stream whose client has left are counted as far as they are known', async () => {
  const controller = new AbortController()
  const chunk = {
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta: { content: 'chào ' } }],
  }
  answer = [sse(), write(`data: ${JSON.stringify(chunk)}\n\n`), { do: 'hang' }]
  const reply = await call('/v1/chat/completions', { ...CHAT, stream: true }, controller.signal)
  await reply.body?.getReader().read()
  controller.abort()
  await expect.poll(async () => (await running.usage(account.accountId)).length).toBe(1)
  const left = await row()
  const output = Number(left?.cost) / 2400 - left?.input
  expect(output).toBeGreaterThan(0)
  expect(left).toMatchObject({ status: 499, upstream_cost: String(25_000 * (left?.input * 4 + output * 30)) })
})
