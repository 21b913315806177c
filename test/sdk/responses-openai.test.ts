/** The OpenAI SDK's Responses client with models of every wire format: create, stream, parse, tool loops, images, errors. */

import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'

/** Models of every upstream wire format: messages, chat, responses with two kinds of reasoning, and both AWS formats. */
const MODELS = [
  'claude-opus-5',
  'gemini-3.5-flash',
  'qwen3.7-max',
  'gpt-5.5',
  'deepseek-v4-flash',
  'svc/claude-sonnet-5',
  'svc/gpt-oss-120b',
]
const SEES = ['claude-opus-5', 'gemini-3.5-flash', 'gpt-5.5', 'svc/claude-sonnet-5']
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC'
const CREDIT = 1_000_000n * 1_000_000n
const TRIP = z.object({ city: z.string(), days: z.number().int().min(1).max(9), stops: z.array(z.string()) })

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

type Item = OpenAI.Responses.ResponseInputItem

const WEATHER: OpenAI.Responses.Tool = {
  type: 'function',
  name: 'get_weather',
  description: 'Current weather of a city',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
  strict: true,
}
const QUESTION = 'In parallel, what is the weather in "Hanoi" and "Paris"?'

/** A non-streamed response, or the one that the SDK assembles from a stream. */
async function respond(
  body: OpenAI.Responses.ResponseCreateParamsNonStreaming,
  streamed: boolean,
): Promise<OpenAI.Responses.Response> {
  return streamed ? client.responses.stream({ ...body, stream: true }).finalResponse() : client.responses.create(body)
}

describe.each(MODELS)('%s', model => {
  test('a streamed answer equals the non-streamed one, and costs the same', async () => {
    const body = { model, instructions: 'Be kind.', input: 'Tell me something about Huế.' }
    const whole = await respond(body, false)
    expect(whole).toMatchObject({
      object: 'response',
      status: 'completed',
      model,
      error: null,
      instructions: 'Be kind.',
    })
    expect(whole.output_text).toContain('Huế')
    const streamed = await respond(body, true)
    expect([streamed.output_text, streamed.status, streamed.usage]).toEqual([
      whole.output_text,
      'completed',
      whole.usage,
    ])
    const rows = await running.usage(account.accountId)
    expect(rows.map(row => [row.model, row.status, row.streamed, row.estimated])).toEqual([
      [model, 200, false, false],
      [model, 200, true, false],
    ])
    expect(new Set(rows.map(row => row.cost)).size).toBe(1)
    const usage = whole.usage!
    expect([usage.input_tokens, usage.output_tokens]).toEqual([rows[0]!.input_tokens, rows[0]!.output_tokens])
    expect(usage.total_tokens).toBe(usage.input_tokens + usage.output_tokens)
    expect(usage.input_tokens_details.cached_tokens).toBe(0)
    expect(usage.output_tokens_details.reasoning_tokens).toBeLessThan(usage.output_tokens)
  })

  test.each([false, true])(
    'runs two parallel tool calls to an answer, sending reasoning back (stream: %s)',
    async streamed => {
      const body = {
        model,
        tools: [WEATHER],
        reasoning: { effort: 'high', summary: 'auto' },
        include: ['reasoning.encrypted_content'],
        store: false,
      } as const
      const input: Item[] = [{ role: 'user', content: QUESTION }]
      const first = await respond({ ...body, tools: [WEATHER], include: [...body.include], input }, streamed)
      const calls = first.output.filter(item => item.type === 'function_call')
      expect(calls.map(call => [call.name, Object.keys(JSON.parse(call.arguments))])).toEqual([
        ['get_weather', ['city']],
        ['get_weather', ['city']],
      ])
      const outputs = calls.map(({ call_id }, index): Item => {
        return { type: 'function_call_output', call_id, output: `${31 + index} degrees` }
      })
      input.push(...(first.output as Item[]), ...outputs)
      const second = await respond({ ...body, tools: [WEATHER], include: [...body.include], input }, streamed)
      expect(second.output_text).toMatch(/31 degrees[\s\S]*32 degrees/)
      expect((await running.usage(account.accountId)).map(row => row.status)).toEqual([200, 200])
    },
  )

  test.each([false, true])('parses an object that matches the schema (stream: %s)', async streamed => {
    const body = { model, input: 'Plan a trip to "Huế" for 3 days.', text: { format: zodTextFormat(TRIP, 'trip') } }
    const response = streamed ? await client.responses.stream(body).finalResponse() : await client.responses.parse(body)
    expect(response.output_parsed).toEqual({ city: 'Huế', days: 3, stops: [expect.any(String)] })
  })

  test('stops at the output cap, and says so', async () => {
    const body = { model, input: 'sandbox:tokens=400', max_output_tokens: 64 }
    for (const streamed of [false, true]) {
      const { status, incomplete_details, usage } = await respond(body, streamed)
      expect([status, incomplete_details, usage?.output_tokens]).toEqual([
        'incomplete',
        { reason: 'max_output_tokens' },
        64,
      ])
    }
  })

  test('a stream that the provider breaks ends with a failed response', async () => {
    const stream = await client.responses.create({
      model,
      input: 'sandbox:tokens=200 sandbox:error-event',
      stream: true,
    })
    const types: string[] = []
    let last: OpenAI.Responses.ResponseStreamEvent | null = null
    for await (const event of stream) {
      last = event
      types.push(event.type)
    }
    expect(types).toContain('response.output_text.delta')
    expect(last).toMatchObject({
      type: 'response.failed',
      response: {
        status: 'failed',
        error: { code: expect.stringMatching(/^server_/), message: expect.stringMatching(/\w/) },
      },
    })
    expect((await running.usage(account.accountId)).map(row => row.cost)).toEqual([0n])
  })

  test('an error before the first event is one of its own classes, with our message', async () => {
    for (const stream of [false, true]) {
      const failed = client.responses.create({ model, input: 'sandbox:error=429 sandbox:retry-after=3', stream })
      await expect(failed).rejects.toBeInstanceOf(OpenAI.RateLimitError)
    }
    const message = expect.stringContaining('input')
    await expect(client.responses.create({ model, input: [] })).rejects.toMatchObject({ status: 400, message })
  })
})

