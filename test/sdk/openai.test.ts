/** The OpenAI SDK as a client of a running gateway, with only base URL and key changed. */

import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import { LASTING_TABLES } from '../support/tables.ts'

let running: TestGateway
let account: TestAccount
let client: OpenAI

beforeAll(async () => {
  running = await startTestGateway()
  account = await running.account(1_000_000n * 1_000_000n)
  client = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: account.apiKey, maxRetries: 0 })
})
afterAll(() => running.close())

const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'Current weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
      required: ['city', 'days'],
    },
  },
}

test('creates a completion and reports its cost', async () => {
  const { data, response } = await client.chat.completions
    .create({ model: 'gpt-5.5', messages: [{ role: 'user', content: 'Hello' }] })
    .withResponse()
  expect(data.object).toBe('chat.completion')
  expect(data.model).toBe('gpt-5.5')
  expect(data.choices[0]?.message.content).toBeTruthy()
  const tokens = (data.usage?.prompt_tokens ?? 0) + (data.usage?.completion_tokens ?? 0)
  expect(Number(response.headers.get('x-svc-cost-vnd')) * 1e6).toBeCloseTo(tokens * 2400, 6)
})

const MODELS = ['gpt-5.5', 'claude-opus-5', 'claude-haiku-4-5', 'deepseek-v4-flash', 'svc/claude-sonnet-5']

test.each(MODELS)('streams a completion of %s; without include_usage, every chunk has choices', async model => {
  const stream = await client.chat.completions.create({
    model,
    stream: true,
    messages: [{ role: 'user', content: 'Tell me something.' }],
  })
  let text = ''
  const finishReasons: string[] = []
  for await (const chunk of stream) {
    expect(chunk.choices.length).toBeGreaterThan(0)
    expect(chunk.model).toBe(model)
    text += chunk.choices[0]?.delta.content ?? ''
    if (chunk.choices[0]?.finish_reason) finishReasons.push(chunk.choices[0].finish_reason)
  }
  expect(text.length).toBeGreaterThan(10)
  expect(finishReasons).toEqual(['stop'])
})

test.each(MODELS)('gets the usage chunk of %s on request', async model => {
  const stream = client.chat.completions.stream({
    model,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: 'Hello' }],
  })
  const completion = await stream.finalChatCompletion()
  expect(completion.usage?.total_tokens).toBeGreaterThan(2)
})

test.each(MODELS)('runs a tool loop of %s with the runner', async model => {
  let cities: string[] = []
  const runner = client.chat.completions.runTools({
    model,
    messages: [{ role: 'user', content: 'What is the weather in Hanoi?' }],
    tools: [
      {
        ...WEATHER,
        function: {
          ...WEATHER.function,
          parse: JSON.parse,
          function: (input: { city: string }) => {
            cities = [...cities, input.city]
            return '31 degrees, sunny'
          },
        },
      },
    ],
  })
  expect(await runner.finalContent()).toContain('31 degrees')
  expect(cities).toHaveLength(1)
})

test('lists the models and retrieves one by its id with a slash', async () => {
  const ids: string[] = []
  for await (const model of client.models.list()) ids.push(model.id)
  expect(ids).toHaveLength(LASTING_TABLES.entries.length)
  expect(await client.models.retrieve('req/gpt-5.5')).toMatchObject({ id: 'req/gpt-5.5', object: 'model' })
})

test('raises errors of its own classes, with our message', async () => {
  const wrong = new OpenAI({ baseURL: `${running.url}/v1`, apiKey: 'sk-svc-wrong', maxRetries: 0 })
  await expect(
    wrong.chat.completions.create({ model: 'gpt-5.5', messages: [{ role: 'user', content: 'x' }] }),
  ).rejects.toMatchObject({ status: 401, message: expect.stringContaining('API key is wrong') })
  const misplaced = new OpenAI({ baseURL: running.url, apiKey: account.apiKey, maxRetries: 0 })
  await expect(
    misplaced.chat.completions.create({ model: 'gpt-5.5', messages: [{ role: 'user', content: 'x' }] }),
  ).rejects.toMatchObject({ status: 404, message: expect.stringContaining('/v1') })
})

test('with a base URL that lacks /v1, listing models fails instead of returning none', async () => {
  const misplaced = new OpenAI({ baseURL: running.url, apiKey: account.apiKey, maxRetries: 0 })
  const message = expect.stringContaining('http://gateway.test/v1/models')
  const listing = Array.fromAsync(misplaced.models.list())
  await expect(listing).rejects.toBeInstanceOf(OpenAI.NotFoundError)
  await expect(listing).rejects.toMatchObject({ status: 404, code: 'route_not_found', message })
  await expect(misplaced.models.retrieve('gpt-5.5')).rejects.toMatchObject({ status: 404, message })
})
