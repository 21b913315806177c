/**
 * Calls from Responses clients to upstreams that speak the same format: requests and replies pass unchanged except for the
 * model, the reported usage is billed, and failures are reported as that format defines.
 */

import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { strictResponse } from '../formats/responses-grammar.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  end,
  head,
  json,
  type RecordedRequest,
  reset,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  write,
} from '../support/scripted-upstream.ts'

const PER_VND = 1_000_000n
const CREDIT = 1_000_000n * PER_VND

let answer: Answer | ((request: RecordedRequest) => Answer)
let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  provider = await startScriptedUpstream(request => (typeof answer === 'function' ? answer(request) : answer))
  running = await startTestGateway({ upstreams: { openai: `${provider.url}/v1`, deepseek: provider.url } })
})
beforeEach(async () => {
  account = await running.account(CREDIT)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

function call(body: string, signal?: AbortSignal) {
  return fetch(`${running.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}` },
    body,
    ...(signal && { signal }),
  })
}

const REPLY =
  '{"id":"resp_1","object":"response","created_at":1,"status":"completed","model":"gpt-5.5-2026-04-23","big":12345678901234567890,' +
  '"output":[{"type":"brand_new_item","model":"untouched","x":"ế"},{"type":"message","content":[{"type":"output_text","text":"Chào"}]}],' +
  '"usage":{"input_tokens":30,"input_tokens_details":{"cached_tokens":20},"output_tokens":12,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":42}}'
const BODY =
  '{ "input":[{"role":"user","content":"ế\\u00e9"},{"type":"brand_new"}], "model":"req/gpt-5.5","tools":[{"type":"brand_new_tool","n":12345678901234567890}],"store":false}'

test('relays every byte of a request and of a reply except the model, and bills the reported usage', async () => {
  answer = [head(200, { 'content-type': 'application/json' }), write(REPLY), end()]
  const before = provider.requests.length
  const response = await call(BODY.replace('req/', ''))
  expect(response.status).toBe(200)
  expect(await response.text()).toBe(REPLY.replace('gpt-5.5-2026-04-23', 'gpt-5.5'))
  const sent = provider.requests[before]
  expect(sent?.path).toBe('/v1/responses')
  expect(sent?.body.toString()).toBe(BODY.replace('req/', ''))
  expect(sent?.headers.authorization).toBe('Bearer upstream-secret-1')
  expect(Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('x-svc-')))).toEqual({
    'x-svc-model': 'gpt-5.5',
    'x-svc-price-vnd-per-mtok': '2400',
    'x-svc-input-tokens': '30',
    'x-svc-output-tokens': '12',
    'x-svc-balance-vnd': expect.stringMatching(/^\d+(\.\d+)?$/),
    'x-svc-cost-vnd': '0.1008',
    'x-svc-wire': 'responses',
  })
  expect(await running.balance(account.accountId)).toBe(CREDIT - 42n * 2400n)
  const rows = await running.database
    .sql`select cached_input_tokens::int as cached, reasoning_tokens::int as reasoning from usage where account_id = ${account.accountId}`
  expect([...rows]).toEqual([{ cached: 20, reasoning: 5 }])
})

test('bills a per-call entry at its fixed price, and replies with the requested name', async () => {
  answer = [head(200, { 'content-type': 'application/json' }), write(REPLY), end()]
  const response = await call(BODY)
  expect(((await response.json()) as { model: string }).model).toBe('req/gpt-5.5')
  expect(provider.requests.at(-1)?.json()).toMatchObject({ model: 'gpt-5.5' })
  expect(response.headers.get('x-svc-cost-vnd')).toBe('900')
  expect(await running.usage(account.accountId)).toMatchObject([
    { model: 'req/gpt-5.5', cost: 900n * PER_VND, input_tokens: 30, output_tokens: 12, streamed: false },
  ])
})

