/** The Anthropic SDKs as clients of a running gateway. Only the base URL and the API key differ from normal use. */

import Anthropic from '@anthropic-ai/sdk'
import AnthropicZero from 'anthropic-sdk-0'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { LASTING_TABLES } from '../support/tables.ts'

let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  running = await startTestGateway()
  account = await running.account(1_000_000n * 1_000_000n)
})
afterAll(() => running.close())

const WEATHER = {
  name: 'get_weather',
  description: 'Current weather of a city',
  input_schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
    required: ['city', 'unit'],
  },
}

const MODELS = [
  'claude-opus-5',
  'gpt-5.5',
  'deepseek-v4-flash',
  'gemini-3.5-flash',
  'svc/qwen3-coder-480b',
  'svc/claude-opus-5',
]

describe.each([
  ['1.x', () => new Anthropic({ baseURL: running.url, apiKey: account.apiKey, maxRetries: 0 })],
  [
    '0.137',
    () => new AnthropicZero({ baseURL: running.url, apiKey: account.apiKey, maxRetries: 0 }) as unknown as Anthropic,
  ],
])('@anthropic-ai/sdk %s', (_version, makeClient) => {
  test('creates a message and reports its cost', async () => {
    const { data, response } = await makeClient()
      .messages.create({ model: 'claude-opus-5', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] })
      .withResponse()
    expect(data.type).toBe('message')
    expect(data.model).toBe('claude-opus-5')
    expect(data.content.map(block => block.type)).toEqual(['thinking', 'text'])
    expect(data.stop_reason).toBe('end_turn')
    const tokens = data.usage.input_tokens + data.usage.output_tokens
    expect(Number(response.headers.get('x-svc-cost-vnd')) * 1e6).toBeCloseTo(tokens * 6500, 6)
  })

  test.each(MODELS)('streams a message of %s that accumulates to a complete one', async model => {
    const stream = makeClient().messages.stream({
      model,
      max_tokens: 200,
      messages: [{ role: 'user', content: 'Tell me something.' }],
    })
    let text = ''
    stream.on('text', delta => {
      text += delta
    })
    const message = await stream.finalMessage()
    expect(message.model).toBe(model)
    expect(message.content.map(block => (block.type === 'text' ? block.text : '')).join('')).toBe(text)
    expect(text.length).toBeGreaterThan(10)
    expect(message.usage.output_tokens).toBeGreaterThan(1)
  })

  test.each(MODELS)('runs a tool loop with %s', async model => {
    const client = makeClient()
    const question = { role: 'user' as const, content: 'What is the weather in Hanoi?' }
    const first = await client.messages.create({
      model,
      max_tokens: 400,
      tools: [WEATHER],
      messages: [question],
    })
    expect(first.stop_reason).toBe('tool_use')
    const call = first.content.find(block => block.type === 'tool_use')
    if (call?.type !== 'tool_use') throw new Error('no tool call')
    expect(call.input).toMatchObject({ city: expect.any(String), unit: expect.stringMatching(/celsius|fahrenheit/) })
    const second = await client.messages.create({
      model,
      max_tokens: 400,
      tools: [WEATHER],
      messages: [
        question,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '31 degrees, sunny' }] },
      ],
    })
    expect(second.stop_reason).toBe('end_turn')
    expect(second.content.map(block => (block.type === 'text' ? block.text : '')).join('')).toContain('31 degrees')
  })

  test('counts tokens, for free', async () => {
    const client = makeClient()
    const poor = await running.account(0n)
    client.apiKey = poor.apiKey
    const content = 'How many tokens are in this question? '.repeat(50)
    const counted = await client.messages.countTokens({
      model: 'claude-opus-5',
      system: 'Be brief.',
      tools: [WEATHER],
      messages: [{ role: 'user', content }],
    })
    expect(counted.input_tokens).toBeGreaterThan(700)
    expect(counted.input_tokens).toBeLessThan(1200)
    expect(await running.usage(poor.accountId)).toEqual([])
  })

  test('lists the models and retrieves one by its id with a slash', async () => {
    const client = makeClient()
    const ids: string[] = []
    for await (const model of client.models.list()) ids.push(model.id)
    expect(ids).toHaveLength(LASTING_TABLES.entries.length)
    const model = await client.models.retrieve('req/claude-opus-5')
    expect(model).toMatchObject({ id: 'req/claude-opus-5', type: 'model', max_input_tokens: 1_000_000 })
  })

  test('raises errors of its own classes, with our message', async () => {
    const wrong = makeClient()
    wrong.apiKey = 'sk-svc-wrong'
    const call = wrong.messages.create({ model: 'opus', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] })
    await expect(call).rejects.toMatchObject({ status: 401, message: expect.stringContaining('API key is wrong') })
    const poor = await running.account(0n)
    const broke = makeClient()
    broke.apiKey = poor.apiKey
    const refused = broke.messages.create({ model: 'opus', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] })
    await expect(refused).rejects.toMatchObject({
      status: 402,
      message: expect.stringContaining('http://gateway.test'),
    })
  })
})
