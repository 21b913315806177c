/**
 * The Anthropic SDKs with models whose upstreams speak other formats: create, streams, the tool runner and structured output
 * work as with native models.
 */

import Anthropic from '@anthropic-ai/sdk'
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod'
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod'
import AnthropicOlder from 'anthropic-sdk-0'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

/** One model for each of five dialects: GPT, DeepSeek, Gemini, Kimi and an open model on AWS. */
const MODELS = ['gpt-5.5', 'deepseek-v4-flash', 'gemini-3.5-flash', 'kimi-k2.6', 'svc/qwen3-vl-235b']
const PRICES_VND: Record<string, bigint> = { 'gpt-5.5': 2400n, 'deepseek-v4-flash': 1500n }
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Page>>endobj\n%%EOF').toString('base64')
const CREDIT = 1_000_000n * 1_000_000n

let running: TestGateway
let account: TestAccount
let client: Anthropic

beforeAll(async () => {
  running = await startTestGateway()
})
beforeEach(async () => {
  account = await running.account(CREDIT)
  client = new Anthropic({ baseURL: running.url, apiKey: account.apiKey, maxRetries: 0 })
})
afterAll(() => running.close())

const ask = (model: string, content: Anthropic.MessageParam['content']) => ({
  model,
  max_tokens: 1000,
  messages: [{ role: 'user' as const, content }],
})
const textOf = (message: Pick<Anthropic.Message, 'content'>) =>
  message.content.map(block => (block.type === 'text' ? block.text : '')).join('')

describe.each(MODELS)('%s', model => {
  test('a streamed answer has the same blocks as a non-streamed one, in both generations of the SDK', async () => {
    const older = new AnthropicOlder({ baseURL: running.url, apiKey: account.apiKey, maxRetries: 0 })
    const request = {
      ...ask(model, 'Tell me something about Huế.'),
      system: [{ type: 'text' as const, text: 'Be kind.', cache_control: { type: 'ephemeral' as const } }],
    }
    const whole = await client.messages.create(request)
    expect(whole).toMatchObject({
      type: 'message',
      role: 'assistant',
      model,
      stop_reason: 'end_turn',
      stop_sequence: null,
    })
    expect(textOf(whole)).toContain('Huế')
    const streams = [
      client.messages.stream(request),
      older.messages.stream(request) as unknown as ReturnType<Anthropic['messages']['stream']>,
    ]
    for (const stream of streams) {
      const streamed = await stream.finalMessage()
      expect(streamed.content).toEqual(whole.content)
      expect({ ...streamed.usage }).toMatchObject({ ...whole.usage })
      expect(streamed.stop_reason).toBe('end_turn')
    }
    const rows = await running.usage(account.accountId)
    expect(new Set(rows.map(row => row.cost)).size).toBe(1)
    expect(rows.map(row => row.streamed)).toEqual([false, true, true])
    const price = PRICES_VND[model]
    const tokens = BigInt(whole.usage.input_tokens + whole.usage.output_tokens)
    if (price !== undefined) expect(await running.balance(account.accountId)).toBe(CREDIT - 3n * tokens * price)
  })

  test.each([false, true])(
    'beta.messages.toolRunner runs two parallel tool calls to an answer (stream: %s)',
    async stream => {
      const cities: string[] = []
      const weather = betaZodTool({
        name: 'get_weather',
        description: 'Current weather of a city',
        inputSchema: z.object({ city: z.string(), days: z.number().int().min(1).max(5) }),
        run({ city }) {
          cities.push(city)
          return `${city}: 31 degrees`
        },
      })
      const runner = client.beta.messages.toolRunner({
        ...ask(model, 'In parallel, what is the weather in "Hanoi" and "Paris"?'),
        tools: [weather],
        stream,
      })
      const answer = await runner.runUntilDone()
      expect(cities).toHaveLength(2)
      expect(answer.stop_reason).toBe('end_turn')
      expect(textOf(answer as Anthropic.Message)).toContain('31 degrees')
      // The SDK's tool runner first asks to store the conversation at the provider, as a thread. The gateway refuses that for
      // converted calls, so the SDK falls back to sending the whole conversation each time.
      const rows = await running.usage(account.accountId)
      expect(rows.map(row => [row.status, row.cost > 0n])).toEqual([
        [400, false],
        [200, true],
        [200, true],
      ])
    },
  )
})

const CITY = z.object({ name: z.string(), population: z.number(), districts: z.array(z.string()) })

test.each(['gpt-5.5', 'gemini-3.5-flash'])(
  '%s: messages.parse returns an object that matches the schema',
  async model => {
    const message = await client.messages.parse({
      ...ask(model, 'Describe "Đà Nẵng".'),
      output_config: { format: zodOutputFormat(CITY) },
    })
    expect(CITY.parse(message.parsed_output)).toEqual(message.parsed_output)
    expect(message.content.filter(block => block.type === 'tool_use')).toEqual([])
  },
)

test.each(['deepseek-v4-flash', 'kimi-k2.6'])(
  '%s does not support schemas, but the answer is still JSON',
  async model => {
    const format = zodOutputFormat(CITY)
    const message = await client.messages.create({ ...ask(model, 'Describe "Đà Nẵng".'), output_config: { format } })
    expect(JSON.parse(textOf(message))).toBeTypeOf('object')
  },
)