test('sends a model only what it accepts, and restores the client’s names', async () => {
  const name = `tool_${'x'.repeat(70)}`
  const reply = (called: string) => ({
    id: 'resp_1',
    status: 'completed',
    model: 'gpt-5.5',
    output: [{ type: 'function_call', id: 'fc_1', call_id: 'c1', name: called, arguments: '{}' }],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  })
  const asked = {
    model: 'gpt-5.5',
    input: [
      { role: 'user', content: 'hi' },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gwm1.1.e30.AAAAAAAAAAAAAAAAAAAAAA' },
      { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'gAAAA' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'hello' }] },
      { role: 'user', content: 'go on' },
    ],
    tools: [{ type: 'function', name, parameters: { type: 'object', properties: {} } }],
    reasoning: { effort: 'max', context: 'kept' },
    max_output_tokens: 5,
    temperature: 1,
    store: true,
  }
  const taken = `tool_${'x'.repeat(50)}`
  answer = request => {
    const sent = request.json() as { tools: { name: string }[] }
    return [head(200, { 'content-type': 'application/json' }), write(JSON.stringify(reply(sent.tools[0]!.name))), end()]
  }
  const response = await call(JSON.stringify(asked))
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual(reply(name))
  const { temperature: _temperature, ...rest } = asked
  expect(provider.requests.at(-1)?.json()).toEqual({
    ...rest,
    input: asked.input.filter(item => item.id !== 'rs_1'),
    tools: [{ ...asked.tools[0], name: expect.stringMatching(new RegExp(`^${taken}_[0-9a-f]{8}$`)) }],
    reasoning: { effort: 'xhigh', context: 'kept' },
    max_output_tokens: 16,
  })
})

test('converts tools of every kind for a host of this format that only supports functions', async () => {
  const call_id = 'call_1'
  answer = json(200, {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'deepseek-flash',
    output: [
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'why' }] },
      { type: 'function_call', id: 'fc_1', call_id, name: 'patch', arguments: '{"input":"*** Begin"}' },
    ],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  })
  const response = await call(
    JSON.stringify({
      model: 'deepseek-v4-flash',
      store: false,
      input: [
        { role: 'user', content: 'hi' },
        { type: 'custom_tool_call', call_id: 'call_0', name: 'patch', input: 'raw' },
        { type: 'custom_tool_call_output', call_id: 'call_0', output: 'done' },
      ],
      tools: [
        { type: 'custom', name: 'patch', description: 'Patches.' },
        { type: 'namespace', name: 'ns', description: 'N.', tools: [{ type: 'function', name: 'f', parameters: {} }] },
      ],
    }),
  )
  expect(response.headers.get('x-svc-wire')).toBe('responses')
  expect(((await response.json()) as { output: object[] }).output).toMatchObject([
    { type: 'reasoning', summary: [{ type: 'summary_text', text: 'why' }] },
    { type: 'custom_tool_call', call_id, name: 'patch', input: '*** Begin' },
  ])
  const sent = provider.requests.at(-1)
  expect(sent?.path).toBe('/responses')
  expect(sent?.json()).toMatchObject({
    model: 'deepseek-flash',
    store: false,
    input: [
      { role: 'user' },
      { type: 'reasoning', content: [{ type: 'reasoning_text' }] },
      { type: 'function_call', call_id: 'call_0', name: 'patch', arguments: '{"input":"raw"}' },
      { type: 'function_call_output', call_id: 'call_0', output: 'done' },
    ],
    tools: [
      { type: 'function', name: 'patch', parameters: { required: ['input'] } },
      { type: 'function', name: 'ns__f', description: 'N.' },
    ],
  })
})

const event = (type: string, rest: string) => `event: ${type}\ndata: {"type":"${type}",${rest}}\n\n`
const RESPONSE = (status: string, rest = '') =>
  `"response":{"id":"resp_7","object":"response","created_at":5,"status":"${status}","model":"gpt-5.5-2026-04-23","instructions":"the \\"response\\" says"${rest}}`
