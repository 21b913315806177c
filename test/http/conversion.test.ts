/** Converted calls through a running gateway: the reply is in the client's format, and its cost is exact to the µVND. */

import { describe, expect, test } from 'vitest'
import {
  CREDIT,
  chatText,
  eventsOf,
  messagesText,
  type Path,
  question,
  streamOf,
  useConversionWorld,
} from '../support/conversion.ts'
import { json } from '../support/scripted-upstream.ts'
import { delta as chunk } from '../translate/fixtures/chat-streams.ts'
import { close, delta, end, open, STOP, start } from '../translate/fixtures/messages-streams.ts'
import { strictCompletion, strictMessage } from '../translate/grammar.ts'

const world = useConversionWorld()

interface PricedCase {
  readonly name: string
  readonly path: Path
  readonly model: string
  readonly priceVnd: bigint
  /** The provider's non-streamed reply. */
  readonly whole: object
  readonly stream: string
  readonly clientUsage: object
  readonly row: object
}

const TEXT = 'Hà Nội 🏙'
const chatWhole = (usage: object, message: object = {}) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'upstream-name',
  choices: [{ index: 0, message: { role: 'assistant', content: TEXT, ...message }, finish_reason: 'stop' }],
  usage,
})
const chatStream = (usage: object, deltas: readonly object[] = []) =>
  chatText(
    chunk({ role: 'assistant', content: '' }),
    ...deltas,
    chunk({ content: TEXT }),
    chunk({}, 'stop'),
    { id: 'c', choices: [], usage },
    '[DONE]',
  )
const messageWhole = (usage: object, content: readonly object[] = [{ type: 'text', text: TEXT }]) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'upstream-name',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
})
const TEXT_BLOCK = { type: 'text', text: '' }
const messageStream = (first: object, last: object) =>
  messagesText(
    start(first),
    open(0, TEXT_BLOCK),
    { type: 'ping' },
    delta(0, { type: 'text_delta', text: TEXT }),
    close(0),
    end('end_turn', last),
    STOP,
  )

const OPENAI_USAGE = {
  prompt_tokens: 1200,
  completion_tokens: 77,
  total_tokens: 1277,
  prompt_tokens_details: { cached_tokens: 1024, cache_write_tokens: 100 },
  completion_tokens_details: { reasoning_tokens: 64 },
}
const MESSAGES_USAGE = {
  input_tokens: 76,
  cache_read_input_tokens: 1024,
  cache_creation_input_tokens: 100,
  output_tokens: 77,
  output_tokens_details: { thinking_tokens: 64 },
}

const CASES: readonly PricedCase[] = [
  {
    name: 'cached and written tokens of a chat provider',
    path: '/v1/messages',
    model: 'gpt-5.5',
    priceVnd: 2400n,
    whole: chatWhole(OPENAI_USAGE),
    stream: chatStream(OPENAI_USAGE),
    clientUsage: MESSAGES_USAGE,
    row: { input: 1200, cached: 1024, output: 77, reasoning: 64 },
  },
  {
    name: 'cached tokens under an unusual name',
    path: '/v1/messages',
    model: 'deepseek-v4-flash',
    priceVnd: 1500n,
    whole: chatWhole({
      prompt_tokens: 90,
      completion_tokens: 9,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 26,
    }),
    stream: chatStream({
      prompt_tokens: 90,
      completion_tokens: 9,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 26,
    }),
    clientUsage: { input_tokens: 26, cache_read_input_tokens: 64, cache_creation_input_tokens: 0, output_tokens: 9 },
    row: { input: 90, cached: 64, output: 9, reasoning: 0 },
  },
  {
    name: 'reasoning tokens only included in the total',
    path: '/v1/messages',
    model: 'gemini-3.5-flash',
    priceVnd: 1900n,
    whole: chatWhole({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 45 }),
    stream: chatStream({ prompt_tokens: 10, completion_tokens: 5, total_tokens: 45 }),
    clientUsage: { input_tokens: 10, output_tokens: 35 },
    row: { input: 10, cached: 0, output: 35 },
  },
  {
    name: 'cached and written tokens of a messages provider',
    path: '/v1/chat/completions',
    model: 'claude-opus-5',
    priceVnd: 6500n,
    whole: messageWhole(MESSAGES_USAGE),
    stream: messageStream(
      { ...MESSAGES_USAGE, output_tokens: 1 },
      { output_tokens: 77, output_tokens_details: { thinking_tokens: 64 } },
    ),
    clientUsage: OPENAI_USAGE,
    row: { input: 1200, cached: 1024, output: 77, reasoning: 64 },
  },
  {
    name: 'input tokens reported only at the end',
    path: '/v1/chat/completions',
    model: 'claude-opus-5',
    priceVnd: 6500n,
    whole: messageWhole({ input_tokens: 40, output_tokens: 8 }),
    stream: messageStream({ input_tokens: 0, output_tokens: 0 }, { input_tokens: 40, output_tokens: 8 }),
    clientUsage: { prompt_tokens: 40, completion_tokens: 8, total_tokens: 48 },
    row: { input: 40, cached: 0, output: 8 },
  },
]

