/** How chat streams end: with usage only for clients that request it, and with the end markers that providers omit. */

import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import {
  CREDIT,
  chatText,
  eventsOf,
  messagesText,
  question,
  streamOf,
  useConversionWorld,
} from '../support/conversion.ts'
import { json } from '../support/scripted-upstream.ts'
import { readChatStream, readMessagesStream } from '../translate/sdk.ts'

const world = useConversionWorld()

const CHAT = '/v1/chat/completions'
const MESSAGES = '/v1/messages'
const GPT = 'gpt-5.5'
const INCLUDE = { stream: true, stream_options: { include_usage: true } }

const CHUNK = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'upstream-name' }
const chunk = (delta: object, finish_reason: string | null = null) => ({
  ...CHUNK,
  choices: [{ index: 0, delta, finish_reason }],
})
const usageChunk = (prompt_tokens: number, completion_tokens: number) => ({
  ...CHUNK,
  choices: [],
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
})
const FILTERS = { ...CHUNK, id: '', model: '', choices: [], prompt_filter_results: [{ prompt_index: 0 }] }
const SAID = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hà Nội' })]

async function chunksOf(body: object, ...sent: readonly (object | string)[]): Promise<JsonObject[]> {
  world.answer(streamOf(chatText(...sent)))
  const response = await world.call(CHAT, body)
  expect(response.status).toBe(200)
  const events = eventsOf(await response.text())
  expect(events.at(-1)?.data).toBe('[DONE]')
  return events.slice(0, -1).map(({ data }) => data as JsonObject)
}

const usageOf = ({ input, output }: { input: number; output: number }) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
})

// GPT's provider accepts `stream_options`, GLM's does not.
describe.each([GPT, 'glm-5.2'])('a chat stream of %s', model => {
  test('hides chunks without choices from a client that did not request usage', async () => {
    const chunks = await chunksOf(
      question(model, { stream: true }),
      FILTERS,
      ...SAID,
      chunk({}, 'stop'),
      usageChunk(22, 5),
      '[DONE]',
    )
    expect(chunks.map(({ choices }) => (choices as unknown[]).length)).toEqual([1, 1, 1])
    expect(JSON.stringify(chunks)).not.toContain('prompt_tokens')
    expect(await world.row()).toMatchObject({ input: 22, output: 5 })
  })

  test('shows such chunks to a client that requested usage, with the provider’s own figures, once', async () => {
    const chunks = await chunksOf(
      question(model, INCLUDE),
      FILTERS,
      ...SAID,
      chunk({}, 'stop'),
      usageChunk(22, 5),
      '[DONE]',
    )
    expect(chunks.map(({ choices }) => (choices as unknown[]).length)).toEqual([0, 1, 1, 1, 0])
    expect(chunks.at(-1)).toEqual({ ...usageChunk(22, 5), model })
  })

  test('ends with the billed figures if the provider reported none', async () => {
    const chunks = await chunksOf(question(model, INCLUDE), ...SAID, chunk({}, 'stop'), '[DONE]')
    const row = await world.row()
    expect(row).toMatchObject({ estimated: true, status: 200 })
    expect(chunks.at(-1)).toMatchObject({
      id: 'c1',
      object: 'chat.completion.chunk',
      model,
      choices: [],
      usage: usageOf(row),
    })
    expect(row.output).toBeGreaterThan(0)
    expect(chunks.length).toBe(4)
  })

  test('ends with the billed figures rather than the provider’s zeros', async () => {
    const chunks = await chunksOf(question(model, INCLUDE), ...SAID, chunk({}, 'stop'), usageChunk(0, 0), '[DONE]')
    const row = await world.row()
    expect(row.estimated).toBe(true)
    expect(chunks.filter(({ usage }) => usage)).toMatchObject([{ choices: [], usage: usageOf(row) }])
  })

  test('bills usage that a choice reports, as Kimi’s does, and shows it to a client that requested it', async () => {
    const { usage } = usageChunk(22, 5)
    const last = { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] }
    const chunks = await chunksOf(question(model, INCLUDE), ...SAID, last, '[DONE]')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage })
    expect(await world.row()).toMatchObject({ input: 22, output: 5, estimated: false })
  })

  test('does not repeat figures that came with a choice', async () => {
    const last = { ...chunk({}, 'stop'), usage: usageChunk(22, 5).usage }
    const chunks = await chunksOf(question(model, INCLUDE), ...SAID, last, '[DONE]')
    expect(chunks.filter(({ usage }) => usage)).toMatchObject([{ choices: [{ finish_reason: 'stop' }] }])
    expect(await world.row()).toMatchObject({ input: 22, output: 5, estimated: false })
  })
})

