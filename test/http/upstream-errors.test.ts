/** Errors under status 200, in every vendor's shape: as the first event, a later event or a non-streamed reply, on every path. */

import { describe, expect, test } from 'vitest'
import { chatText, eventsOf, messagesText, question, streamOf, useConversionWorld } from '../support/conversion.ts'
import { end, head, json, write } from '../support/scripted-upstream.ts'

const world = useConversionWorld()

/** Errors as providers write them. Clients must never see the texts in them. */
const SHAPES: readonly (readonly [string, object])[] = [
  ['an error object', { error: { message: 'secret text', type: 'server_error', code: 'x' } }],
  ['an error of type error', { type: 'error', error: { type: 'api_error', message: 'secret text' } }],
  ['a flat error of type error', { type: 'error', message: 'secret text' }],
  ['an error as text', { error: 'secret text' }],
  ['object: error', { object: 'error', message: 'secret text', type: 'InternalServerError', code: 500 }],
  ['a failed base_resp', { base_resp: { status_code: 1027, status_msg: 'secret text' } }],
  [
    'a failed base_resp without choices',
    { choices: null, base_resp: { status_code: 1000, status_msg: 'secret text' } },
  ],
  ['a detail', { detail: 'secret text' }],
  ['a list of details', { detail: [{ loc: ['body'], msg: 'secret text' }] }],
  ['a message', { message: 'secret text' }],
  ['a message with a capital', { Message: 'secret text' }],
  ['a list of errors', { errors: [{ message: 'secret text' }] }],
  ['a code with a message', { code: 'InternalError', message: 'secret text', request_id: 'r' }],
  ['a code with a msg', { code: 500, msg: 'secret text', success: false }],
  ['a named type', { type: 'ServiceUnavailableException', message: 'secret text' }],
  ['an error in an array', [{ error: { code: 500, message: 'secret text', status: 'INTERNAL' } }]],
]