describe.each(CASES)('$name ($model on $path)', ({ path, model, priceVnd, whole, stream, clientUsage, row }) => {
  const cost = (counts: { input?: number; output?: number }) =>
    BigInt((counts.input ?? 0) + (counts.output ?? 0)) * priceVnd

  test('costs the same and reports the same usage, streamed or not', async () => {
    world.answer(json(200, whole))
    const reply = await world.call(path, question(model))
    const body = (await reply.json()) as { model: string; usage: object }
    expect(reply.status).toBe(200)
    expect(body).toMatchObject({ model, usage: clientUsage })
    const wholeRow = await world.row()
    expect(wholeRow).toMatchObject({ ...row, entry: model, status: 200, estimated: false, streamed: false })
    expect(wholeRow.cost).toBe(cost(wholeRow))
    expect([wholeRow.charged, await world.spent()]).toEqual([wholeRow.cost, wholeRow.cost])
    expect(reply.headers.get('x-svc-input-tokens')).toBe(String(wholeRow.input))
    expect(reply.headers.get('x-svc-output-tokens')).toBe(String(wholeRow.output))

    world.account = await world.running.account(CREDIT)
    world.answer(streamOf(stream, 5))
    const response = await world.call(path, question(model, { stream: true, stream_options: { include_usage: true } }))
    expect(response.headers.get('x-svc-cost-vnd')).toBeNull()
    const text = await response.text()
    const read = path === '/v1/messages' ? strictMessage(text) : strictCompletion(text)
    expect(read.usage).toMatchObject(clientUsage)
    expect(JSON.stringify(read)).toContain(TEXT)
    const streamedRow = await world.row()
    expect(streamedRow).toMatchObject({ ...row, entry: model, status: 200, estimated: false, streamed: true })
    expect([streamedRow.cost, await world.spent()]).toEqual([wholeRow.cost, wholeRow.cost])
  })
})

test('without include_usage every chunk has choices, and the call is still billed by its usage', async () => {
  world.answer(streamOf(messageStream({ input_tokens: 10, output_tokens: 1 }, { output_tokens: 25 })))
  const text = await (await world.call('/v1/chat/completions', question('claude-opus-5', { stream: true }))).text()
  const chunks = eventsOf(text).map(event => event.data)
  expect(chunks.pop()).toBe('[DONE]')
  for (const one of chunks) expect(one).toMatchObject({ choices: [{ index: 0 }] })
  expect(text).not.toContain('"usage"')
  expect(await world.row()).toMatchObject({ input: 10, output: 25, cost: 35n * 6500n, estimated: false })
})

test('a chat provider is always asked for its usage', async () => {
  world.answer(streamOf(chatStream(OPENAI_USAGE)))
  await (await world.call('/v1/messages', question('gpt-5.5', { stream: true }))).text()
  expect(world.sent()).toMatchObject({ stream: true, stream_options: { include_usage: true } })
})

test('input without a reported count is billed by counting its text, not by the generous estimate of its hold', async () => {
  const prompt = 'one two three four five six seven eight nine ten '.repeat(100)
  const messages = [{ role: 'user', content: prompt }]
  world.answer(json(200, chatWhole({})))
  for (const [path, model] of [
    ['/v1/messages', 'gpt-5.5'],
    ['/v1/chat/completions', 'gpt-5.5'],
  ] as const) {
    world.account = await world.running.account(CREDIT)
    await world.call(path, question(model, { messages }))
    const { input } = await world.row()
    expect(input).toBeGreaterThanOrEqual(1000)
    expect(input).toBeLessThan(1020)
  }
})

test('message_start has an estimate of the input, message_delta the provider’s count', async () => {
  world.answer(streamOf(chatStream(OPENAI_USAGE)))
  const prompt = 'one two three four five six seven eight nine ten '.repeat(100)
  const body = question('gpt-5.5', { stream: true, messages: [{ role: 'user', content: prompt }] })
  const events = eventsOf(await (await world.call('/v1/messages', body)).text())
  const estimated = (events[0]!.data as { message: { usage: { input_tokens: number } } }).message.usage.input_tokens
  expect(estimated).toBeGreaterThan(700)
  expect(estimated).toBeLessThan(2000)
  expect(events.at(-2)?.data).toMatchObject({ type: 'message_delta', usage: MESSAGES_USAGE })
})

