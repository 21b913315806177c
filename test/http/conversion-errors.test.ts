/** Errors of converted calls: what the client gets, in its own format and with its error types, and what it is charged. */

import { describe, expect, test } from 'vitest'
import {
  chatText,
  eventsOf,
  messagesText,
  type Path,
  question,
  streamOf,
  useConversionWorld,
} from '../support/conversion.ts'
import {
  type Answer,
  drop,
  end,
  hang,
  head,
  json,
  reset,
  type Step,
  sse,
  until,
  write,
} from '../support/scripted-upstream.ts'
import { delta as chunk, call as toolCall } from '../translate/fixtures/chat-streams.ts'
import { delta, end as messageEnd, open, start } from '../translate/fixtures/messages-streams.ts'

const world = useConversionWorld()

/** For each client format: a model that speaks the other format, and an error body as that model's provider writes it. */
const SIDES = [
  {
    path: '/v1/messages',
    model: 'gpt-5.5',
    error: (type: string, message: string, code: string | null = null) => ({
      error: { message, type, param: null, code },
    }),
  },
  {
    path: '/v1/chat/completions',
    model: 'claude-opus-5',
    error: (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: 'req_upstream' }),
  },
] as const

test.each([
  ['/v1/messages', 'gpt-5.5'],
  ['/v1/chat/completions', 'gpt-5.5'],
  ['/v1/responses', 'gpt-5.5'],
  ['/v1/chat/completions', 'claude-opus-5'],
  ['/v1/responses', 'claude-opus-5'],
] as const)('%s with %s: a code that clients act on, and the offending field, come through', async (path, model) => {
  const error = { message: 'No.', type: 'invalid_request_error', param: 'tools[0].x', code: 'cyber_policy' }
  world.answer(json(400, { error }))
  const body = path === '/v1/responses' ? { model, input: 'x' } : question(model)
  const response = await world.call(path, body)
  expect([response.status, await response.json()]).toMatchObject([400, { error }])
  world.answer(json(400, { error: { ...error, code: 'policy_of_our_own', param: null } }))
  const other = { code: 'upstream_refused', param: null }
  expect(await (await world.call(path, body)).json()).toMatchObject({ error: other })
})

async function expectError(response: Response, status: number, type: string): Promise<string> {
  const body = (await response.json()) as { error: { message: string }; request_id: string }
  expect(body).toEqual({
    type: 'error',
    error: expect.objectContaining({ type, message: expect.any(String), code: expect.any(String), param: null }),
    request_id: expect.stringMatching(/^req_/),
  })
  expect(response.status).toBe(status)
  expect(response.headers.get('request-id')).toBe(body.request_id)
  expect(response.headers.get('x-request-id')).toBe(body.request_id)
  return body.error.message
}