test.each(['gpt-5.5', 'gemini-3.5-flash', 'kimi-k2.6', 'svc/qwen3-vl-235b'])(
  '%s sees images, in the prompt and in a tool result',
  async model => {
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png' as const, data: PNG },
    }
    const seen = await client.messages.create(ask(model, [image, { type: 'text', text: 'What is this?' }]))
    expect(textOf(seen)).toContain('image/png, 1×1')
    const shown = await client.messages.create({
      model,
      max_tokens: 1000,
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: [image] },
            { type: 'text', text: 'And?' },
          ],
        },
      ],
    })
    expect(shown.stop_reason).toBe('end_turn')
  },
)

test.each(['gpt-5.5', 'deepseek-v4-flash', 'gemini-3.5-flash'])('%s gets documents', async model => {
  const message = await client.messages.create(
    ask(model, [
      {
        type: 'document',
        title: 'notes',
        source: { type: 'text', media_type: 'text/plain', data: 'The password is nothing.' },
      },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PDF } },
      { type: 'text', text: 'Summarise.' },
    ]),
  )
  expect(message.stop_reason).toBe('end_turn')
})

test.each([
  ['deepseek-v4-flash', { thinking: { type: 'adaptive' as const } }],
  ['deepseek-v4-flash', { thinking: { type: 'enabled' as const, budget_tokens: 2000 } }],
  ['svc/qwen3-vl-235b', {}],
])(
  '%s: the model’s reasoning arrives as a thinking block and is sent back in the tool loop (%j)',
  async (model, thinking) => {
    const request = {
      model,
      max_tokens: 4000,
      ...thinking,
      tools: [
        {
          name: 'get_weather',
          description: 'Weather',
          input_schema: { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] },
        },
      ],
    }
    const question = { role: 'user' as const, content: 'What is the weather in "Hanoi"?' }
    const first = await client.messages.stream({ ...request, messages: [question] }).finalMessage()
    expect(first.stop_reason).toBe('tool_use')
    if (model.startsWith('deepseek'))
      expect(first.content[0]).toMatchObject({ type: 'thinking', thinking: expect.stringMatching(/.{10}/) })
    const call = first.content.find(block => block.type === 'tool_use')
    const second = await client.messages.create({
      ...request,
      messages: [
        question,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: '31 degrees' }] },
      ],
    })
    expect(textOf(second)).toContain('31 degrees')
  },
)

test('requests of coding agents to models of other vendors are answered: names, betas, system turns, long tools', async () => {
  const name = `mcp__${'a_very_long_server_name_'.repeat(3)}__get_weather`
  const stream = client.beta.messages.stream({
    model: 'gpt-5.5[1m]',
    max_tokens: 128_000,
    betas: ['claude-code-20250219', 'interleaved-thinking-2025-05-14', 'context-management-2025-06-27'],
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1; cch=123;' },
      { type: 'text', text: 'You are an agent.', cache_control: { type: 'ephemeral' } },
    ],
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
    metadata: { user_id: JSON.stringify({ device_id: 'd'.repeat(64), account_uuid: '', session_id: 's'.repeat(36) }) },
    tools: [
      {
        name,
        description: 'Weather of a city',
        input_schema: {
          type: 'object',
          properties: {
            city: { type: 'string' },
            any: {},
            most: { type: 'integer', maximum: Number.MAX_SAFE_INTEGER },
          },
          required: ['city'],
          propertyNames: { pattern: '^[a-z]+$' },
        },
        defer_loading: true,
        cache_control: { type: 'ephemeral' },
      },
    ],
    messages: [
      { role: 'user', content: 'Hello.' },
      { role: 'system', content: 'The date is today.' },
      {
        role: 'user',
        content: [{ type: 'text', text: 'What is the weather in "Huế"?', cache_control: { type: 'ephemeral' } }],
      },
    ],
  } as unknown as Parameters<typeof client.beta.messages.stream>[0])
  const message = await stream.finalMessage()
  expect(message.stop_reason).toBe('tool_use')
  expect(message.content.find(block => block.type === 'tool_use')).toMatchObject({ name, input: { city: 'Huế' } })
})

test.each([
  [429, Anthropic.RateLimitError],
  [529, Anthropic.InternalServerError],
  [400, Anthropic.BadRequestError],
])('a model’s error %i is an instance of the SDK’s own class', async (status, type) => {
  const call = client.messages.create(ask('gpt-5.5', `sandbox:error=${status} sandbox:retry-after=3`))
  const error = await call.catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(type)
  if (status === 429) expect((error as { headers: Headers }).headers.get('retry-after')).toBe('3')
})

test.each(['sandbox:error-event', 'sandbox:cut', 'sandbox:cut=reset'])(
  'a stream that breaks (%s) rejects in the SDK and is not charged',
  async word => {
    const stream = client.messages.stream(ask('gpt-5.5', `Say something. sandbox:tokens=200 ${word}`))
    await expect(stream.finalMessage()).rejects.toThrow(/api_error|overloaded_error|model/)
    await running.usage(account.accountId)
    expect(await running.balance(account.accountId)).toBe(CREDIT)
  },
)