const USAGE = ',"usage":{"input_tokens":11,"output_tokens":25,"total_tokens":36}'
const EVENTS = [
  event('response.created', `"sequence_number":0,${RESPONSE('in_progress')}`),
  event('response.in_progress', `"sequence_number":1,${RESPONSE('in_progress')}`),
  event('response.output_item.added', '"sequence_number":2,"output_index":0,"item":{"id":"m","type":"new_item"}'),
  event('response.output_text.delta', '"sequence_number":3,"item_id":"m","delta":"Tiếng Việt có \\"dấu\\" 🌿"'),
  ': comment\n\n',
  event('response.brand_new', '"sequence_number":4,"model":"untouched"'),
  event('response.output_item.done', '"sequence_number":5,"output_index":0,"item":{"id":"m","type":"new_item"}'),
  event('response.completed', `"sequence_number":6,${RESPONSE('completed', USAGE)}`),
]
const ECHO = {
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
  access_programs: null,
}
const STREAMED = '{"model":"gpt-5.5","stream":true,"input":"x"}'
const RENAMED = EVENTS.join('').replaceAll('gpt-5.5-2026-04-23', 'gpt-5.5')

test.each([1, 3, 100_000])('relays a stream split every %i bytes, byte for byte except the model', async cutEvery => {
  answer = [sse(), write(EVENTS.join(''), { cutEvery }), end()]
  const response = await call(STREAMED)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('x-svc-cost-vnd')).toBeNull()
  expect(await response.text()).toBe(RENAMED)
  expect(await running.usage(account.accountId)).toMatchObject([
    { status: 200, input_tokens: 11, output_tokens: 25, cost: 36n * 2400n, streamed: true, estimated: false },
  ])
})

test('a JSON response to a streamed call is replayed as a stream', async () => {
  const output = [
    { id: 'rs_1', type: 'reasoning', status: 'completed', summary: [{ type: 'summary_text', text: 'Why?' }] },
    { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'x' } },
    {
      id: 'msg_1',
      type: 'message',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Chào', annotations: [], logprobs: [] }],
    },
    {
      id: 'fc_1',
      type: 'function_call',
      status: 'completed',
      call_id: 'c',
      name: 'f',
      arguments: '{"n":12345678901234567890}',
    },
    { id: 'ctc_1', type: 'custom_tool_call', status: 'completed', call_id: 'd', name: 'g', input: 'raw' },
  ]
  const whole = (status: string, rest: object) => ({
    ...(JSON.parse(`{${RESPONSE(status)}}`) as { response: object }).response,
    ...ECHO,
    usage: {
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 25,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 36,
    },
    ...rest,
  })
  answer = json(200, whole('completed', { error: null, incomplete_details: null, output }))
  const response = await call(STREAMED)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  const told = strictResponse(await response.text())
  expect(told).toMatchObject({ id: 'resp_7', model: 'gpt-5.5', status: 'completed', output })
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 200, cost: 36n * 2400n, streamed: true }])
  const cut = {
    error: null,
    incomplete_details: { reason: 'max_output_tokens' },
    output: [{ ...output[2], status: 'incomplete' }],
  }
  answer = json(200, whole('incomplete', cut))
  expect(strictResponse(await (await call(STREAMED)).text())).toMatchObject({ status: 'incomplete', ...cut })
  const error = { code: 'invalid_prompt', message: 'No.' }
  answer = json(200, whole('failed', { error, output: [] }))
  const failed = await call(STREAMED)
  expect([failed.status, await failed.json()]).toMatchObject([400, { error }])
})

test('a response that stops at its output cap is billed like a complete one', async () => {
  const incomplete = event('response.incomplete', `"sequence_number":6,${RESPONSE('incomplete', USAGE)}`)
  answer = [sse(), write([...EVENTS.slice(0, 4), incomplete].join('')), end()]
  expect(await (await call(STREAMED)).text()).toContain('event: response.incomplete')
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 200, cost: 36n * 2400n }])
})

