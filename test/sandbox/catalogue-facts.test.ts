/** The sandbox behaves as the catalogue describes models: some think by default, and some report usage without being asked. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { sandboxFacts } from '../../src/app/sandbox-facts.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { type Sandbox, startSandbox } from '../../src/sandbox/server.ts'
import { post } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox({ ...sandboxFacts(TABLES), pace: { firstTokenMs: 0, tokensPerSecond: 0 } })
})
afterAll(() => sandbox.close())

const PATHS = {
  messages: '/v1/messages',
  chat_completions: '/v1/chat/completions',
} as const

/** Every upstream model that can reason, in the chat format or at Anthropic. AWS is left out: its messages format is the same. */
const MODELS = [
  ...new Map(
    TABLES.entries
      .filter(entry => entry.kind === 'chat' && entry.capabilities.includes('reasoning'))
      .flatMap(entry => entry.upstreams)
      .filter(target => target.standard === 'chat_completions' || target.via === 'anthropic')
      .map(target => [`${target.via}/${target.model}`, target] as const),
  ).values(),
]

const bodyOf = (model: string, standard: string, more: object = {}) => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  ...(standard === 'messages' && { max_tokens: 2_000 }),
  ...more,
})

test.each(MODELS)('$via $model thinks by default exactly if the catalogue says so', async target => {
  const path = PATHS[target.standard as keyof typeof PATHS]
  const response = await post(sandbox, `/${target.via}${path}`, bodyOf(target.model, target.standard))
  const text = await response.text()
  const reply = JSON.parse(text)
  expect(response.status, text).toBe(200)
  const { byDefault, display } = target.dialect.reasoning
  if (target.standard !== 'messages') {
    const { reasoning_tokens: tokens } = reply.usage.completion_tokens_details
    expect([tokens > 0, 'reasoning_content' in reply.choices[0].message]).toEqual([byDefault, byDefault])
    return
  }
  const thinking = reply.content.find((block: { type: string }) => block.type === 'thinking')
  expect(thinking !== undefined).toBe(byDefault)
  expect(reply.usage.output_tokens_details.thinking_tokens > 0).toBe(byDefault)
  if (byDefault) expect(thinking.thinking === '').toBe(display === 'on_request')
})

test('a model that hides its thinking shows it on request', async () => {
  const thinking = { type: 'adaptive', display: 'summarized' }
  const body = bodyOf('claude-opus-5', 'messages', { thinking })
  const reply = (await (await post(sandbox, '/anthropic/v1/messages', body)).json()) as { content: object[] }
  expect(reply.content[0]).toMatchObject({ type: 'thinking', thinking: expect.stringMatching(/\w/) })
})

test('thinking that is switched off stays off', async () => {
  const body = bodyOf('glm-5.2', 'chat_completions', { thinking: { type: 'disabled' } })
  const reply = await (await post(sandbox, '/zhipuai/v1/chat/completions', body)).json()
  expect(reply).toMatchObject({ usage: { completion_tokens_details: { reasoning_tokens: 0 } } })
})

test('a provider takes top_k in the chat format if the catalogue says so', async () => {
  const asked = async (via: string, model: string) => {
    const body = bodyOf(model, 'chat_completions', { top_k: 5 })
    return await (await post(sandbox, `/${via}/v1/chat/completions`, body)).json()
  }
  expect(await asked('alibaba', 'qwen3.7-max')).toMatchObject({ object: 'chat.completion' })
  expect(await asked('deepseek', 'deepseek-flash')).toMatchObject({
    error: { code: 'unknown_parameter', param: 'top_k' },
  })
})

const streamed = async (via: string, model: string, more: object = {}) =>
  await (await post(sandbox, `/${via}/v1/chat/completions`, bodyOf(model, '', { stream: true, ...more }))).text()

test('a provider without stream_options sends usage without a request, and refuses the field', async () => {
  expect(await streamed('zhipuai', 'glm-5.2')).toMatch(/"usage":\{"prompt_tokens":\d+/)
  const plain = await streamed('deepseek', 'deepseek-flash')
  expect(plain).toContain('[DONE]')
  expect(plain).not.toContain('prompt_tokens')
  const refused = await streamed('zhipuai', 'glm-5.2', { stream_options: { include_usage: true } })
  expect(JSON.parse(refused)).toMatchObject({ error: { param: 'stream_options', code: 'unsupported_parameter' } })
})
