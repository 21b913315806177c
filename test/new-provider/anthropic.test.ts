/** Tests two providers with unusual APIs, added by YAML alone, through the Anthropic SDK: messages and token counting. */

import Anthropic from '@anthropic-ai/sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ANSWER, type Double, OBJECT, THOUGHT, TOOL_INPUT, USED } from './double.ts'
import { MODELS, type NewProviders, startNewProviders } from './world.ts'

let world: NewProviders
let client: Anthropic

beforeAll(async () => {
  world = await startNewProviders()
})
beforeEach(async () => {
  await world.begin()
  client = new Anthropic({ baseURL: world.url, apiKey: world.account.apiKey, maxRetries: 0 })
})
afterAll(() => world.close())

const QUESTION: Anthropic.MessageParam = { role: 'user', content: 'Thời tiết ở Hà Nội?' }
const TOOL: Anthropic.Tool = {
  name: 'get_weather',
  description: 'Weather of a city',
  strict: true,
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
}
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, degrees: { type: 'number' } },
  required: ['city', 'degrees'],
  additionalProperties: false,
}
const EPHEMERAL = { cache_control: { type: 'ephemeral' as const } }

const textOf = ({ content }: Anthropic.Message) =>
  content.map(block => (block.type === 'text' ? block.text : '')).join('')
const thoughtOf = ({ content }: Anthropic.Message) =>
  content.map(block => (block.type === 'thinking' ? block.thinking : '')).join('')

describe.each(MODELS)('$model', ({ model, price, double }) => {
  const provider = (): Double => world[double]
  const ask = (body: Partial<Anthropic.MessageCreateParamsNonStreaming>, stream: boolean) => {
    const params = { model, max_tokens: 8000, messages: [QUESTION], ...body }
    return stream ? client.messages.stream(params).finalMessage() : client.messages.create(params)
  }

  test.each([false, true])(
    'answers requests with everything that clients send by default (stream: %s)',
    async stream => {
      const message = await ask(
        {
          system: [{ type: 'text', text: 'Be brief.', ...EPHEMERAL }],
          messages: [{ role: 'user', content: [{ type: 'text', text: 'Thời tiết?', ...EPHEMERAL }] }],
          metadata: { user_id: 'person-1' },
          stop_sequences: ['END'],
          ...({ temperature: 0.5, top_k: 5, ...EPHEMERAL } as object),
        },
        stream,
      )
      expect([message.model, textOf(message), message.stop_reason]).toEqual([model, ANSWER, 'end_turn'])
      const row = await world.expectBilled(1, price)
      const { input_tokens: fresh, cache_read_input_tokens: cached } = message.usage
      expect([fresh, cached]).toEqual([row.input_tokens - USED.cached, USED.cached])
      expect(provider().refused).toEqual([])
    },
  )

  test.each([false, true])('thinks, runs a tool, and continues thinking (stream: %s)', async stream => {
    const messages: Anthropic.MessageParam[] = [QUESTION]
    const thinking = { type: 'enabled' as const, budget_tokens: 4096 }
    const body = { messages, thinking, tools: [{ ...TOOL, ...EPHEMERAL }] }
    const called = await ask(body, stream)
    expect(called.stop_reason).toBe('tool_use')
    expect(thoughtOf(called)).toBe(THOUGHT)
    const call = called.content.find(block => block.type === 'tool_use')
    expect(call).toMatchObject({ name: 'get_weather', input: TOOL_INPUT })
    messages.push(
      { role: 'assistant', content: called.content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call!.id, content: '31 °C', ...EPHEMERAL }] },
    )
    const answered = await ask(body, stream)
    expect([thoughtOf(answered), textOf(answered)]).toEqual([THOUGHT, ANSWER])
    await world.expectBilled(2, price)
    expect(provider().refused).toEqual([])
    expect(world.thinking(double)).toBe('high')
  })

  test('an effort that the client names is understood', async () => {
    const message = await ask(
      { messages: [QUESTION], thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      false,
    )
    expect([thoughtOf(message), textOf(message)]).toEqual([THOUGHT, ANSWER])
    expect(world.thinking(double)).toBe('low')
    await world.expectBilled(1, price)
  })

  test('a tool can be forced while thinking is requested', async () => {
    const message = await ask(
      {
        messages: [QUESTION],
        tools: [TOOL],
        tool_choice: { type: 'tool', name: 'get_weather', disable_parallel_tool_use: true },
        thinking: { type: 'adaptive' },
      },
      false,
    )
    expect(message.content.some(block => block.type === 'tool_use')).toBe(true)
    expect(provider().refused).toEqual([])
    await world.expectBilled(1, price)
  })

  test.each([false, true])('returns an object that matches a schema (stream: %s)', async stream => {
    const message = await ask(
      { messages: [QUESTION], output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
      stream,
    )
    expect(JSON.parse(textOf(message))).toEqual(OBJECT)
    expect(provider().refused).toEqual([])
    await world.expectBilled(1, price)
  })

  test('a client’s beta flag is not sent upstream', async () => {
    await client.beta.messages.create({
      model,
      max_tokens: 100,
      messages: [QUESTION],
      betas: ['interleaved-thinking-2025-05-14'],
    })
    expect(provider().refused).toEqual([])
    await world.expectBilled(1, price)
  })

  test('counts tokens free of charge, without calling the provider', async () => {
    const { input_tokens } = await client.messages.countTokens({ model, messages: [QUESTION], tools: [TOOL] })
    expect(input_tokens).toBeGreaterThan(10)
    expect([provider().served, provider().refused, await world.spent()]).toEqual([[], [], 0n])
  })
})