describe.each(SIDES)('$path with $model', ({ path, model, error }) => {
  test.each([false, true])('a refusal of the provider keeps its status and words (stream: %s)', async stream => {
    for (const status of [400, 422]) {
      world.answer(json(status, error('invalid_request_error', 'messages.3: this image is too small')))
      const response = await world.call(path, question(model, { stream }))
      expect(await expectError(response, status, 'invalid_request_error')).toBe('messages.3: this image is too small')
      expect(response.headers.get('x-should-retry')).toBe('false')
    }
    expect(await world.spent()).toBe(0n)
  })

  test('a 429 says how long to wait, once there is nothing else to try', async () => {
    world.answer(json(429, error('rate_limit_error', 'slow down, org-1234567890'), { 'retry-after': '17' }))
    const response = await world.call(path, question(model, { stream: true }))
    expect(await expectError(response, 429, 'rate_limit_error')).not.toContain('org-')
    expect(response.headers.get('retry-after')).toBe('17')
    expect(response.headers.get('x-should-retry')).toBeNull()
    expect(await world.row()).toMatchObject({ status: 429, cost: 0n })
  })

  test.each([
    [503, 'overloaded_error', 503, 'service_unavailable'],
    [529, 'overloaded_error', 503, 'service_unavailable'],
    [500, 'server_error', 502, 'api_error'],
    [504, 'server_error', 502, 'api_error'],
  ])('%i %s becomes %i %s, without its text', async (status, type, told, toldType) => {
    world.answer(json(status, error(type, 'node 7 of pool x failed')))
    const response = await world.call(path, question(model))
    expect(await expectError(response, told, toldType)).not.toContain('node 7')
    expect(await world.row()).toMatchObject({ status: told, cost: 0n })
  })

  test.each([
    [401, 'authentication_error', 'invalid x-api-key upstream-secret-1'],
    [402, 'billing_error', 'Insufficient Balance'],
    [403, 'permission_error', 'project has no access'],
    [404, 'not_found_error', 'model: upstream-name'],
    [400, 'invalid_request_error', 'Your credit balance is too low to access the API.'],
    [429, 'insufficient_quota', 'You exceeded your current quota, please check your plan and billing details.'],
  ])('%i %s is the operator’s problem: a 502 that does not mention it', async (status, type, message) => {
    world.answer(json(status, error(type, message)))
    const response = await world.call(path, question(model, { stream: true }))
    expect(await expectError(response, 502, 'api_error')).not.toMatch(/secret|balance|quota|access|upstream/i)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await world.spent()).toBe(0n)
  })

  test.each([
    ['HTML under 200', [head(200, { 'content-type': 'text/html' }), write('<html>nginx</html>'), end()]],
    ['an empty body', [head(200, { 'content-type': 'application/json' }), end()]],
    [
      'truncated JSON',
      [head(200, { 'content-type': 'application/json' }), write('{"id":"x","choices":[{"mess'), end()],
    ],
    ['JSON that is not a reply', json(200, { id: 'x', choices: [], content: null })],
    ['a connection that is reset', [reset()]],
    [
      'a truncated reply',
      [head(200, { 'content-type': 'application/json', 'content-length': '999' }), write('{'), drop()],
    ],
  ] as [string, Answer][])('%s is a 502, streamed or not, and costs nothing', async (_name, answer) => {
    world.answer(answer)
    for (const stream of [false, true]) {
      const response = await world.call(path, question(model, { stream }))
      expect(await expectError(response, 502, 'api_error')).not.toMatch(/nginx|JSON/)
    }
    expect(await world.spent()).toBe(0n)
  })

  test('an error under status 200 is an error: in a JSON reply, in a stream, and as the first event', async () => {
    const body = error('overloaded_error', 'Overloaded')
    for (const [stream, answer] of [
      [false, json(200, body)],
      [true, json(200, body)],
      [true, streamOf(path === '/v1/messages' ? chatText(body) : messagesText(body as unknown as { type: string }))],
    ] as [boolean, Answer][]) {
      world.answer(answer)
      await expectError(await world.call(path, question(model, { stream })), 503, 'service_unavailable')
    }
    expect(await world.spent()).toBe(0n)
  })
})

test.each([
  [
    '/v1/messages',
    'gpt-5.5',
    400,
    {
      error: {
        message:
          "This model's maximum context length is 400000 tokens. However, your messages resulted in 500000 tokens.",
        type: 'invalid_request_error',
        code: 'context_length_exceeded',
      },
    },
  ],
  [
    '/v1/messages',
    'kimi-k2.6',
    400,
    {
      error: {
        message: 'Invalid request: Your request exceeded model token limit: 262144',
        type: 'invalid_request_error',
      },
    },
  ],
  [
    '/v1/messages',
    'qwen3.7-max',
    400,
    {
      error: {
        message: 'Range of input length should be [1, 991808]',
        type: 'invalid_request_error',
        code: 'invalid_parameter_error',
      },
    },
  ],
  [
    '/v1/chat/completions',
    'claude-opus-5',
    400,
    {
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 1200000 tokens > 1000000 maximum' },
    },
  ],
  [
    '/v1/chat/completions',
    'claude-opus-5',
    413,
    { type: 'error', error: { type: 'request_too_large', message: 'Prompt is too long' } },
  ],
] as const)(
  '%s: an overflow of %s is reported in words that make agents compact',
  async (path, model, status, body) => {
    world.answer(json(status, body))
    const response = await world.call(path, question(model))
    const message = await expectError(response, status === 413 ? response.status : 400, 'invalid_request_error')
    expect(message).toMatch(
      /prompt is too long|maximum context length|range of input length should be|reduce the length of the messages/i,
    )
  },
)