test('a chat stream of several choices is counted if each reports usage, which may be its own or that of all', async () => {
  const { usage } = usageChunk(22, 500)
  const ends = [0, 1].map(index => ({ ...CHUNK, choices: [{ index, delta: {}, finish_reason: 'stop', usage }] }))
  await chunksOf(question(GPT, { ...INCLUDE, n: 2 }), ...SAID, ...ends, '[DONE]')
  expect(await world.row()).toMatchObject({ estimated: true })
})

describe('a chat stream of several choices', () => {
  const of = (index: number, delta: object, finish_reason: string | null = null) => ({
    ...CHUNK,
    choices: [{ index, delta, finish_reason }],
  })
  const begun = [of(0, { content: 'Hà' }), of(1, { content: 'Nội' }), of(0, {}, 'stop')]
  const read = async (...sent: readonly object[]) => {
    world.answer(streamOf(chatText(...sent)))
    return (await world.call(CHAT, question(GPT, { stream: true, n: 2 }))).text()
  }

  test('that breaks off before all of them have ended ends in an error that costs nothing', async () => {
    const text = await read(...begun)
    expect(text).toContain('"error":{')
    expect(text).not.toContain('[DONE]')
    expect(await world.row()).toMatchObject({ status: 502, cost: 0n })
  })

  test('is complete once all that came have ended', async () => {
    expect(await read(...begun, of(1, {}, 'length'), of(0, { content: '' }))).toContain('[DONE]')
    expect(await world.row()).toMatchObject({ status: 200 })
    expect(await read(of(1, { content: 'Hà' }), of(1, {}, 'stop'))).toContain('[DONE]')
  })
})

test('a converted chat stream ends with the billed figures if the provider reported none', async () => {
  const start = { type: 'message_start', message: { id: 'm', content: [] } }
  const block = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hà Nội' } }
  const end = { type: 'message_delta', delta: { stop_reason: 'end_turn' } }
  world.answer(streamOf(messagesText(start, block, delta, end, { type: 'message_stop' })))
  const text = await (await world.call(CHAT, question('claude-opus-5', INCLUDE))).text()
  const row = await world.row()
  expect(row.estimated).toBe(true)
  expect(eventsOf(text).at(-2)?.data).toMatchObject({ choices: [], usage: usageOf(row) })
})

