import AnthropicNow, { APIError as ErrorNow } from '@anthropic-ai/sdk'
import AnthropicBefore, { APIError as ErrorBefore } from 'anthropic-sdk-0'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { PICTURES, startTestSandbox } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(() => sandbox.close())

const WEATHER = {
  name: 'get_weather',
  description: 'Says what the weather is like in a city.',
  input_schema: {
    type: 'object' as const,
    properties: { city: { type: 'string' }, unit: { type: 'string', enum: ['celsius', 'fahrenheit'] } },
    required: ['city', 'unit'],
  },
}

const SDKS = [
  ['1.x', AnthropicNow, ErrorNow],
  ['0.137', AnthropicBefore as unknown as typeof AnthropicNow, ErrorBefore as unknown as typeof ErrorNow],
] as const

describe.each(SDKS)('the Anthropic SDK %s, with only its base URL changed', (_version, Sdk, SdkError) => {
  const client = () => new Sdk({ apiKey: 'any', baseURL: `${sandbox.url}/up`, maxRetries: 0 })

  test('creates a message that says that it is simulated and what it understood', async () => {
    const { data: message, response } = await client()
      .messages.create({
        model: 'thinker',
        max_tokens: 500,
        system: 'Be brief.',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Describe this.' },
              {
                type: 'image',
                source: { type: 'base64', media_type: 'image/png', data: PICTURES['image/png']!.toString('base64') },
              },
            ],
          },
        ],
      })
      .withResponse()
    expect(response.headers.get('x-sandbox')).toBe('simulated')
    expect(message).toMatchObject({ type: 'message', role: 'assistant', model: 'thinker', stop_reason: 'end_turn' })
    expect(message.content).toEqual([
      {
        type: 'text',
        text: 'This is a simulated reply: no model was called. You wrote: “Describe this.” You sent 1 image: image/png, 3×2 pixels. The system prompt has 9 characters.',
      },
    ])
    expect(message.usage).toMatchObject({ input_tokens: 14, output_tokens: 41, cache_read_input_tokens: 0 })
  })

  test('answers Vietnamese in Vietnamese', async () => {
    const messages = [{ role: 'user' as const, content: 'Chào bạn, hôm nay thế nào?' }]
    const message = await client().messages.create({ model: 'thinker', max_tokens: 500, messages })
    expect(message.content[0]).toMatchObject({ text: expect.stringMatching(/^Đây là câu trả lời mô phỏng/) })
  })

  test('streams thinking, text and a tool call, then answers from the result', async () => {
    const first = { role: 'user' as const, content: 'What is the weather in Hanoi? sandbox:tokens=12' }
    const call = {
      model: 'thinker',
      max_tokens: 4_000,
      tools: [WEATHER],
      thinking: { type: 'enabled', budget_tokens: 1_024 } as const,
    }
    const stream = client().messages.stream({ ...call, messages: [first] })
    const texts: string[] = []
    stream.on('text', text => texts.push(text))
    const message = await stream.finalMessage()
    expect(message.stop_reason).toBe('tool_use')
    expect(message.content.map(block => block.type)).toEqual(['thinking', 'text', 'tool_use'])
    expect(texts.join('')).toMatch(/^This text continues/)
    const use = message.content[2] as { id: string; input: unknown }
    expect(use.input).toEqual({ city: 'Hanoi', unit: 'celsius' })
    const result = { type: 'tool_result' as const, tool_use_id: use.id, content: '31 degrees' }
    const answer = await client().messages.create({
      ...call,
      messages: [first, { role: 'assistant', content: message.content }, { role: 'user', content: [result] }],
    })
    expect(answer.stop_reason).toBe('end_turn')
    expect(answer.content.at(-1)).toMatchObject({ text: expect.stringContaining('get_weather returned: 31 degrees') })
  })

  test('makes two parallel calls if the prompt asks for two, unless that is switched off', async () => {
    const messages = [{ role: 'user' as const, content: 'Compare the weather in Paris and New York, both at once.' }]
    const call = { model: 'thinker', max_tokens: 500, messages, tools: [WEATHER] }
    const inputs = (content: { type: string; input?: unknown }[]) =>
      content.filter(block => block.type === 'tool_use').map(block => block.input)
    const two = await client().messages.create(call)
    expect(inputs(two.content)).toEqual([
      { city: 'Paris', unit: 'celsius' },
      { city: 'New York', unit: 'celsius' },
    ])
    const one = await client().messages.create({
      ...call,
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    })
    expect(inputs(one.content)).toHaveLength(1)
  })

  test('obeys the choice of a tool', async () => {
    const other = { ...WEATHER, name: 'other_tool' }
    const call = {
      model: 'thinker',
      max_tokens: 500,
      messages: [{ role: 'user' as const, content: 'weather' }],
      tools: [WEATHER, other],
    }
    const forced = await client().messages.create({ ...call, tool_choice: { type: 'tool', name: 'other_tool' } })
    expect(forced.content).toMatchObject([{ type: 'tool_use', name: 'other_tool' }])
    const none = await client().messages.create({ ...call, tool_choice: { type: 'none' } })
    expect(none.content).toMatchObject([{ type: 'text' }])
  })

  test('answers according to a JSON schema', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    }
    const message = await client().messages.create({
      model: 'thinker',
      max_tokens: 500,
      messages: [{ role: 'user', content: 'Tell me about Linh, who is 30.' }],
      output_config: { format: { type: 'json_schema', schema } },
    })
    expect(JSON.parse((message.content[0] as { text: string }).text)).toEqual({ name: 'Linh', age: 30 })
  })

  test('stops at max_tokens, to the token, and at a stop sequence', async () => {
    const call = { model: 'thinker', messages: [{ role: 'user' as const, content: 'hi sandbox:tokens=900' }] }
    const short = await client().messages.create({ ...call, max_tokens: 7 })
    expect([short.stop_reason, short.usage.output_tokens]).toEqual(['max_tokens', 7])
    const whole = await client().messages.create({ ...call, max_tokens: 1_000 })
    expect([whole.stop_reason, whole.usage.output_tokens]).toEqual(['end_turn', 900])
    const stopped = await client().messages.create({ ...call, max_tokens: 1_000, stop_sequences: ['reply'] })
    expect(stopped).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'reply',
      content: [{ text: 'This is a simulated ' }],
    })
  })

  test('hides the text of thinking on request, and accepts the block when sent back', async () => {
    const call = { model: 'thinker', max_tokens: 4_000, thinking: { type: 'adaptive', display: 'omitted' } as const }
    const message = await client()
      .messages.stream({ ...call, messages: [{ role: 'user', content: 'hi' }] })
      .finalMessage()
    expect(message.content[0]).toEqual({ type: 'thinking', thinking: '', signature: expect.stringMatching(/^.{80,}$/) })
    const messages = [
      { role: 'user' as const, content: 'hi' },
      { role: 'assistant' as const, content: message.content },
      { role: 'user' as const, content: 'and now?' },
    ]
    await expect(client().messages.create({ ...call, messages })).resolves.toMatchObject({ stop_reason: 'end_turn' })
  })

  test.each([
    ['error=429', 429, 'rate_limit_error'],
    ['error=529', 529, 'overloaded_error'],
    ['error=403', 403, 'permission_error'],
    ['error=insufficient_quota', 400, 'invalid_request_error'],
  ])('sandbox:%s becomes an APIError', async (word, status, type) => {
    const messages = [{ role: 'user' as const, content: `sandbox:${word}` }]
    const error = await client()
      .messages.create({ model: 'thinker', max_tokens: 5, messages })
      .catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(SdkError)
    expect(error).toMatchObject({
      status,
      error: { type: 'error', error: { type }, request_id: expect.stringMatching(/^req_/) },
    })
  })

  test('an error event and a truncated stream are not good ends', async () => {
    const run = (word: string) =>
      client()
        .messages.stream({
          model: 'thinker',
          max_tokens: 500,
          messages: [{ role: 'user', content: `sandbox:${word}` }],
        })
        .finalMessage()
    await expect(run('error-event')).rejects.toThrow('Overloaded')
    await expect(run('cut')).rejects.toThrow(/ended|message_stop/)
    await expect(run('cut=reset')).rejects.toThrow()
  })

  test('lists models', async () => {
    const ids: string[] = []
    for await (const model of client().models.list()) ids.push(model.id)
    expect(ids).toContain('thinker')
  })
})