test.each([
  ['/v1/messages', 'gpt-5.5', { max_tokens: undefined }, 'max_tokens: Field required'],
  ['/v1/messages', 'gpt-5.5', { mcp_servers: [{ type: 'url', url: 'https://x.test', name: 'x' }] }, /^mcp_servers: /],
  [
    '/v1/messages',
    'gpt-5.5',
    { messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }] },
    /^messages\.0\.content\.0/,
  ],
  [
    '/v1/messages',
    'gpt-5.5',
    {
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] },
        { role: 'user', content: 'and?' },
      ],
    },
    /tool_use.*ids were found without.*tool_result/,
  ],
  ['/v1/chat/completions', 'claude-opus-5', { n: 2 }, /^n: /],
  ['/v1/chat/completions', 'claude-opus-5', { modalities: ['text', 'audio'] }, /^modalities: /],
  [
    '/v1/chat/completions',
    'claude-opus-5',
    { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }] }] },
    /input_audio|audio/,
  ],
  [
    '/v1/chat/completions',
    'claude-opus-5',
    {
      messages: [
        { role: 'user', content: 'x' },
        { role: 'tool', tool_call_id: 'c', content: 'y' },
      ],
    },
    /tool_call/,
  ],
] as [Path, string, object, string | RegExp][])(
  '%s refuses, for %s, what cannot be converted, before any call: %j',
  async (path, model, extra, message) => {
    const before = world.provider.requests.length
    const response = await world.call(path, question(model, extra))
    expect(await expectError(response, 400, 'invalid_request_error')).toMatch(message)
    expect(world.provider.requests).toHaveLength(before)
    expect(await world.row()).toMatchObject({ status: 400, cost: 0n })
  },
)

test('threads are refused as SDKs expect, so that they send the whole conversation', async () => {
  const created = await world.call('/v1/messages', question('gpt-5.5', { thread: { type: 'create' } }))
  expect([created.status, await created.json()]).toMatchObject([
    400,
    { error: { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } } },
  ])
  const thread = { type: 'continue', previous_message_id: 'msg_1' }
  const continued = await world.call('/v1/messages', question('gpt-5.5', { thread }))
  expect([continued.status, await continued.json()]).toMatchObject([
    404,
    { error: { details: { error_code: 'thread_not_found' } } },
  ])
})

const TEXT = { type: 'text', text: '' }
const GOOD_START: Record<Path, string> = {
  '/v1/messages': chatText(chunk({ role: 'assistant', content: '' }), chunk({ content: 'Một hai ba bốn' })),
  '/v1/chat/completions': messagesText(
    start(),
    open(0, TEXT),
    delta(0, { type: 'text_delta', text: 'Một hai ba bốn' }),
  ),
}
const MODEL: Record<Path, string> = { '/v1/messages': 'gpt-5.5', '/v1/chat/completions': 'claude-opus-5' }

interface Break {
  readonly name: string
  readonly path: Path
  readonly steps: readonly Step[]
  readonly type?: string
}

const BREAKS: Break[] = (['/v1/messages', '/v1/chat/completions'] as const).flatMap((path): Break[] => [
  { name: 'a reset', path, steps: [reset()] },
  { name: 'a dropped connection', path, steps: [drop()] },
  { name: 'an end without a finish reason', path, steps: [end()] },
  { name: 'an event that is not JSON', path, steps: [write('data: {"id":"x","cho\n\n'), end()] },
  { name: 'an event that is not an object', path, steps: [write('data: 7\n\n'), end()] },
  {
    name: 'an error wrapped in an array',
    path,
    steps: [write('data: [{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}]\n\n'), end()],
    type: 'service_unavailable',
  },
  { name: 'an error as a string', path, steps: [write('data: {"error":"boom upstream-secret-1"}\n\n'), end()] },
  {
    name: 'an error event',
    path,
    steps: [
      write('event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'),
      end(),
    ],
    type: 'service_unavailable',
  },
  {
    name: 'a refusal with a secret in it',
    path,
    steps: [
      write(
        'data: {"type":"error","error":{"type":"invalid_request_error","message":"bad key upstream-secret-1"}}\n\n',
      ),
      end(),
    ],
    type: 'invalid_request_error',
  },
])
BREAKS.push(
  {
    name: 'a failed finish reason',
    path: '/v1/messages',
    steps: [write(chatText(chunk({}, 'error'), '[DONE]')), end()],
  },
  {
    name: 'insufficient resources',
    path: '/v1/messages',
    steps: [write(chatText(chunk({}, 'insufficient_system_resource'), '[DONE]')), end()],
  },
  {
    name: 'a truncated tool call',
    path: '/v1/messages',
    steps: [write(chatText(toolCall({ index: 0, id: 'c', function: { name: 'f', arguments: '{"a":' } }))), end()],
  },
  {
    name: 'a truncated tool call',
    path: '/v1/chat/completions',
    steps: [
      write(
        messagesText(
          open(1, { type: 'tool_use', id: 't', name: 'f', input: {} }),
          delta(1, { type: 'input_json_delta', partial_json: '{"a":' }),
        ),
      ),
      end(),
    ],
  },
)

