/** Responses API features besides creating responses: counting, requests for stored responses, and codes that clients act on. */

import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { type Answer, json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'

let answer: Answer = json(500, {})
let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount
let client: OpenAI

beforeAll(async () => {
  provider = await startScriptedUpstream(() => answer)
  running = await startTestGateway({ upstreams: { openai: `${provider.url}/v1` } })
  account = await running.account(0n)
  client = new OpenAI({ apiKey: account.apiKey, baseURL: `${running.url}/v1`, maxRetries: 0 })
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

function send(method: string, path: string, body?: object, apiKey = account.apiKey) {
  const headers = { authorization: `Bearer ${apiKey}` }
  return fetch(`${running.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
}

test('the official SDK counts input for an empty wallet, and no usage row is written', async () => {
  const count = (input: string, more: object = {}) =>
    client.responses.inputTokens.count({ model: 'gpt-5.5', input, ...more })
  const short = await count('Xin chào')
  expect(short).toEqual({ object: 'response.input_tokens', input_tokens: expect.any(Number) })
  const long = await count('Xin chào '.repeat(100))
  expect(long.input_tokens).toBeGreaterThan(short.input_tokens + 200)
  const instructed = await count('Xin chào', { instructions: 'Answer in one word. '.repeat(10) })
  expect(instructed.input_tokens).toBeGreaterThan(short.input_tokens + 30)
  const tool = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} }, strict: false }
  expect((await count('Xin chào', { tools: [tool] })).input_tokens).toBeGreaterThan(short.input_tokens + 10)
  expect(await running.usage(account.accountId)).toEqual([])
})

test('items count like the same conversation in other formats', async () => {
  const count = async (path: string, body: object) => {
    const response = await send('POST', path, { model: 'gpt-5.5', ...body })
    return ((await response.json()) as { input_tokens: number }).input_tokens
  }
  const text = 'The quick brown fox jumps over the lazy dog. '.repeat(20)
  const items = await count('/v1/responses/input_tokens', {
    input: [
      { role: 'user', content: [{ type: 'input_text', text }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
      { type: 'function_call', call_id: 'c', name: 'look', arguments: '{"at":"fox"}' },
      { type: 'function_call_output', call_id: 'c', output: text },
    ],
  })
  const messages = await count('/v1/messages/count_tokens', {
    messages: [
      { role: 'user', content: text },
      {
        role: 'assistant',
        content: [
          { type: 'text', text },
          { type: 'tool_use', id: 'c', name: 'look', input: { at: 'fox' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: text }] },
    ],
  })
  expect(Math.abs(items - messages)).toBeLessThan(messages * 0.05)
})

test('content stored at a provider cannot be counted here', async () => {
  const response = await send('POST', '/v1/responses/input_tokens', {
    model: 'gpt-5.5',
    input: 'x',
    previous_response_id: 'resp_1',
  })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { code: 'previous_response_not_found' } })
})

test('counting needs a key', async () => {
  const response = await send('POST', '/v1/responses/input_tokens', { model: 'gpt-5.5', input: 'x' }, 'sk-svc-wrong')
  expect(response.status).toBe(401)
})

test.each([
  ['GET', '/v1/responses/resp_1'],
  ['DELETE', '/v1/responses/resp_1'],
  ['POST', '/v1/responses/resp_1/cancel'],
  ['GET', '/v1/responses/resp_1/input_items'],
])('%s %s: nothing is stored', async (method, path) => {
  const response = await send(method, path)
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({
    error: {
      type: 'not_found_error',
      code: 'response_not_found',
      message:
        'There is no response resp_1: this service stores none. Use the reply to POST /v1/responses, and send the whole conversation with each request.',
    },
  })
})

test('the official SDK gets a 404 for stored responses', async () => {
  const error = await client.responses.retrieve('resp_1').catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(OpenAI.NotFoundError)
  expect((error as InstanceType<typeof OpenAI.NotFoundError>).code).toBe('response_not_found')
})

test('compaction is not supported, and the client is told what to do instead', async () => {
  const response = await send('POST', '/v1/responses/compact', { model: 'gpt-5.5', input: [] })
  expect(response.status).toBe(404)
  const { error } = (await response.json()) as { error: { code: string; message: string } }
  expect(error.code).toBe('route_not_found')
  expect(error.message).toMatch(
    /^There is no POST \/v1\/responses\/compact: this service does not compact responses\. /,
  )
})

test.each<[string, Answer, number, string, string]>([
  [
    'an overload',
    json(503, { error: { message: 'x', code: 'server_is_overloaded' } }),
    503,
    'server_is_overloaded',
    'upstream_overloaded',
  ],
  [
    'a limit',
    json(429, { error: { message: 'x', code: 'rate_limit_exceeded' } }),
    429,
    'rate_limit_exceeded',
    'upstream_rate_limited',
  ],
  [
    'a conversation that is too long',
    json(400, {
      error: { message: 'Your input exceeds the context window of this model.', code: 'context_length_exceeded' },
    }),
    400,
    'context_length_exceeded',
    'context_length_exceeded',
  ],
])('%s has the code that clients of the format act on', async (_what, given, status, code, ours) => {
  answer = given
  // Each case has its own gateway, because a gateway stops using an overloaded or rate-limited provider for a while.
  const fresh = await startTestGateway({ upstreams: { openai: `${provider.url}/v1` } })
  const { apiKey } = await fresh.account(1_000_000n * 1_000_000n)
  const told = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${apiKey}` }
    const response = await fetch(`${fresh.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    return [response.status, ((await response.json()) as { error: { code: string } }).error.code]
  }
  expect(await told('/v1/responses', { model: 'gpt-5.5', input: 'x' })).toEqual([status, code])
  const messages = [{ role: 'user', content: 'x' }]
  expect(await told('/v1/chat/completions', { model: 'gpt-5.5', messages })).toEqual([status, ours])
  await fresh.close()
})

test('a key over its limit gets the code that clients act on, too, before its body is read', async () => {
  const person = await running.account(1_000_000n)
  await running.database.sql`update api_key set rate_limit_per_minute = 1 where key_id = ${person.keyId}`
  answer = json(400, { error: { message: 'no', code: 'invalid_prompt' } })
  await send('POST', '/v1/responses', { model: 'gpt-5.5', input: 'x' }, person.apiKey)
  const response = await send('POST', '/v1/responses', { model: 'gpt-5.5', input: 'x' }, person.apiKey)
  expect(response.status).toBe(429)
  expect(await response.json()).toMatchObject({ error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' } })
})
