/** Tests two providers with unusual APIs, added by YAML alone, through the OpenAI SDK: chat completions and responses. */

import OpenAI from 'openai'
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Double } from './double.ts'
import { ANSWER, OBJECT, TOOL_INPUT, USED } from './double.ts'
import { MODELS, type NewProviders, startNewProviders } from './world.ts'

let world: NewProviders
let client: OpenAI

beforeAll(async () => {
  world = await startNewProviders()
})
beforeEach(async () => {
  await world.begin()
  client = new OpenAI({ baseURL: `${world.url}/v1`, apiKey: world.account.apiKey, maxRetries: 0 })
})
afterAll(() => world.close())

const QUESTION = { role: 'user', content: 'Thời tiết ở Hà Nội?' } as const
const TOOL = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    strict: true,
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
  },
} as const
const WEATHER = z.object({ city: z.string(), degrees: z.number() })

/** The reply's text without `<think>…</think>`, which the gateway removes only in conversions. */
const textOf = (message: { content: string | null }) => (message.content ?? '').replace(/^<think>.*<\/think>\n/, '')

describe.each(MODELS)('$model', ({ model, price, double }) => {
  const provider = (): Double => world[double]

  test.each([false, true])(
    'answers requests with everything that clients send by default (stream: %s)',
    async stream => {
      const body = {
        model,
        messages: [{ role: 'system' as const, content: 'Be brief.' }, QUESTION],
        max_completion_tokens: 100_000,
        temperature: 0.5,
        n: 1,
        user: 'person-1',
      }
      const completion = stream
        ? await client.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
        : await client.chat.completions.create(body)
      expect(completion).toMatchObject({ model, choices: [{ message: { content: ANSWER }, finish_reason: 'stop' }] })
      const row = await world.expectBilled(1, price)
      if (!stream) expect(completion.usage).toMatchObject({ prompt_tokens: row.input_tokens })
      expect(provider().refused).toEqual([])
    },
  )

  test('the usage that a client requests in a stream equals what is billed', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages: [QUESTION],
      stream: true,
      stream_options: { include_usage: true },
    })
    let usage: OpenAI.CompletionUsage | null = null
    for await (const chunk of stream) usage = chunk.usage ?? usage
    const row = await world.expectBilled(1, price)
    expect(usage).toMatchObject({
      prompt_tokens: row.input_tokens,
      prompt_tokens_details: { cached_tokens: USED.cached },
      completion_tokens: row.output_tokens,
      // Unlike `orchard`, the test provider `harbour` does not report how much of the output was reasoning.
      completion_tokens_details: { reasoning_tokens: double === 'orchard' ? USED.thought : 0 },
    })
  })

  test.each([false, true])('runs a tool loop to its answer while thinking (stream: %s)', async stream => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [QUESTION]
    const body = { model, messages, tools: [TOOL], reasoning_effort: 'high' as const, parallel_tool_calls: false }
    const ask = () =>
      stream
        ? client.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
        : client.chat.completions.create(body)
    const called = (await ask()).choices[0]!
    expect(called.finish_reason).toBe('tool_calls')
    const [call] = called.message.tool_calls ?? []
    expect(call).toMatchObject({ function: { name: 'get_weather', arguments: JSON.stringify(TOOL_INPUT) } })
    messages.push(called.message, { role: 'tool', tool_call_id: call!.id, content: '31 °C' })
    const answered = (await ask()).choices[0]!
    expect(textOf(answered.message)).toBe(ANSWER)
    await world.expectBilled(2, price)
    expect(provider().refused).toEqual([])
    expect(world.thinking(double)).toBe('high')
  })

  test.each(['low', 'none'] as const)('an effort of %s works beside a temperature', async effort => {
    await client.chat.completions.create({
      model,
      messages: [QUESTION],
      reasoning_effort: effort,
      temperature: 0.2,
      top_p: 0.9,
    })
    await world.expectBilled(1, price)
    expect(world.thinking(double)).toBe(effort === 'none' ? null : 'low')
    expect(provider().refused).toEqual([])
  })

  test('a tool can be forced', async () => {
    const completion = await client.chat.completions.create({
      model,
      messages: [QUESTION],
      tools: [TOOL],
      tool_choice: { type: 'function', function: { name: 'get_weather' } },
      reasoning_effort: 'high',
    })
    expect(completion.choices[0]?.message.tool_calls).toHaveLength(1)
    await world.expectBilled(1, price)
  })

  test.each([false, true])('returns an object that matches a schema (stream: %s)', async stream => {
    const body = { model, messages: [QUESTION], response_format: zodResponseFormat(WEATHER, 'weather') }
    const completion = stream
      ? await client.chat.completions.stream({ ...body, stream: true }).finalChatCompletion()
      : await client.chat.completions.parse(body)
    expect(completion.choices[0]?.message.parsed).toEqual(OBJECT)
    await world.expectBilled(1, price)
    expect(provider().refused).toEqual([])
  })

  test('more than one choice is refused before the provider is asked', async () => {
    const failed = client.chat.completions.create({ model, messages: [QUESTION], n: 2 })
    await expect(failed).rejects.toMatchObject({ status: 400, error: { message: expect.stringContaining('n: ') } })
    expect([provider().served, provider().refused]).toEqual([[], []])
    expect(await world.spent()).toBe(0n)
  })
})