const BREAKS: readonly [string, Answer][] = [
  ['ends too early', [sse(), write(EVENTS.slice(0, 4).join('')), end()]],
  ['is reset', [sse(), write(EVENTS.slice(0, 4).join('')), reset()]],
  [
    'ends in an error event',
    [
      sse(),
      write(EVENTS.slice(0, 4).join('') + event('error', '"code":"server_error","message":"secret text"')),
      end(),
    ],
  ],
  [
    'ends in a failed response',
    [
      sse(),
      write(
        EVENTS.slice(0, 4).join('') +
          event(
            'response.failed',
            `"sequence_number":4,${RESPONSE('failed', ',"error":{"code":"server_error","message":"secret text"}')}`,
          ),
      ),
      end(),
    ],
  ],
]
test.each(BREAKS)('a stream that %s ends in response.failed and is not charged', async (_name, behaviour) => {
  answer = behaviour
  const text = await (await call(STREAMED)).text()
  expect(text).not.toContain('response.completed')
  expect(text).not.toContain('secret text')
  const last = text.trimEnd().split('\n\n').at(-1) as string
  expect(last).toMatch(/^event: response\.failed\ndata: /)
  expect(JSON.parse(last.split('data: ')[1] as string)).toMatchObject({
    type: 'response.failed',
    sequence_number: expect.any(Number),
    response: { id: 'resp_7', status: 'failed', model: 'gpt-5.5', error: { code: 'server_error' } },
  })
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 502, cost: 0n }])
  expect(await running.balance(account.accountId)).toBe(CREDIT)
})

test('a reference to something that the provider has not stored is refused, and harms no other call', async () => {
  const message = "Item with id 'msg_1' not found."
  const missing = json(404, { error: { message, type: 'invalid_request_error', param: 'input', code: null } })
  answer = request => (request.body.includes('item_reference') ? missing : [head(200, {}), write(REPLY), end()])
  const reference = { type: 'item_reference', id: 'msg_1' }
  const response = await call(JSON.stringify({ model: 'gpt-5.4', input: [{ role: 'user', content: 'x' }, reference] }))
  expect([response.status, response.headers.get('x-should-retry')]).toEqual([404, 'false'])
  expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error', message, param: 'input' } })
  const credentials = running.gateway.upstreams.find('openai')!.credentials.status()
  expect(credentials.flatMap(({ modelsCoolingDown }) => modelsCoolingDown)).toEqual([])
})

test('an error that quotes the client is not taken for a problem with the credential', async () => {
  const message = "Invalid value: 'incorrect api key'. Supported values are: 'system', 'user'."
  answer = json(400, {
    error: { message, type: 'invalid_request_error', param: 'input[0].role', code: 'invalid_value' },
  })
  const response = await call(
    JSON.stringify({ model: 'gpt-5.4', input: [{ role: 'incorrect api key', content: 'x' }] }),
  )
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { code: 'upstream_refused', param: 'input[0].role' } })
  const credentials = running.gateway.upstreams.find('openai')!.credentials.status()
  expect(credentials.map(({ state }) => state)).toEqual(['well'])
})

test('a refusal because of the request itself keeps its code and its text', async () => {
  const error = '"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window"}'
  const failed = event('response.failed', `"sequence_number":4,${RESPONSE('failed', `,${error}`)}`)
  answer = [sse(), write(EVENTS.slice(0, 3).join('') + failed), end()]
  const text = await (await call(STREAMED)).text()
  expect(JSON.parse(text.trimEnd().split('data: ').at(-1) as string).response.error).toEqual({
    code: 'context_length_exceeded',
    message: 'Your input exceeds the context window',
  })
  answer = json(200, {
    object: 'response',
    status: 'failed',
    output: [],
    error: { code: 'invalid_prompt', message: 'No.' },
  })
  const whole = await call(STREAMED.replace('"stream":true,', ''))
  expect(whole.status).toBe(400)
  expect(await whole.json()).toMatchObject({ error: { type: 'invalid_request_error', message: 'No.' } })
  expect(await running.balance(account.accountId)).toBe(CREDIT)
})

