/** The OpenAI SDK with Claude models: create, streams, the tool runner and structured output work as with native models. */

import OpenAI from 'openai'
import { zodFunction, zodResponseFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

/** Models with adaptive thinking, with thinking budgets and with older rules for sampling parameters, and one hosted on AWS. */
const MODELS = ['claude-opus-5', 'claude-haiku-4-5', 'claude-opus-4-6', 'svc/claude-sonnet-5']
const PRICES_VND: Record<string, bigint> = { 'claude-opus-5': 6500n, 'claude-haiku-4-5': 6500n }
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Page>>endobj\n%%EOF').toString('base64')
const CREDIT = 1_000_000n * 1_000_000n

let running: TestGateway
let account: TestAccount
let client: OpenAI

beforeAll(async () => {
  running = await startTestGateway()
})
beforeEach(async () => {
  account = await running.account(CREDIT)
  client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: account.apiKey, maxRetries: 0 })
})
afterAll(() => running.close())

type Content = OpenAI.ChatCompletionUserMessageParam['content']
const ask = (model: string, content: Content) => ({ model, messages: [{ role: 'user' as const, content }] })
const messageOf = (completion: OpenAI.ChatCompletion) => {
  const message = completion.choices[0]?.message
  if (message === undefined) throw new Error('the completion has no choice')
  return message
}