describe.each([
  ['a free-form tool', (text: string) => ({ tool_calls: [{ index: 0, custom: { input: text } }] })],
  ['a legacy function', (text: string) => ({ function_call: { arguments: text } })],
])('what the model writes for %s', (_name, delta) => {
  const LINE = ' lorem ipsum dolor sit amet'.repeat(40)
  const deltas = [LINE, LINE, LINE].map(text => chunk(delta(text)))

  test('is counted if the provider reports no usage, streamed or not', async () => {
    const { function_call, tool_calls } = delta(LINE.repeat(3)) as { function_call?: object; tool_calls?: object[] }
    const message = { role: 'assistant', content: null, ...(tool_calls ? { tool_calls } : { function_call }) }
    world.answer(json(200, { ...CHUNK, object: 'chat.completion', choices: [{ index: 0, message }] }))
    expect((await world.call(CHAT, question(GPT))).status).toBe(200)
    const whole = await world.row()
    expect(whole.output).toBeGreaterThan(500)
    world.account = await world.running.account(CREDIT)
    await chunksOf(question(GPT, INCLUDE), ...deltas, chunk({}, 'stop'), '[DONE]')
    expect(await world.row()).toMatchObject({ estimated: true, output: whole.output })
  })

  test('uses up the wallet, which then ends the stream', async () => {
    const credit = 2_000n * 2_400n
    world.account = await world.running.account(credit)
    const long = Array.from({ length: 200 }, () => chunk(delta(LINE)))
    world.answer(streamOf(chatText(...long, chunk({}, 'stop'), '[DONE]')))
    const text = await (await world.call(CHAT, question(GPT, { ...INCLUDE, max_tokens: 128_000 }))).text()
    expect(text).toContain('insufficient_balance')
    expect(await world.row()).toMatchObject({ status: 402, charged: credit, estimated: true })
  })
})

