/** `n`: a price per call covers one choice, so a higher `n` is refused; at a price per token, money is held for each choice. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  end,
  json,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  until,
  write,
} from '../support/scripted-upstream.ts'

const CREDIT = 1_000_000n * 1_000_000n

let answer: Answer
let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  provider = await startScriptedUpstream(() => answer)
  const url = `${provider.url}/v1`
  running = await startTestGateway({
    upstreams: { openai: url, google: url, deepseek: url, xai: url, anthropic: provider.url },
  })
})
beforeEach(async () => {
  answer = reply(1)
  account = await running.account(CREDIT)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

function call(path: string, body: object) {
  return fetch(running.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}` },
    body: JSON.stringify(body),
  })
}

const MESSAGES = [{ role: 'user', content: 'Xin chào' }]

function chat(model: string, n: unknown) {
  return call('/v1/chat/completions', { model, messages: MESSAGES, n })
}

function reply(choices: number): Answer {
  const message = { role: 'assistant', content: 'Chào' }
  return json(200, {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: Array.from({ length: choices }, (_, index) => ({ index, message, finish_reason: 'stop' })),
    usage: { prompt_tokens: 10, completion_tokens: 2 * choices, total_tokens: 10 + 2 * choices },
  })
}

async function refusal(response: Response) {
  expect(response.status).toBe(400)
  const body = (await response.json()) as { type: string; error: { type: string; message: string } }
  expect(body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
  return body.error.message
}

const REFUSED: readonly [name: string, model: string, n: unknown, message: RegExp][] = [
  ['two choices for a price per call', 'req/gpt-5.5', 2, /^n: req\/gpt-5\.5 is priced per call and returns one choice/],
  ['128 choices for a price per call', 'req/gpt-5.5', 128, /^n: req\/gpt-5\.5 is priced per call/],
  ['more than the provider gives', 'gpt-5.5', 129, /^n: at most 128 choices/],
  ['two where the provider gives one', 'deepseek-v4-flash', 2, /^n: this model returns one choice per call/],
  ['more than any provider gives', 'grok-4.3', 2_000_000_000, /^n: at most 1024 choices/],
  ['two of a converted call', 'claude-opus-5', 2, /^n: this model returns one choice per call/],
  ['none', 'gpt-5.5', 0, /^n: Input should be a whole number/],
  ['a negative number', 'gpt-5.5', -1, /^n: Input should be a whole number/],
  ['a fraction', 'gpt-5.5', 1.5, /^n: Input should be a whole number/],
  ['a string', 'gpt-5.5', '2', /^n: Input should be a whole number/],
]

test.each(REFUSED)('refuses %s, and charges nothing', async (_name, model, n, message) => {
  const before = provider.requests.length
  expect(await refusal(await chat(model, n))).toMatch(message)
  expect(provider.requests.length).toBe(before)
  expect((await running.usage(account.accountId)).map(row => [row.status, row.cost])).toEqual([[400, 0n]])
  expect(await running.balance(account.accountId)).toBe(CREDIT)
})

test('refuses a second choice at a price per call in the other formats, too', async () => {
  const messages = { model: 'req/claude-opus-5', max_tokens: 9, messages: MESSAGES, n: 2 }
  expect(await refusal(await call('/v1/messages', messages))).toMatch(/priced per call/)
  const responses = { model: 'req/gpt-5.5', input: 'Xin chào', n: 2 }
  expect(await refusal(await call('/v1/responses', responses))).toMatch(/priced per call/)
})

test('serves one choice at a price per call, with or without n', async () => {
  for (const n of [1, null]) expect((await chat('req/gpt-5.5', n)).status).toBe(200)
  expect(await running.balance(account.accountId)).toBe(CREDIT - 2n * 900n * 1_000_000n)
})

async function heldFor(model: string, n: number): Promise<bigint> {
  const gate = Promise.withResolvers<void>()
  answer = [until(gate.promise), ...reply(n)]
  const before = provider.requests.length
  const calling = chat(model, n)
  await provider.received(before + 1)
  const [row] = await running.database
    .sql`select held_micro_vnd::text as held from wallet where account_id = ${account.accountId}`
  gate.resolve()
  expect((await calling).status).toBe(200)
  return BigInt(row?.held)
}

test('holds what each choice can cost, and bills the reported usage', async () => {
  const one = await heldFor('gpt-5.5', 1)
  const eight = await heldFor('gpt-5.5', 8)
  // The hold of a non-streamed call covers the model's full output for each choice.
  expect(eight - one).toBe(7n * 128_000n * 2400n)
  expect((await running.usage(account.accountId)).map(row => row.cost)).toEqual([12n * 2400n, 26n * 2400n])
})

test('a stream whose first choice is finished still pays for the others, and ends when the money does', async () => {
  const chunk = (index: number, delta: object, rest: object = {}) => {
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
    const choices = [{ index, delta, finish_reason: null, ...rest }]
    return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices, usage })}\n\n`
  }
  const long = chunk(1, { content: ' lorem ipsum dolor sit amet'.repeat(40) })
  const start = chunk(0, { content: 'Chào' }) + chunk(0, {}, { finish_reason: 'stop' })
  answer = [sse(), write(start + long.repeat(500)), end()]
  // Enough money for 20,000 tokens. The second choice alone has 100,000.
  account = await running.account(20_000n * 1_900n)
  const body = { model: 'gemini-3.5-flash', messages: MESSAGES, n: 2, stream: true }
  const text = await (await call('/v1/chat/completions', body)).text()
  expect(text).toContain('"insufficient_balance"')
  expect(text.length).toBeLessThan(500_000)
  expect(await running.balance(account.accountId)).toBe(0n)
})
