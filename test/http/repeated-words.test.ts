/** Errors that repeat words of a request: a reply of its size, without a permit, would stay in memory until its client reads it. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'

const LONG = 'A'.repeat(1_000_000)
const ANY = { role: 'user', content: 'x' }
const [CLAUDE, GPT] = ['claude-opus-5', 'gpt-5.5']

let running: TestGateway
let key: string
beforeAll(async () => {
  running = await startTestGateway()
  key = (await running.account(1_000_000n * 1_000_000n)).apiKey
})
afterAll(() => running.close())

test.each([
  ['model', '/v1/images/generations', { model: LONG, prompt: 'x' }],
  ['block', '/v1/messages', { model: GPT, max_tokens: 5, messages: [{ role: 'user', content: [{ type: LONG }] }] }],
  ['part', '/v1/chat/completions', { model: CLAUDE, messages: [{ role: 'user', content: [{ type: LONG }] }] }],
  ['item', '/v1/responses', { model: CLAUDE, input: [{ type: LONG }] }],
  ['role', '/v1/chat/completions', { model: CLAUDE, messages: [{ role: LONG, content: 'x' }] }],
  ['tool', '/v1/chat/completions', { model: CLAUDE, messages: [ANY], tools: [{ type: LONG }] }],
  ['field', '/v1/messages', { model: CLAUDE, max_tokens: 5, messages: [ANY], [`Tools[${LONG}`]: 1 }],
  [
    'call',
    '/v1/messages',
    { model: GPT, max_tokens: 5, messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: LONG }] }] },
  ],
])('a %s of a million letters is a 400 of a few kilobytes', async (_, path, body) => {
  const reply = await fetch(running.url + path, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: JSON.stringify(body),
  })
  expect(reply.status).toBe(400)
  expect((await reply.text()).length).toBeLessThan(10_000)
})