test.each<[string, Answer, number]>([
  [
    'a failed response',
    json(200, { object: 'response', status: 'failed', output: [], error: { code: 'server_error' } }),
    502,
  ],
  ['a response that is still running', json(200, { object: 'response', status: 'queued', output: [] }), 502],
  ['garbage', [head(200, { 'content-type': 'text/html' }), write('<html>'), end()], 502],
  ['a refusal', json(400, { error: { message: 'Unknown tool', type: 'invalid_request_error' } }), 400],
  ['a busy provider', json(429, { error: { message: 'slow down', code: 'rate_limit_exceeded' } }), 429],
])('does not charge for %s', async (_name, behaviour, status) => {
  answer = behaviour
  for (const body of [STREAMED, STREAMED.replace('"stream":true,', '')]) {
    const response = await call(body)
    expect([response.status, ((await response.json()) as { type: string }).type]).toEqual([
      status === 400 || status === 429 ? status : 502,
      'error',
    ])
  }
  expect(await running.balance(account.accountId)).toBe(CREDIT)
  expect((await running.usage(account.accountId)).map(row => row.status)).toEqual([status, status])
})

test('a client that leaves a stream pays for what was sent to it, and the provider is aborted', async () => {
  answer = [sse(), write(EVENTS.slice(0, 4).join('')), { do: 'hang' }]
  const leaving = new AbortController()
  const response = await call(STREAMED, leaving.signal)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  let text = ''
  while (!text.includes('output_text.delta')) text += Buffer.from((await reader.read()).value ?? []).toString()
  leaving.abort()
  expect(await provider.requests.at(-1)?.outcome).toBe('aborted')
  const [row] = await running.usage(account.accountId)
  expect(row).toMatchObject({ status: 499, estimated: true })
  expect(row?.output_tokens).toBeGreaterThan(4)
  expect(row?.output_tokens).toBeLessThan(25)
  expect(row?.cost).toBe(BigInt((row?.input_tokens ?? 0) + (row?.output_tokens ?? 0)) * 2400n)
})

test.each([
  [
    'a model that is not served here',
    '{"model":"req/gpt-image-2","input":"x"}',
    /POST \/v1\/images\/generations or POST \/v1\/images\/edits/,
  ],
  ['no model', '{"input":"x"}', /model: Field required/],
  ['an input of the wrong kind', '{"model":"gpt-5.5","input":7}', /input: /],
  ['a background response', '{"model":"gpt-5.5","input":"x","background":true}', /background: /],
  ['a stream of the wrong kind', '{"model":"gpt-5.5","input":"x","stream":"yes"}', /stream: /],
  ['a cap of the wrong kind', '{"model":"gpt-5.5","input":"x","max_output_tokens":"many"}', /max_output_tokens: /],
])('refuses %s', async (_name, body, message) => {
  const before = provider.requests.length
  const response = await call(body)
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    type: 'error',
    error: { type: 'invalid_request_error', message: expect.stringMatching(message) },
  })
  expect(provider.requests.length).toBe(before)
  expect(await running.usage(account.accountId)).toMatchObject([{ status: 400, cost: 0n }])
})

test('refuses a WebSocket upgrade with 426, with or without a key', async () => {
  for (const headers of ['', `authorization: Bearer ${account.apiKey}\r\n`]) {
    const socket = connect(Number(new URL(running.url).port), '127.0.0.1')
    socket.write(
      `GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n${headers}` +
        'sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    let text = ''
    for await (const chunk of socket) text += String(chunk)
    expect(text).toMatch(/^HTTP\/1\.1 426 /)
    expect(text).toContain('WebSockets are not served here')
  }
  const plain = await fetch(`${running.url}/v1/responses`)
  expect([plain.status, plain.headers.get('allow')]).toEqual([405, 'POST'])
})