test('an error of unusual shape reaches the client in the provider’s words, uncharged', async () => {
  const body = { model: 'orchard-large-2', messages: [QUESTION], colour: 'blue' }
  for (const stream of [false, true]) {
    const failed = client.chat.completions.create({ ...body, stream } as OpenAI.ChatCompletionCreateParamsNonStreaming)
    await expect(failed).rejects.toMatchObject({ status: 400, error: { message: 'colour: not supported' } })
  }
  expect(await world.spent()).toBe(0n)
})

test('an entry priced per call costs its price', async () => {
  for (const [model, vnd] of [
    ['req/orchard-large-2', 500n],
    ['req/harbour-1', 600n],
  ] as const) {
    const before = await world.spent()
    await client.chat.completions.create({ model, messages: [QUESTION] })
    expect((await world.spent()) - before).toBe(vnd * 1_000_000n)
  }
})

describe('responses', () => {
  const model = 'orchard-large-2'
  const WEATHER_TOOL = { ...TOOL.function, type: 'function' as const }

  test.each([false, true])(
    'answers requests with everything that clients send by default (stream: %s)',
    async stream => {
      const body = {
        model,
        input: QUESTION.content,
        instructions: 'Be brief.',
        max_output_tokens: 100_000,
        temperature: 0.5,
        store: false,
        reasoning: { effort: 'low' as const },
      }
      const response = stream
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body)
      expect(response).toMatchObject({ model, status: 'completed' })
      expect(response.output_text).toBe(ANSWER)
      const row = await world.expectBilled(1, 3000n)
      expect(response.usage).toMatchObject({
        input_tokens: row.input_tokens,
        input_tokens_details: { cached_tokens: USED.cached },
        output_tokens: row.output_tokens,
        output_tokens_details: { reasoning_tokens: USED.thought },
      })
      expect(world.orchard.refused).toEqual([])
      expect(world.thinking('orchard')).toBe('low')
    },
  )

  test.each([false, true])('runs a tool loop to its answer (stream: %s)', async stream => {
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: QUESTION.content }]
    const ask = () => {
      const body = { model, input, tools: [WEATHER_TOOL], parallel_tool_calls: false }
      return stream ? client.responses.stream(body).finalResponse() : client.responses.create(body)
    }
    const [call] = (await ask()).output
    if (call?.type !== 'function_call') throw new Error('no call')
    expect(JSON.parse(call.arguments)).toEqual(TOOL_INPUT)
    input.push(call, { type: 'function_call_output', call_id: call.call_id, output: '31 °C' })
    expect((await ask()).output_text).toBe(ANSWER)
    await world.expectBilled(2, 3000n)
    expect(world.orchard.refused).toEqual([])
  })

  test('returns an object that matches a schema', async () => {
    const text = { format: zodTextFormat(WEATHER, 'weather') }
    const response = await client.responses.parse({ model, input: QUESTION.content, text })
    expect(response.output_parsed).toEqual(OBJECT)
    await world.expectBilled(1, 3000n)
  })

  test('a model whose provider does not speak the format still answers', async () => {
    const response = await client.responses.create({ model: 'harbour-1', input: QUESTION.content })
    expect(response).toMatchObject({ model: 'harbour-1', status: 'completed', output_text: ANSWER })
    expect(world.harbour.served).toHaveLength(1)
    expect(world.harbour.refused).toEqual([])
  })
})