test.each(SEES)('shows a picture to %s, in a message and from a tool', async model => {
  const image: OpenAI.Responses.ResponseInputImage = {
    type: 'input_image',
    image_url: `data:image/png;base64,${PNG}`,
    detail: 'auto',
  }
  const content: OpenAI.Responses.ResponseInputContent[] = [{ type: 'input_text', text: 'What is this?' }, image]
  const seen = await client.responses.create({ model, input: [{ role: 'user', content }] })
  expect(seen.output_text).toContain('image/png, 1×1 pixels')
  const call = { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Huế"}' } as const
  const output = { type: 'function_call_output', call_id: 'call_1', output: [image] } as const
  const shown = await client.responses.create({
    model,
    store: false,
    tools: [WEATHER],
    input: [{ role: 'user', content: 'Look.' }, call, { ...output, output: [image] }],
  })
  expect(shown.output_text).toContain('get_weather returned')
})

test.each(MODELS)('calls a free-form tool, with %s', async model => {
  const tool: OpenAI.Responses.Tool = {
    type: 'custom',
    name: 'run_query',
    description: 'Runs a query',
    format: { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' },
  }
  const question = 'Use run_query with "select 1;\nselect 2"'
  for (const streamed of [false, true]) {
    const first = await respond({ model, tools: [tool], input: question, store: false }, streamed)
    const call = first.output.find(item => item.type === 'custom_tool_call')
    expect(call).toMatchObject({
      name: 'run_query',
      input: expect.stringMatching(/\w/),
      call_id: expect.stringMatching(/\w/),
    })
    const output: Item = { type: 'custom_tool_call_output', call_id: call!.call_id, output: '2 rows' }
    const items = first.output.filter(
      item => item.type !== 'reasoning' || item.encrypted_content || item.content,
    ) as Item[]
    const input: Item[] = [{ role: 'user', content: question }, ...items, output]
    expect((await respond({ model, tools: [tool], input, store: false }, streamed)).output_text).toContain('2 rows')
  }
})

test.each(MODELS)('accepts every form of tool choice, with %s', async model => {
  const other: OpenAI.Responses.Tool = {
    ...WEATHER,
    type: 'function',
    name: 'get_time',
    description: 'Time of a city',
    strict: false,
    parameters: {},
  }
  const ask = { model, tools: [WEATHER, other], input: 'Hello' }
  const called = async (tool_choice: OpenAI.Responses.ResponseCreateParams['tool_choice']) =>
    (await client.responses.create({ ...ask, tool_choice: tool_choice! })).output.flatMap(item =>
      item.type === 'function_call' ? [item.name] : [],
    )
  expect(await called('none')).toEqual([])
  expect(await called('auto')).toEqual([])
  const forced = await called('required')
  const named = await called({ type: 'function', name: 'get_time' })
  const allowed = await called({
    type: 'allowed_tools',
    mode: 'required',
    tools: [{ type: 'function', name: 'get_time' }],
  })
  // Not every model can be forced to call a tool, so a reply without a call is correct, too.
  expect([['get_weather'], []]).toContainEqual(forced)
  expect([['get_time'], []]).toContainEqual(named)
  expect([['get_time'], []]).toContainEqual(allowed)
})

test('requests that need stored responses are refused with an explanation', async () => {
  const model = 'claude-opus-5'
  const ask = (more: object) => client.responses.create({ model, input: 'Hello', ...more })
  await expect(ask({ previous_response_id: 'resp_1' })).rejects.toMatchObject({
    status: 400,
    code: 'previous_response_not_found',
    message: expect.stringMatching(/^400 previous_response_id.*Send the whole conversation in input/),
  })
  for (const more of [{ conversation: 'conv_1' }, { background: true }, { prompt: { id: 'pmpt_1' } }]) {
    await expect(ask(more)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(Object.keys(more)[0]!),
    })
  }
  const input = [
    { role: 'user', content: 'Hello' },
    { type: 'item_reference', id: 'msg_1' },
  ]
  await expect(ask({ input })).rejects.toMatchObject({ status: 400, message: expect.stringContaining('input[1]') })
  await expect(client.responses.retrieve('resp_1')).rejects.toMatchObject({ status: 404 })
})

test.each(['claude-opus-5', 'gpt-5.5', 'gemini-3.5-flash'])(
  'counts input tokens for %s, free of charge',
  async model => {
    const body = { model, instructions: 'Be kind.', input: 'Tell me something about Huế.', tools: [WEATHER] }
    const { object, input_tokens } = await client.responses.inputTokens.count(body)
    expect([object, input_tokens > 10]).toEqual(['response.input_tokens', true])
    expect(await running.usage(account.accountId)).toEqual([])
  },
)
