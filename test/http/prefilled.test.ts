/** Requests whose last message begins the answer (a prefill) go to the provider's separate path for prefills, if it has one. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ConversionWorld, startConversionWorld } from '../support/conversion.ts'
import { json } from '../support/scripted-upstream.ts'

let world: ConversionWorld
beforeAll(async () => {
  world = await startConversionWorld()
})
afterAll(() => world.close())

const QUESTION = { role: 'user', content: 'Viết hàm cộng hai số.' }
const REPLY = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'upstream-name',
  choices: [{ index: 0, message: { role: 'assistant', content: 'a, b): return a + b' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 8, total_tokens: 17 },
}
const BEGUN = { role: 'assistant', content: 'def add(' }

test.each([
  ['a chat request with the flag', '/v1/chat/completions', [QUESTION, { ...BEGUN, prefix: true }], true],
  ['a messages request that ends with the assistant', '/v1/messages', [QUESTION, BEGUN], true],
  ['a chat request without the flag', '/v1/chat/completions', [QUESTION, BEGUN], false],
  ['a flag that is not set', '/v1/chat/completions', [QUESTION, { ...BEGUN, prefix: false }], false],
  ['a flag on an earlier message', '/v1/chat/completions', [{ ...BEGUN, prefix: true }, QUESTION], false],
  ['a messages request that ends with the user', '/v1/messages', [QUESTION, BEGUN, QUESTION], false],
] as const)('%s', async (_, path, messages, continued) => {
  world.answer(json(200, REPLY))
  const response = await world.call(path, { model: 'deepseek-v4-flash', max_tokens: 100, messages })
  expect(response.status).toBe(200)
  const sent = world.provider.requests.at(-1)
  expect(sent?.path).toBe(continued ? '/deepseek/beta/chat/completions' : '/deepseek/chat/completions')
  const last = (world.sent().messages as { prefix?: boolean }[]).at(-1)
  expect(last?.prefix === true).toBe(continued)
})

test('a provider that continues messages at its usual path gets such requests there', async () => {
  world.answer(json(200, REPLY))
  const messages = [QUESTION, { ...BEGUN, partial: true }]
  await world.call('/v1/chat/completions', { model: 'kimi-k2.6', max_tokens: 100, messages })
  expect(world.provider.requests.at(-1)?.path).toBe('/moonshotai/chat/completions')
})