test.each(BREAKS)(
  '$path: $name in the middle ends the stream with a single error event, uncharged',
  async ({ path, steps, type = 'api_error' }) => {
    world.answer([sse(), write(GOOD_START[path]), ...steps])
    const response = await world.call(
      path,
      question(MODEL[path], { stream: true, stream_options: { include_usage: true } }),
    )
    expect(response.status).toBe(200)
    const text = await response.text()
    const events = eventsOf(text)
    expect(text).toContain('Một hai ba bốn')
    expect(text).not.toContain('upstream-secret-1')
    expect(text).not.toMatch(/message_stop|message_delta|\[DONE\]|"finish_reason":"/)
    const messages = path === '/v1/messages'
    const shown = messages && type === 'service_unavailable' ? 'overloaded_error' : type
    expect(events.at(-1)).toMatchObject({
      name: messages ? 'error' : '',
      data: {
        type: 'error',
        error: { type: shown, message: expect.any(String) },
        request_id: expect.stringMatching(/^req_/),
      },
    })
    expect(events.filter(event => event.data !== '[DONE]' && 'error' in event.data)).toHaveLength(1)
    expect(await world.row()).toMatchObject({ cost: 0n, charged: 0n, streamed: true })
  },
)

test.each(['/v1/messages', '/v1/chat/completions'] as const)(
  '%s: a client that leaves a stream pays for what it was sent, and the provider is aborted',
  async path => {
    world.answer([sse(), write(GOOD_START[path]), hang()])
    const leaving = new AbortController()
    const before = world.provider.requests.length
    const response = await world.call(path, question(MODEL[path], { stream: true }), { signal: leaving.signal })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    let text = ''
    while (!text.includes('bốn')) text += Buffer.from((await reader.read()).value ?? []).toString()
    leaving.abort()
    expect(await world.provider.requests[before]?.outcome).toBe('aborted')
    const row = await world.row()
    expect(row).toMatchObject({ status: 499, estimated: true, streamed: true })
    if (path === '/v1/chat/completions') expect(row.input).toBe(10)
    expect(row.input).toBeGreaterThan(5)
    expect(row.output).toBeGreaterThanOrEqual(4)
    expect(row.output).toBeLessThanOrEqual(9)
    expect(row.charged).toBe(BigInt(row.input + row.output) * (path === '/v1/messages' ? 2400n : 6500n))
  },
)

test('a client that leaves between the usage and the end pays what the provider reported', async () => {
  const usage = { prompt_tokens: 10, completion_tokens: 55, total_tokens: 65 }
  world.answer([sse(), write(chatText(chunk({ content: 'bốn' }), chunk({}, 'stop'), { choices: [], usage })), hang()])
  const leaving = new AbortController()
  const response = await world.call('/v1/messages', question('gpt-5.5', { stream: true }), { signal: leaving.signal })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  while (!text.includes('bốn')) text += Buffer.from((await reader.read()).value ?? []).toString()
  leaving.abort()
  expect(await world.row()).toMatchObject({ status: 499, input: 10, output: 55, estimated: false })
})

test('a client that leaves a converted, non-streamed call pays for the finished call', async () => {
  const gate = Promise.withResolvers<void>()
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
  const reply = {
    id: 'c',
    choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
    usage,
  }
  world.answer([until(gate.promise), ...json(200, reply)])
  const leaving = new AbortController()
  const gone = world.running.clientGone()
  const before = world.provider.requests.length
  const call = world.call('/v1/messages', question('gpt-5.5'), { signal: leaving.signal }).catch(() => null)
  await world.provider.received(before + 1)
  leaving.abort()
  await call
  await gone
  gate.resolve()
  expect(await world.row()).toMatchObject({ status: 499, charged: 15n * 2400n, estimated: false })
})

test.each([
  [
    '/v1/messages',
    {
      id: 'c',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            reasoning_content: 'Hm.',
            content: 'Hà Nội',
            tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }],
          },
          finish_reason: 'tool_calls',
        },
      ],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    },
    15n * 2400n,
  ],
  [
    '/v1/chat/completions',
    {
      id: 'm',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 's' },
        { type: 'text', text: 'Hà Nội' },
        { type: 'tool_use', id: 'c1', name: 'f', input: { x: 1 } },
      ],
      stop_reason: 'tool_use',
      usage: { input_tokens: 10, output_tokens: 5 },
    },
    15n * 6500n,
  ],
] as const)(
  '%s: a JSON reply to a streamed call is replayed as a stream in the client’s format',
  async (path, reply, cost) => {
    const { strictCompletion, strictMessage } = await import('../translate/grammar.ts')
    world.answer(json(200, reply))
    const response = await world.call(path, question(MODEL[path], { stream: true }))
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const text = await response.text()
    if (path === '/v1/messages') {
      expect(strictMessage(text)).toMatchObject({
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'text', text: 'Hà Nội' },
          { type: 'tool_use', id: 'c1', name: 'f', input: { x: 1 } },
        ],
        stop_reason: 'tool_use',
      })
    } else {
      expect(strictCompletion(text)).toMatchObject({
        message: {
          reasoning_content: 'Hm.',
          content: 'Hà Nội',
          tool_calls: [{ id: 'c1', name: 'f', arguments: { x: 1 } }],
        },
        finish_reason: 'tool_calls',
      })
    }
    expect(await world.row()).toMatchObject({ charged: cost, estimated: false })
  },
)