const LONG = 'Một hai ba bốn năm sáu bảy tám chín mười. '.repeat(20)
const UNCOUNTED = [
  [
    '/v1/messages',
    'gpt-5.5',
    chatWhole({}, { content: LONG }),
    chatText(chunk({ content: LONG }), chunk({}, 'stop'), '[DONE]'),
  ],
  [
    '/v1/chat/completions',
    'claude-opus-5',
    messageWhole({}, [{ type: 'text', text: LONG }]),
    messagesText(
      start({}),
      open(0, TEXT_BLOCK),
      delta(0, { type: 'text_delta', text: LONG }),
      close(0),
      end('end_turn', {}),
      STOP,
    ),
  ],
  [
    '/v1/chat/completions',
    'claude-opus-5',
    messageWhole({}, [{ type: 'text', text: LONG }]),
    // `message_start` has only preliminary counts, and `message_delta` has no usage.
    messagesText(
      start({ input_tokens: 0, output_tokens: 1 }),
      open(0, TEXT_BLOCK),
      delta(0, { type: 'text_delta', text: LONG }),
      close(0),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' } } as { type: string },
      STOP,
    ),
  ],
] as const

test.each(UNCOUNTED)(
  '%s: an answer with %s but no usage is counted here, marked as estimated, and reported as billed',
  async (path, model, whole, stream) => {
    world.answer(json(200, whole))
    const body = (await (await world.call(path, question(model))).json()) as { usage: Record<string, number> }
    const wholeRow = await world.row()
    expect(wholeRow).toMatchObject({ status: 200, estimated: true })
    expect(wholeRow.input).toBeGreaterThan(3)
    expect(wholeRow.output).toBeGreaterThan(150)
    const counts = (usage: Record<string, number>) => [
      usage.input_tokens ?? usage.prompt_tokens,
      usage.output_tokens ?? usage.completion_tokens,
    ]
    expect(counts(body.usage)).toEqual([wholeRow.input, wholeRow.output])

    world.account = await world.running.account(CREDIT)
    world.answer(streamOf(stream))
    const streamed = question(model, { stream: true, stream_options: { include_usage: true } })
    const text = await (await world.call(path, streamed)).text()
    const read = path === '/v1/messages' ? strictMessage(text) : strictCompletion(text)
    const row = await world.row()
    expect(row).toMatchObject({ status: 200, estimated: true, input: wholeRow.input, output: wholeRow.output })
    expect(counts(read.usage as Record<string, number>)).toEqual([row.input, row.output])
  },
)

test.each([
  ['/v1/messages', 'req/gpt-5.5', 'req/gpt-5.5', chatWhole(OPENAI_USAGE), chatStream(OPENAI_USAGE), 900n],
  [
    '/v1/chat/completions',
    'req/claude-opus-5',
    'req/claude-opus-5',
    messageWhole(MESSAGES_USAGE),
    messageStream(MESSAGES_USAGE, {}),
    1500n,
  ],
] as const)('%s: %s costs its fixed price, streamed or not', async (path, model, entry, whole, stream, priceVnd) => {
  world.answer(json(200, whole))
  const reply = await world.call(path, question(model))
  expect(reply.headers.get('x-svc-cost-vnd')).toBe(String(priceVnd))
  expect(await world.row()).toMatchObject({ entry, charged: priceVnd * 1_000_000n })
  world.account = await world.running.account(CREDIT)
  world.answer(streamOf(stream))
  await (await world.call(path, question(model, { stream: true }))).text()
  expect(await world.spent()).toBe(priceVnd * 1_000_000n)
})

test.each([
  ['/v1/messages', 'gpt-5.5[1m]', 'gpt-5.5', chatWhole(OPENAI_USAGE)],
  ['/v1/chat/completions', 'claude-opus-5-5[1m]', 'claude-opus-5', messageWhole(MESSAGES_USAGE)],
  ['/v1/chat/completions', 'opus', 'claude-opus-5', messageWhole(MESSAGES_USAGE)],
] as const)('%s: %s is served by %s', async (path, name, entry, whole) => {
  world.answer(json(200, whole))
  const reply = await world.call(path, question(name))
  expect(await reply.json()).toMatchObject({ model: entry })
  expect(reply.headers.get('x-svc-model')).toBe(entry)
  expect(await world.row()).toMatchObject({ entry, status: 200 })
})

test('an output cap above the model’s limit is lowered, and a missing one is filled in', async () => {
  world.answer(json(200, chatWhole(OPENAI_USAGE)))
  await world.call('/v1/messages', question('gemini-3.5-flash', { max_tokens: 128_000 }))
  expect(world.sent().max_tokens ?? world.sent().max_completion_tokens).toBe(65_536)
  world.answer(json(200, messageWhole(MESSAGES_USAGE)))
  await world.call('/v1/chat/completions', question('claude-opus-4-5', { max_tokens: undefined }))
  expect(world.sent().max_tokens).toBeGreaterThan(8_000)
  expect(world.sent().max_tokens).toBeLessThanOrEqual(64_000)
})