describe('a stream whose provider forgets the finish reason', () => {
  const CALL = { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const ENDINGS = [
    ['text', { content: 'Hà Nội' }, 'stop', 'end_turn'],
    ['a call', { tool_calls: [CALL] }, 'tool_calls', 'tool_use'],
  ] as const
  const sent = (delta: object) => [chunk({ role: 'assistant', content: '' }), chunk(delta), usageChunk(22, 5), '[DONE]']

  test.each(ENDINGS)(
    'after %s: a chat client gets a complete reply and pays what was reported',
    async (_name, delta, reason) => {
      world.answer(streamOf(chatText(...sent(delta))))
      const text = await (await world.call(CHAT, question(GPT, INCLUDE))).text()
      expect(await readChatStream(text)).toMatchObject({
        choices: [{ finish_reason: reason }],
        usage: { prompt_tokens: 22, completion_tokens: 5 },
      })
      expect(await world.row()).toMatchObject({ status: 200, input: 22, output: 5, estimated: false })
    },
  )

  test.each(ENDINGS)(
    'after %s: a messages client gets a complete reply, too',
    async (_name, delta, _reason, stop_reason) => {
      world.answer(streamOf(chatText(...sent(delta))))
      const text = await (await world.call(MESSAGES, question(GPT, { stream: true }))).text()
      expect(await readMessagesStream(text)).toMatchObject({
        stop_reason,
        usage: { input_tokens: 22, output_tokens: 5 },
      })
      expect(await world.row()).toMatchObject({ status: 200, input: 22, output: 5, estimated: false })
    },
  )

  test.each([CHAT, MESSAGES] as const)('and that has no output ends in an error that costs nothing, %s', async path => {
    world.answer(streamOf(chatText(chunk({ role: 'assistant', content: '' }), usageChunk(22, 0), '[DONE]')))
    const text = await (await world.call(path, question(GPT, { stream: true }))).text()
    expect(text).toContain('"error":{')
    expect(text).not.toMatch(/\[DONE\]|message_stop/)
    expect(await world.row()).toMatchObject({ status: 502, cost: 0n })
  })
})

describe('a stream that ends without a finish reason in the middle of a call', () => {
  const begun = (name: string, written: string) => ({
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name, arguments: written },
  })
  const more = (written: string) => chunk({ tool_calls: [{ index: 0, function: { arguments: written } }] })
  const CALLS: readonly (readonly [string, readonly object[]])[] = [
    ['before its arguments', [chunk({ tool_calls: [begun('remove', '')] })]],
    ['within its arguments', [chunk({ tool_calls: [begun('remove', '{"path":"/')] })]],
    [
      'within arguments of many pieces',
      [chunk({ tool_calls: [begun('remove', '')] }), ...['{"', 'path', '":', '"/', 'tmp', '/', 'a'].map(more)],
    ],
    [
      'within the first of two calls',
      [
        chunk({ tool_calls: [begun('remove', '{"path":"/')] }),
        chunk({ tool_calls: [{ ...begun('list', '{}'), index: 1, id: 'call_2' }] }),
      ],
    ],
    ['of a legacy function', [chunk({ function_call: { name: 'remove', arguments: '{"path":"/' } })]],
  ]

  test.each(CALLS.flatMap(([name, sent]) => ([CHAT, MESSAGES] as const).map(path => [name, path, sent] as const)))(
    '%s, ends in an error that costs nothing, %s',
    async (_name, path, sent) => {
      world.answer(streamOf(chatText(chunk({ role: 'assistant', content: '' }), ...sent, usageChunk(22, 5), '[DONE]')))
      const text = await (await world.call(path, question(GPT, { stream: true }))).text()
      expect(text).toContain('"error":{')
      expect(text).not.toMatch(/\[DONE\]|message_stop|"finish_reason":"/)
      expect(await world.row()).toMatchObject({ status: 502, cost: 0n })
    },
  )

  test.each([CHAT, MESSAGES] as const)('but is complete once the arguments are, %s', async path => {
    const written = ['{"', 'path', '":', '"\\"}', '"', '}'].map(more)
    const second = chunk({ tool_calls: [{ ...begun('f', ''), id: 'call_2' }] })
    const sent = [chunk({ tool_calls: [begun('f', '')] }), ...written, second, ...written]
    world.answer(streamOf(chatText(...sent, usageChunk(22, 5), '[DONE]')))
    const text = await (await world.call(path, question(GPT, { stream: true }))).text()
    expect(text).toMatch(path === CHAT ? /"finish_reason":"tool_calls"/ : /"stop_reason":"tool_use"/)
    expect(await world.row()).toMatchObject({ status: 200, input: 22, output: 5, estimated: false })
  })
})

test.each([
  [CHAT, { choices: [{ finish_reason: 'content_filter' }] }],
  [MESSAGES, { type: 'message', content: [], stop_reason: 'refusal', usage: { input_tokens: 22, output_tokens: 0 } }],
] as const)(
  'a reply that the provider’s content filter removed is a refusal, and charged, %s',
  async (path, expected) => {
    const filtered = { index: 0, finish_reason: 'content_filter', content_filter_results: { hate: { filtered: true } } }
    const usage = { prompt_tokens: 22, completion_tokens: 0, total_tokens: 22 }
    world.answer(json(200, { ...CHUNK, object: 'chat.completion', choices: [filtered], usage }))
    const response = await world.call(path, question(GPT))
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject(expected)
    expect(await world.row()).toMatchObject({ status: 200, input: 22, output: 0 })
  },
)

test('reasoning parts in a chat history are left out', async () => {
  world.answer(json(200, { type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn', usage: {} }))
  const thought = { type: 'thinking', thinking: 'secret thought', signature: 'sig' }
  const response = await world.call(CHAT, {
    model: 'claude-opus-5',
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: [thought, { type: 'text', text: 'Hà Nội' }] },
      { role: 'user', content: 'y' },
      { role: 'assistant', content: [thought, { type: 'redacted_thinking', data: 'd' }] },
      { role: 'user', content: 'z' },
    ],
  })
  expect(response.status).toBe(200)
  const sent = world.sent()
  expect(JSON.stringify(sent)).not.toMatch(/thought|redacted/)
  expect(sent.messages).toEqual([
    { role: 'user', content: 'x' },
    { role: 'assistant', content: 'Hà Nội' },
    { role: 'user', content: 'y' },
    { role: 'user', content: 'z' },
  ])
})

test.each([
  ['memory_20250818', /run by your client.*declare it as a custom tool/],
  ['web_search_20260318', /run by the model's provider/],
])('a tool %s that the model does not know is refused with an accurate message', async (type, words) => {
  const response = await world.call(MESSAGES, question(GPT, { tools: [{ type, name: 'memory' }] }))
  expect(response.status).toBe(400)
  expect(((await response.json()) as { error: { message: string } }).error.message).toMatch(words)
})