test('a message without a stop event is still complete', async () => {
  world.answer(streamOf(GOOD_START['/v1/chat/completions'] + messagesText(messageEnd('end_turn'))))
  const text = await (await world.call('/v1/chat/completions', question('claude-opus-5', { stream: true }))).text()
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  expect(await world.row()).toMatchObject({ status: 200, input: 10, output: 5 })
})

describe('a stream of a chat provider that sends its whole reply as a message', () => {
  const CALL = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"x":1}' } }
  const MESSAGE = { role: 'assistant', reasoning_content: 'Hm.', content: 'Hà Nội', tool_calls: [CALL] }
  const whole = (message: object, finish_reason: string | null = 'tool_calls') => ({
    ...{ id: 'chatcmpl-up', object: 'chat.completion', created: 1, model: 'upstream-name' },
    choices: [{ index: 0, message, finish_reason }],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  })
  const ask = async (path: Path) => {
    const body = question('gpt-5.5', { stream: true, stream_options: { include_usage: true } })
    return (await world.call(path, body)).text()
  }

  test.each([
    ['in one chunk', [whole(MESSAGE)]],
    ['after the role', [{ ...chunk({ role: 'assistant', content: '' }), created: 1 }, whole(MESSAGE)]],
    [
      'in pieces',
      [whole({ ...MESSAGE, content: 'Hà', tool_calls: null }, null), whole({ content: ' Nội', tool_calls: [CALL] })],
    ],
  ])('%s: clients of both formats get all of it', async (_, chunks) => {
    const { strictCompletion, strictMessage } = await import('../translate/grammar.ts')
    world.answer(streamOf(chatText(...chunks, '[DONE]')))
    expect(strictMessage(await ask('/v1/messages'))).toMatchObject({
      content: [
        { type: 'thinking', thinking: 'Hm.' },
        { type: 'text', text: 'Hà Nội' },
        { type: 'tool_use', id: 'c1', name: 'f', input: { x: 1 } },
      ],
      stop_reason: 'tool_use',
    })
    expect(strictCompletion(await ask('/v1/chat/completions'))).toMatchObject({
      message: { reasoning_content: 'Hm.', content: 'Hà Nội', tool_calls: [{ id: 'c1', arguments: { x: 1 } }] },
      finish_reason: 'tool_calls',
    })
  })

  test('again at the end, as MiniMax does: clients get it once', async () => {
    const { strictMessage } = await import('../translate/grammar.ts')
    world.answer(streamOf(chatText(chunk({ content: 'Hà Nội' }), whole({ content: 'Hà Nội' }), '[DONE]')))
    expect(strictMessage(await ask('/v1/messages'))).toMatchObject({ content: [{ type: 'text', text: 'Hà Nội' }] })
    expect(await ask('/v1/chat/completions')).not.toContain('"delta":{"content":"Hà Nội"},"finish_reason":"tool_calls"')
  })
})