describe.each(MODELS)('%s', model => {
  test('a streamed answer equals the non-streamed one, and costs the same', async () => {
    const request = {
      ...ask(model, 'Tell me something about Huế.'),
      messages: [
        { role: 'developer' as const, content: 'Be kind.' },
        ...ask(model, 'Tell me something about Huế.').messages,
      ],
    }
    const whole = await client.chat.completions.create(request)
    expect(whole).toMatchObject({
      object: 'chat.completion',
      model,
      choices: [{ finish_reason: 'stop', logprobs: null }],
    })
    expect(messageOf(whole).content).toContain('Huế')
    const stream = client.chat.completions.stream({ ...request, stream_options: { include_usage: true } })
    const streamed = await stream.finalChatCompletion()
    expect(messageOf(streamed).content).toBe(messageOf(whole).content)
    expect(streamed.usage).toEqual(whole.usage)
    const rows = await running.usage(account.accountId)
    expect(new Set(rows.map(row => row.cost)).size).toBe(1)
    const price = PRICES_VND[model]
    const tokens = BigInt(whole.usage?.total_tokens ?? 0)
    if (price !== undefined) expect(await running.balance(account.accountId)).toBe(CREDIT - 2n * tokens * price)
  })

  test.each([false, true])(
    'chat.completions.runTools runs two parallel tool calls to an answer (stream: %s)',
    async stream => {
      const cities: string[] = []
      const weather = zodFunction({
        name: 'get_weather',
        description: 'Current weather of a city',
        parameters: z.object({ city: z.string(), days: z.number().int() }),
        function({ city }) {
          cities.push(city)
          return `${city}: 31 degrees`
        },
      })
      const request = { ...ask(model, 'In parallel, what is the weather in "Hanoi" and "Paris"?'), tools: [weather] }
      const answer = stream
        ? await client.chat.completions.runTools({ ...request, stream }).finalContent()
        : await client.chat.completions.runTools({ ...request, stream }).finalContent()
      expect(cities).toHaveLength(2)
      expect(answer).toContain('31 degrees')
      expect((await running.usage(account.accountId)).map(row => row.status)).toEqual([200, 200])
    },
  )

  test('chat.completions.parse returns an object that matches the schema', async () => {
    const city = z.object({ name: z.string(), population: z.number(), districts: z.array(z.string()) })
    const completion = await client.chat.completions.parse({
      ...ask(model, 'Describe "Đà Nẵng".'),
      response_format: zodResponseFormat(city, 'city'),
    })
    const { parsed, tool_calls, refusal } = completion.choices[0]!.message
    expect(city.parse(parsed)).toEqual(parsed)
    expect([tool_calls ?? [], refusal]).toEqual([[], null])
    expect(completion.choices[0]?.finish_reason).toBe('stop')
    const stream = client.chat.completions.stream({
      ...ask(model, 'Describe "Đà Nẵng".'),
      response_format: zodResponseFormat(city, 'city'),
    })
    const streamed = await stream.finalChatCompletion()
    expect(streamed.choices[0]?.message.parsed).toEqual(parsed)
  })

  test('reasoning arrives as reasoning_content and is billed; a tool loop with it continues', async () => {
    const weather = {
      type: 'function' as const,
      function: {
        name: 'get_weather',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    }
    const request = {
      ...ask(model, 'What is the weather in "Huế"?'),
      reasoning_effort: 'high' as const,
      tools: [weather],
    }
    const first = await client.chat.completions.create(request)
    const message = messageOf(first) as OpenAI.ChatCompletionMessage & { reasoning_content?: string }
    expect(message.reasoning_content).toMatch(/.{10}/)
    expect(first.usage?.completion_tokens_details?.reasoning_tokens).toBeGreaterThan(0)
    expect(first.choices[0]?.finish_reason).toBe('tool_calls')
    const second = await client.chat.completions.create({
      ...request,
      messages: [
        ...request.messages,
        message,
        { role: 'tool', tool_call_id: message.tool_calls?.[0]?.id ?? '', content: '31 degrees' },
      ],
    })
    expect(messageOf(second).content).toContain('31 degrees')
  })

  test('images and documents reach the model', async () => {
    const completion = await client.chat.completions.create(
      ask(model, [
        { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        { type: 'file', file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${PDF}` } },
        { type: 'text', text: 'What is this?' },
      ]),
    )
    expect(messageOf(completion).content).toMatch(/image\/png, 1×1/)
    expect(messageOf(completion).content).toMatch(/document/i)
  })

  test.each(['image/jpeg', 'image/bmp', 'application/octet-stream'])(
    'a PNG that is called %s does, too',
    async type => {
      const url = `data:${type};base64,${PNG}`
      const completion = await client.chat.completions.create(
        ask(model, [
          { type: 'image_url', image_url: { url } },
          { type: 'text', text: 'What is this?' },
        ]),
      )
      expect(messageOf(completion).content).toMatch(/image\/png, 1×1/)
    },
  )
})

test.each(['user', 'safety_identifier'])(
  'an email address as %s, which chat clients send, is no error',
  async field => {
    for (const model of MODELS)
      await client.chat.completions.create({ ...ask(model, 'Hello'), [field]: 'an@example.com' })
    await client.responses.create({ model: MODELS[0]!, input: 'Hello', [field]: 'an@example.com' })
  },
)

test('a tool that is declared twice is declared once, as Claude requires', async () => {
  const tools = ['old', 'new'].map(description => {
    return { type: 'function' as const, function: { name: 'look', description, parameters: {} } }
  })
  await client.chat.completions.create({ ...ask('claude-opus-5', 'Hello'), tools })
})

test('other fields of chat clients are accepted: penalties, seeds, empty tools, null contents, several tool turns', async () => {
  const call = (id: string) => ({ id, type: 'function' as const, function: { name: 'f', arguments: '' } })
  const completion = await client.chat.completions.create({
    model: 'claude-opus-5',
    temperature: 1.7,
    top_p: 0.9,
    presence_penalty: 1,
    frequency_penalty: 1,
    seed: 7,
    logprobs: true,
    user: 'someone',
    store: true,
    metadata: { a: 'b' },
    verbosity: 'low',
    stop: ['END', ' '],
    parallel_tool_calls: false,
    tools: [{ type: 'function', function: { name: 'f' } }],
    messages: [
      { role: 'system', content: 'First.' },
      { role: 'user', content: 'Call f.' },
      { role: 'assistant', content: null, tool_calls: [call('functions.f:0'), call('call_2')] },
      { role: 'tool', tool_call_id: 'functions.f:0', content: 'one' },
      { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'two' }] },
      { role: 'system', content: 'Second.' },
      { role: 'user', content: 'And now? sandbox:text' },
    ],
  })
  expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop', logprobs: null })
})

test.each([
  [429, OpenAI.RateLimitError],
  [529, OpenAI.InternalServerError],
  [400, OpenAI.BadRequestError],
])('a model’s error %i is an instance of the SDK’s own class', async (status, type) => {
  const call = client.chat.completions.create(ask('claude-opus-5', `sandbox:error=${status} sandbox:retry-after=3`))
  const error = await call.catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(type)
  if (status === 429) expect((error as { headers: Headers }).headers.get('retry-after')).toBe('3')
})

test.each(['sandbox:error-event', 'sandbox:cut', 'sandbox:cut=reset'])(
  'a stream that breaks (%s) rejects in the SDK and is not charged',
  async word => {
    const stream = client.chat.completions.stream(ask('claude-opus-5', `Say something. sandbox:tokens=200 ${word}`))
    await expect(stream.finalChatCompletion()).rejects.toBeInstanceOf(OpenAI.APIError)
    await running.usage(account.accountId)
    expect(await running.balance(account.accountId)).toBe(CREDIT)
  },
)