const CHUNK = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'upstream-name' }
const delta = (text: string, finish: string | null = null) => ({
  ...CHUNK,
  choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: finish }],
})
const CHAT_USAGE = { prompt_tokens: 22, completion_tokens: 5, total_tokens: 27 }
const MESSAGES_BEGIN = [
  {
    type: 'message_start',
    message: { id: 'm', model: 'upstream-name', content: [], usage: { input_tokens: 22, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hà' } },
]
const MESSAGES_FINISH = [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
  { type: 'message_stop' },
]
const RESPONSE = { id: 'resp_1', object: 'response', created_at: 5, model: 'upstream-name', output: [] }
const RESPONSES_BEGIN = [
  { type: 'response.created', sequence_number: 0, response: { ...RESPONSE, status: 'in_progress' } },
  { type: 'response.output_text.delta', sequence_number: 1, delta: 'Hà' },
]
const RESPONSES_FINISH = [
  { type: 'response.completed', sequence_number: 3, response: { ...RESPONSE, status: 'completed', usage: {} } },
]

interface Route {
  readonly path: '/v1/messages' | '/v1/chat/completions' | '/v1/responses'
  readonly model: string
  /** Writes the provider's stream with an error in it. */
  readonly stream: (error: object) => string
  /** Checks the last event of the client's stream. */
  readonly ending: (last: { name: string; data: Record<string, unknown> }) => void
}

const sse = (event: object) => `data: ${JSON.stringify(event)}\n\n`
const chatStream = (error: object) =>
  chatText(delta('Hà'), error, delta(' Nội', 'stop'), { ...CHUNK, choices: [], usage: CHAT_USAGE }, '[DONE]')
const messagesStream = (error: object) =>
  messagesText(...MESSAGES_BEGIN) + sse(error) + messagesText(...MESSAGES_FINISH)
const responsesStream = (error: object) =>
  messagesText(...RESPONSES_BEGIN) + sse(error) + messagesText(...RESPONSES_FINISH)

const endsMessages: Route['ending'] = ({ name, data }) => {
  expect(name).toBe('error')
  expect(data).toMatchObject({
    type: 'error',
    error: { type: expect.stringMatching(/^(api_error|overloaded_error)$/) },
  })
}
const endsChat: Route['ending'] = ({ data }) => {
  expect(data).toMatchObject({ error: { type: expect.stringMatching(/^(api_error|service_unavailable)$/) } })
}

const ROUTES: Readonly<Record<string, Route>> = {
  'messages to messages': {
    path: '/v1/messages',
    model: 'claude-opus-5',
    stream: messagesStream,
    ending: endsMessages,
  },
  'messages to chat': {
    path: '/v1/chat/completions',
    model: 'claude-opus-5',
    stream: messagesStream,
    ending: endsChat,
  },
  'chat to chat': { path: '/v1/chat/completions', model: 'gpt-5.5', stream: chatStream, ending: endsChat },
  'chat to messages': { path: '/v1/messages', model: 'gpt-5.5', stream: chatStream, ending: endsMessages },
  'responses to responses': {
    path: '/v1/responses',
    model: 'gpt-5.5',
    stream: responsesStream,
    ending: ({ name, data }) => {
      expect(name).toBe('response.failed')
      expect(data).toMatchObject({
        response: { status: 'failed', error: { code: expect.stringMatching(/^server_(error|is_overloaded)$/) } },
      })
    },
  },
}

function call({ path, model }: Route, extra: object = {}): Promise<Response> {
  const body = path === '/v1/responses' ? { model, input: 'x', ...extra } : question(model, extra)
  return world.call(path as '/v1/messages', body)
}

async function expectNotCharged(status: number): Promise<void> {
  expect(await world.row()).toMatchObject({ status, cost: 0n, charged: 0n, input: 0, output: 0 })
  expect(await world.spent()).toBe(0n)
}

describe.each(Object.entries(ROUTES))('%s', (_name, route) => {
  test.each(SHAPES)('a stream with %s ends in one error event and costs nothing', async (_shape, error) => {
    world.answer(streamOf(route.stream(error)))
    const response = await call(route, { stream: true })
    expect(response.status).toBe(200)
    const text = await response.text()
    expect(text).not.toMatch(
      /secret text|Nội|\[DONE\]|message_stop|response\.completed|"finish_reason":"|stop_reason":"/,
    )
    const events = eventsOf(text)
    route.ending(events.at(-1) as Parameters<Route['ending']>[0])
    expect(events.filter(({ data }) => JSON.stringify(data).includes('error":{')).length).toBe(1)
    const { status } = await world.row()
    expect(status).toBeGreaterThanOrEqual(500)
    await expectNotCharged(status)
  })

  test.each(SHAPES)('%s as the first event is an HTTP error that costs nothing', async (_shape, error) => {
    world.answer(streamOf(sse(error) + sse('[DONE]' as unknown as object)))
    const response = await call(route, { stream: true })
    expect(response.status).toBeGreaterThanOrEqual(500)
    expect(await response.text()).not.toContain('secret text')
    await expectNotCharged(response.status)
  })

  test.each(SHAPES)('%s as a non-streamed reply is an HTTP error that costs nothing', async (_shape, error) => {
    world.answer(json(200, error))
    const response = await call(route)
    expect(response.status).toBeGreaterThanOrEqual(500)
    expect(await response.text()).not.toContain('secret text')
    await expectNotCharged(response.status)
  })
})

const FINISHES = ['error', 'network_error', 'insufficient_system_resource', 'abort']
const CHAT_ROUTES = ['chat to chat', 'chat to messages'].map(name => [name, ROUTES[name] as Route] as const)

describe.each(CHAT_ROUTES)('%s', (_name, route) => {
  test.each(FINISHES)('a stream that finishes with %s ends in one error event and costs nothing', async reason => {
    world.answer(
      streamOf(chatText(delta('Hà'), delta('', reason), { ...CHUNK, choices: [], usage: CHAT_USAGE }, '[DONE]')),
    )
    const text = await (await call(route, { stream: true })).text()
    expect(text).not.toMatch(/\[DONE\]|message_stop|"finish_reason":"/)
    route.ending(eventsOf(text).at(-1) as Parameters<Route['ending']>[0])
    await expectNotCharged(502)
  })

  test.each(FINISHES)('a non-streamed reply that finishes with %s is a 502 that costs nothing', async finish_reason => {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Hà' }, finish_reason }]
    world.answer(json(200, { id: 'c', object: 'chat.completion', model: 'upstream-name', choices, usage: CHAT_USAGE }))
    expect((await call(route)).status).toBe(502)
    await expectNotCharged(502)
  })

  test('an error inside a choice is detected', async () => {
    const choices = [{ index: 0, delta: {}, error: { code: 502, message: 'secret text' }, finish_reason: 'stop' }]
    world.answer(streamOf(chatText(delta('Hà'), { ...CHUNK, choices }, '[DONE]')))
    const text = await (await call(route, { stream: true })).text()
    route.ending(eventsOf(text).at(-1) as Parameters<Route['ending']>[0])
    await expectNotCharged(502)
  })

  test('a non-streamed reply without choices is a 502 that costs nothing', async () => {
    world.answer(json(200, { id: 'c', object: 'chat.completion', model: 'x', choices: [], usage: CHAT_USAGE }))
    expect((await call(route)).status).toBe(502)
    await expectNotCharged(502)
  })

  test('success codes and outcomes of a provider are not errors', async () => {
    const well = {
      code: 0,
      message: 'Success',
      base_resp: { status_code: 0, status_msg: '' },
      detail: null,
      error: null,
    }
    world.answer(
      streamOf(
        chatText(
          { ...delta('Hà'), ...well },
          { ...delta('', 'stop'), ...well },
          { ...CHUNK, ...well, choices: [], usage: CHAT_USAGE },
          '[DONE]',
        ),
      ),
    )
    const text = await (await call(route, { stream: true })).text()
    expect(text).toMatch(/\[DONE\]|message_stop/)
    expect(await world.row()).toMatchObject({ status: 200, input: 22, output: 5 })
  })
})

const DEEP = `${'['.repeat(100_000)}${']'.repeat(100_000)}`

describe.each(Object.entries(ROUTES))('%s', (name, route) => {
  // Conversion leaves out members that the client's format lacks and makes a tool's input a string, so nothing deeply nested
  // remains.
  const isConverted = name === 'messages to chat' || name === 'chat to messages'

  test(`a non-streamed reply that is nested 100,000 deep is ${isConverted ? 'served' : 'a 502 that costs nothing'}`, async () => {
    const bodies: Readonly<Record<string, string>> = {
      messages: `{"type":"message","model":"x","content":[{"type":"tool_use","id":"t","name":"f","input":{"a":${DEEP}}}],"usage":{}}`,
      chat: `{"model":"x","choices":[{"index":0,"message":{"content":"a","reasoning_details":${DEEP}},"finish_reason":"stop"}]}`,
      responses: `{"status":"completed","model":"x","output":[${DEEP}]}`,
    }
    const body = bodies[name.split(' ')[0] as string] as string
    world.answer([head(200, { 'content-type': 'application/json' }), write(body), end()])
    const response = await call(route)
    expect(response.status).toBe(isConverted ? 200 : 502)
    await response.text()
    expect((await world.row()).cost === 0n).toBe(!isConverted)
  })
})
