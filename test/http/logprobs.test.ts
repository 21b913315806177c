/** Log probabilities, which are nearly all of the replies that have them, reach the client without being parsed. */

import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  end,
  head,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  write,
} from '../support/scripted-upstream.ts'

const CREDIT = 1_000_000n * 1_000_000n
/** Longer texts are not parsed, in characters. */
const PARSED_MAX = 100_000
const TOKEN = {
  token: '{"',
  logprob: -0.0012,
  bytes: [123, 92, 34],
  top_logprobs: Array(20).fill({ token: '\\' }),
}
const LOGPROBS = { content: Array(4_000).fill(TOKEN), refusal: null }
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const SAID = { role: 'assistant', content: 'Xin "logprobs": chào' }
const WHOLE = JSON.stringify({
  id: 'x',
  model: 'upstream-name',
  choices: [
    { index: 0, logprobs: LOGPROBS, message: SAID, finish_reason: 'stop' },
    { index: 1, message: SAID, logprobs: { content: [] }, finish_reason: 'stop' },
  ],
  usage,
})

function chunk(choice: object): string {
  return `data: ${JSON.stringify({ id: 'x', model: 'upstream-name', choices: [{ index: 0, finish_reason: null, ...choice }], usage })}\n\n`
}

const EVENTS = `${chunk({ delta: SAID, logprobs: LOGPROBS })}${chunk({ delta: {}, finish_reason: 'stop' })}data: [DONE]\n\n`

let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount
let answer: Answer = []
beforeAll(async () => {
  provider = await startScriptedUpstream(() => answer)
  running = await startTestGateway({ upstreams: { deepseek: provider.url } })
  account = await running.account(CREDIT)
})
afterEach(() => void vi.restoreAllMocks())
afterAll(async () => {
  await running.close()
  await provider.close()
})

function call(path: string, body: object): Promise<Response> {
  return fetch(`${running.url}${path}`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: JSON.stringify({
      model: 'deepseek-v4-flash',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'x' }],
      ...body,
    }),
  })
}

/** Length of the longest text that the gateway has parsed. */
function watchParser(): () => number {
  const parse = vi.spyOn(JSON, 'parse')
  return () => Math.max(...parse.mock.calls.map(([text]) => text.length))
}

function json(body: string): Answer {
  return [head(200, { 'content-type': 'application/json' }), write(body), end()]
}

function named(text: string): string {
  return text.replaceAll('upstream-name', 'deepseek-v4-flash')
}

test('a whole reply keeps its bytes, apart from the name of the model', async () => {
  answer = json(WHOLE)
  const longest = watchParser()
  const reply = await call('/v1/chat/completions', {})
  expect((await reply.text()) === named(WHOLE)).toBe(true)
  expect(longest()).toBeLessThan(PARSED_MAX)
})

test('a whole reply is converted', async () => {
  answer = json(WHOLE)
  const longest = watchParser()
  const reply = await (await call('/v1/messages', {})).text()
  expect(longest()).toBeLessThan(PARSED_MAX)
  expect(JSON.parse(reply)).toMatchObject({
    content: [{ type: 'text', text: SAID.content }],
    usage: { input_tokens: 10, output_tokens: 5 },
  })
})

test('events of a stream keep their bytes', async () => {
  answer = [sse(), write(EVENTS), end()]
  const longest = watchParser()
  const events = await (
    await call('/v1/chat/completions', { stream: true, stream_options: { include_usage: true } })
  ).text()
  expect(events === named(EVENTS)).toBe(true)
  expect(longest()).toBeLessThan(PARSED_MAX)
})

test('a whole reply to a streamed call becomes a stream with them', async () => {
  answer = json(WHOLE)
  const longest = watchParser()
  const events = await (await call('/v1/chat/completions', { stream: true })).text()
  expect(longest()).toBeLessThan(PARSED_MAX)
  expect(events.includes(JSON.stringify(LOGPROBS))).toBe(true)
  expect(events.endsWith('data: [DONE]\n\n')).toBe(true)
})

test.each(['whole', 'streamed'])(
  'a reply with too many other values is a 502, sent to no other upstream, and free (%s)',
  async how => {
    const more = `[${Array(200_001).fill(0).join(',')}]`
    const isStream = how === 'streamed'
    answer = isStream
      ? [sse(), write(EVENTS.replace('{', `{"more":${more},`)), end()]
      : json(WHOLE.replace('{', `{"more":${more},`))
    const before = provider.requests.length
    const reply = await call('/v1/chat/completions', { stream: isStream })
    expect(await reply.text()).toContain('"code":"upstream_failed"')
    expect(provider.requests.length).toBe(before + 1)
    const row = (await running.usage(account.accountId)).at(-1)
    expect(row).toMatchObject({ charged: 0n })
  },
)
