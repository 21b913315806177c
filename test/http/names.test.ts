/** Alternative spellings of model names, on every endpoint: they are served, and replies use the client's spelling. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

let running: TestGateway
let account: TestAccount
beforeAll(async () => {
  running = await startTestGateway()
  account = await running.account(1_000_000_000_000n)
})
afterAll(() => running.close())

function send(path: string, body: object) {
  return fetch(running.url + path, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: JSON.stringify(body),
  })
}

const messages = [{ role: 'user', content: 'hi' }]

test.each<[string, string, string, object]>([
  ['/v1/messages', 'Anthropic/Claude-Opus-5', 'claude-opus-5', { max_tokens: 20, messages }],
  ['/v1/messages', 'openai/gpt-5.5', 'gpt-5.5', { max_tokens: 20, messages }],
  ['/v1/chat/completions', 'GPT-5.5', 'gpt-5.5', { messages }],
  ['/v1/chat/completions', 'anthropic/SVC/claude-opus-5', 'svc/claude-opus-5', { messages }],
  ['/v1/responses', 'OpenAI/gpt-5.5', 'gpt-5.5', { input: 'hi' }],
])('%s serves %s as %s, streamed or not, and replies repeat the client’s spelling', async (path, name, id, rest) => {
  for (const stream of [false, true]) {
    const reply = await send(path, { model: name, ...rest, stream })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('x-svc-model')).toBe(id)
    expect(reply.headers.get('x-svc-model-mapped-from')).toBeNull()
    const models = [...(await reply.text()).matchAll(/"model":\s*"([^"]*)"/g)].map(match => match[1])
    expect(new Set(models)).toEqual(new Set([name]))
  }
  const rows = await running.usage(account.accountId)
  expect(rows.at(-1)).toMatchObject({ model: id, requested_name: null, status: 200 })
})

test.each<[string, string, string, object]>([
  ['/v1/messages', 'anthropic/claude-opus-4.5', 'claude-opus-4-5', { max_tokens: 20, messages }],
  ['/v1/chat/completions', 'OPUS', 'claude-opus-5', { messages }],
])('%s: %s is reported as an alias of %s', async (path, name, id, rest) => {
  const reply = await send(path, { model: name, ...rest })
  expect(reply.headers.get('x-svc-model-mapped-from')).toBe(encodeURIComponent(name))
  expect(await reply.json()).toMatchObject({ model: id })
  expect((await running.usage(account.accountId)).at(-1)).toMatchObject({ model: id, requested_name: name })
})

test('images and speech accept other spellings, and refuse unknown names', async () => {
  const picture = await send('/v1/images/generations', { model: 'OpenAI/REQ/GPT-Image-2', prompt: 'x' })
  expect([picture.status, picture.headers.get('x-svc-model')]).toEqual([200, 'req/gpt-image-2'])
  for (const model of ['openai/gpt-image-2', 'gpt-image-2', 'gpt-image-2-2026-04-21']) {
    const plain = await send('/v1/images/generations', { model, prompt: 'x' })
    expect([plain.status, plain.headers.get('x-svc-model')]).toEqual([200, 'req/gpt-image-2'])
  }
  for (const model of ['gpt-4o-mini-tts', 'gpt-4o-mini-tts-2025-12-15']) {
    const plain = await send('/v1/audio/speech', { model, input: 'x', voice: 'alloy' })
    expect([plain.status, plain.headers.get('x-svc-model')]).toEqual([200, 'req/gpt-4o-mini-tts'])
  }
  const speech = await send('/v1/audio/speech', { model: 'REQ/gpt-4o-mini-tts', input: 'x', voice: 'alloy' })
  expect([speech.status, speech.headers.get('x-svc-model')]).toEqual([200, 'req/gpt-4o-mini-tts'])
  const refused = await send('/v1/images/generations', { model: 'Nobody/GPT-Image-2', prompt: 'x' })
  expect(refused.status).toBe(400)
  expect(((await refused.json()) as { error: { message: string } }).error.message).toMatch(
    /^model: Nobody\/GPT-Image-2 is not in the catalogue\. .* serves: req\/gpt-image-2\.$/,
  )
})

test.each(['GPT-5.5', 'openai/gpt-5.5', 'OpenAI%2FGPT-5.5'])('GET /v1/models/%s returns the entry', async name => {
  const reply = await fetch(`${running.url}/v1/models/${name}`, { headers: { 'x-api-key': account.apiKey } })
  expect([reply.status, ((await reply.json()) as { id: string }).id]).toEqual([200, 'gpt-5.5'])
})
