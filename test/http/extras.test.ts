/**
 * Fields and tools that cost extra are left out, refused or passed on, as the catalogue says, in every format and in converted
 * calls.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  json,
  type RecordedRequest,
  type ScriptedUpstream,
  startScriptedUpstream,
} from '../support/scripted-upstream.ts'

const CREDIT = 1_000_000n * 1_000_000n

let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount

const USAGE = { input_tokens: 10, output_tokens: 2, prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }

/** A successful reply for any endpoint. */
function answerTo({ path }: RecordedRequest): Answer {
  const common = { id: 'x_1', created: 1, model: 'm', usage: USAGE }
  if (path.endsWith('/messages') || path.endsWith('/invoke')) {
    const content = [{ type: 'text', text: 'Chào' }]
    return json(200, { ...common, type: 'message', role: 'assistant', content, stop_reason: 'end_turn' })
  }
  if (path.endsWith('/responses')) {
    const content = [{ type: 'output_text', text: 'Chào' }]
    const output = [{ type: 'message', id: 'msg_1', role: 'assistant', content }]
    return json(200, { ...common, object: 'response', status: 'completed', output })
  }
  if (path.includes('/images/')) return json(200, { created: 1, data: [{ b64_json: 'AAAA' }], usage: USAGE })
  if (path.endsWith('/speech')) return json(200, {}, { 'content-type': 'audio/mpeg' })
  const message = { role: 'assistant', content: 'Chào' }
  return json(200, { ...common, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] })
}

beforeAll(async () => {
  provider = await startScriptedUpstream(answerTo)
  const url = `${provider.url}/v1`
  running = await startTestGateway({
    upstreams: {
      openai: url,
      google: url,
      deepseek: url,
      xai: url,
      alibaba: url,
      moonshotai: url,
      anthropic: provider.url,
      'aws-bedrock': provider.url,
    },
  })
})
beforeEach(async () => {
  account = await running.account(CREDIT)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

const PATHS = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  images: '/v1/images/generations',
  edits: '/v1/images/edits',
  speech: '/v1/audio/speech',
} as const
type Endpoint = keyof typeof PATHS

const HI = [{ role: 'user', content: 'Xin chào' }]
const PNG = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64')
const LEAST: Readonly<Record<Endpoint, object>> = {
  messages: { max_tokens: 9, messages: HI },
  chat: { messages: HI },
  responses: { input: 'Xin chào' },
  images: { prompt: 'một con mèo' },
  edits: { prompt: 'một con mèo', image: PNG },
  speech: { input: 'Xin chào', voice: 'alloy' },
}

interface Sent {
  readonly response: Response
  /** The body sent upstream; null if none was sent. */
  readonly upstream: Record<string, unknown> | null
  readonly headers: RecordedRequest['headers']
}

async function send(
  endpoint: Endpoint,
  model: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Sent> {
  const before = provider.requests.length
  const response = await fetch(running.url + PATHS[endpoint], {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model, ...LEAST[endpoint], ...body }),
  })
  const request = provider.requests[before]
  const isForm = request?.headers['content-type']?.startsWith('multipart/') === true
  const upstream = request === undefined ? null : isForm ? formOf(request) : (request.json() as Sent['upstream'])
  return { response, upstream, headers: request?.headers ?? {} }
}

function formOf({ body }: RecordedRequest): Record<string, unknown> {
  const parts = [...body.toString('latin1').matchAll(/name="([^"]+)"\r\n\r\n([^\r]*)/g)]
  return Object.fromEntries(parts.map(([, name, value]) => [name, value]))
}

async function messageOf(response: Response): Promise<string> {
  expect(response.status).toBe(400)
  const body = (await response.json()) as { type: string; error: { type: string; message: string } }
  expect(body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
  return body.error.message
}

/** Fields that can cost extra: endpoint, entry, field, a value that costs extra, and one that does not (null if none). */
const FIELDS: readonly [endpoint: Endpoint, model: string, field: string, dear: unknown, free: unknown][] = [
  ['messages', 'claude-opus-5', 'service_tier', 'priority', 'standard_only'],
  ['messages', 'claude-opus-5', 'speed', 'fast', 'standard'],
  ['messages', 'claude-opus-5', 'inference_geo', 'us', 'global'],
  ['messages', 'svc/claude-opus-5', 'service_tier', 'auto', null],
  ['messages', 'svc/claude-opus-5', 'speed', 'fast', null],
  ['messages', 'svc/claude-opus-5', 'inference_geo', 'us', null],
  ['chat', 'gpt-5.5', 'service_tier', 'priority', 'flex'],
  ['chat', 'gpt-5.5', 'service_tier', 'fast', 'default'],
  ['chat', 'gpt-5.5', 'service_tier', 'ultrafast', 'auto'],
  ['chat', 'gpt-5.5', 'best_of', 5, 1],
  ['chat', 'gpt-5.5', 'speed', 'fast', null],
  ['chat', 'grok-4.3', 'service_tier', 'priority', 'default'],
  ['chat', 'deepseek-v4-flash', 'best_of', 20, 1],
  ['responses', 'gpt-5.5', 'service_tier', 'priority', 'flex'],
  ['responses', 'req/gpt-5.5', 'service_tier', 'priority', 'default'],
  ['images', 'req/gpt-image-2', 'quality', 'high', 'medium'],
  ['images', 'req/gpt-image-2', 'size', '3840x2160', '1536x1024'],
  ['images', 'req/gpt-image-2', 'input_fidelity', 'high', 'low'],
  ['images', 'req/gpt-image-2', 'complexity', 'high', 'medium'],
  ['edits', 'req/gpt-image-2', 'quality', 'high', 'low'],
  ['edits', 'req/gpt-image-2', 'size', '2048x2048', '1024x1024'],
]

test.each(FIELDS)('%s, %s: %s is left out with %j, and passes with %j', async (endpoint, model, field, dear, free) => {
  const left = await send(endpoint, model, { [field]: dear, other: 'kept' })
  expect(left.response.status).toBe(200)
  expect(left.response.headers.get('x-svc-left-out')).toBe(field)
  expect(left.upstream).not.toHaveProperty(field)
  expect(left.upstream).toHaveProperty('other', 'kept')
  if (free === null) return
  const passed = await send(endpoint, model, { [field]: free })
  expect(passed.response.status).toBe(200)
  expect(passed.response.headers.get('x-svc-left-out')).toBeNull()
  expect(passed.upstream?.[field]).toEqual(endpoint === 'edits' ? String(free) : free)
})

/** Fields of images without which the reply would not be what the client wants, and values that cost nothing extra. */
const REFUSED: readonly [endpoint: Endpoint, field: string, dear: unknown, free: readonly string[]][] = [
  ['images', 'output_format', 'gif', ['png', 'jpeg', 'webp']],
  ['edits', 'output_format', 'svg', ['png', 'jpeg', 'webp']],
  ['images', 'svg', { model: 'gpt-6-sol', reasoning: { effort: 'max' } }, []],
  ['images', 'frame_count', 16, []],
  ['images', 'frame_duration_ms', 100, []],
  ['edits', 'output_format', 'gif', ['png', 'jpeg', 'webp']],
  ['edits', 'frame_count', 16, []],
]

test.each(REFUSED)('%s: %s is refused with %j, and passes with %j', async (endpoint, field, dear, free) => {
  const { response, upstream } = await send(endpoint, 'req/gpt-image-2', { [field]: dear })
  expect(upstream).toBeNull()
  expect(await messageOf(response)).toBe(
    free.length === 0
      ? `${field}: not available with this model; leave the field out`
      : `${field}: this value is not available with this model; send png or jpeg or webp, or leave the field out`,
  )
  for (const value of free) {
    const passed = await send(endpoint, 'req/gpt-image-2', { [field]: value })
    expect(passed.response.status).toBe(200)
    expect(passed.upstream?.[field]).toBe(value)
  }
})

/** Fields that converted calls never carry upstream; the client is still told that they were left out. */
const CONVERTED: readonly [endpoint: Endpoint, model: string, field: string, value: unknown][] = [
  ['messages', 'gpt-5.5', 'service_tier', 'priority'],
  ['messages', 'gpt-5.5', 'speed', 'fast'],
  ['messages', 'gpt-5.5', 'inference_geo', 'us'],
  ['chat', 'claude-opus-5', 'service_tier', 'priority'],
  ['chat', 'claude-opus-5', 'speed', 'fast'],
  ['chat', 'claude-opus-5', 'best_of', 3],
]

test.each(CONVERTED)('%s, converted to %s: %s does not go upstream', async (endpoint, model, field, value) => {
  const { response, upstream } = await send(endpoint, model, { [field]: value })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-svc-left-out')).toBe(field)
  expect(upstream).not.toHaveProperty(field)
})

/** Field names that some providers read regardless of case or brackets. */
const OTHER_CASES: readonly [endpoint: Endpoint, body: object, name: string][] = [
  ['chat', { Service_Tier: 'priority' }, 'service_tier'],
  ['chat', { N: 5 }, 'n'],
  ['chat', { max_tokens: 1, Max_Tokens: 100_000 }, 'max_tokens'],
  ['chat', { Tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }, 'tools'],
  ['chat', { 'tool\u017f': [{ type: 'web_search' }] }, 'tools'],
  ['chat', { tools: [{ Type: 'builtin_function', function: { name: '$web_search' } }] }, 'type'],
  ['chat', { tools: [{ type: 'builtin_function', function: { Name: '$web_search' } }] }, 'name'],
  ['edits', { 'quality[]': 'high' }, 'quality'],
  ['edits', { 'N[0]': '10' }, 'n'],
]

test.each(OTHER_CASES)('%s: %j must be written as %s', async (endpoint, body, name) => {
  const { response, upstream } = await send(endpoint, endpoint === 'edits' ? 'req/gpt-image-2' : 'kimi-k2.6', body)
  expect(await messageOf(response)).toMatch(new RegExp(`: this field must be spelled ${name}$`))
  expect(upstream).toBeNull()
})

test('a reply that would have to be fetched later is sent at once', async () => {
  const { response, upstream } = await send('chat', 'grok-4.3', { deferred: true })
  expect(response.headers.get('x-svc-left-out')).toBe('deferred')
  expect(upstream).not.toHaveProperty('deferred')
})

const FUNCTION = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }

test.each(['google_search', 'googleSearch', 'google_search_retrieval'])(
  'a tool without a type is recognised by its name: %s',
  async name => {
    const { response, upstream } = await send('chat', 'gemini-3.5-flash', { tools: [{ [name]: {} }, FUNCTION] })
    expect(response.headers.get('x-svc-left-out')).toBe('web_search')
    expect(upstream).toHaveProperty('tools', [FUNCTION])
  },
)

test('a search in a nested namespace of tools is found', async () => {
  const inner = { type: 'namespace', name: 'inner', tools: [{ type: 'web_search' }] }
  const { response } = await send('responses', 'gpt-5.5', {
    tools: [{ type: 'namespace', name: 'outer', tools: [inner] }],
  })
  expect(await messageOf(response)).toContain('web_search is run by')
})

test('the speed of a voice is not an extra', async () => {
  const { response, upstream } = await send('speech', 'req/gpt-4o-mini-tts', { speed: 1.5 })
  expect(response.headers.get('x-svc-left-out')).toBeNull()
  expect(upstream).toHaveProperty('speed', 1.5)
})

test('fallback models are refused, with their beta flags', async () => {
  const refused = await send('messages', 'claude-opus-5', { fallbacks: [{ model: 'claude-fable-5' }] })
  expect(await messageOf(refused.response)).toBe('fallbacks: not available with this model; leave the field out')
  expect(refused.upstream).toBeNull()
  const flags = 'advisor-tool-2026-03-01,server-side-fallback-2026-07-01,code-execution-2025-05-22,effort-2025-11-24'
  const { headers } = await send('messages', 'claude-opus-5', {}, { 'anthropic-beta': flags })
  expect(headers['anthropic-beta']).toBe('effort-2025-11-24')
  const bedrock = await send('messages', 'svc/claude-opus-5', {}, { 'anthropic-beta': `${flags},fast-mode-2026-02-01` })
  expect(bedrock.upstream?.anthropic_beta).toEqual(['effort-2025-11-24'])
})

const MESSAGES_TOOL = { name: 'get_weather', description: 'ế', input_schema: { type: 'object', properties: {} } }
const CHAT_TOOL = { type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }
const RESPONSES_TOOL = { type: 'function', name: 'get_weather', parameters: { type: 'object' } }
const OWN: Readonly<Record<string, object>> = { messages: MESSAGES_TOOL, chat: CHAT_TOOL, responses: RESPONSES_TOOL }

/** Tools that cost extra: endpoint, entry, the tool as requested, and the name that the catalogue gives it. */
const TOOLS: readonly [endpoint: Endpoint, model: string, tool: object, word: string][] = [
  ['messages', 'claude-opus-5', { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }, 'web_search'],
  ['messages', 'claude-opus-5', { type: 'web_search_20260318', name: 'web_search' }, 'web_search'],
  ['messages', 'claude-opus-5', { type: 'code_execution_20260521', name: 'code_execution' }, 'code_execution'],
  ['messages', 'claude-opus-5', { type: 'mcp_toolset', mcp_server_name: 'x' }, 'mcp'],
  ['messages', 'svc/claude-opus-5', { type: 'web_fetch_20260318', name: 'web_fetch' }, 'web_fetch'],
  ['messages', 'gpt-5.5', { type: 'web_search_20250305', name: 'web_search' }, 'web_search'],
  ['messages', 'gpt-5.5', { type: 'code_execution_20250825', name: 'code_execution' }, 'code_execution'],
  ['chat', 'gpt-5.5', { type: 'web_search' }, 'web_search'],
  ['chat', 'claude-opus-5', { type: 'web_search_preview' }, 'web_search'],
  ['chat', 'grok-4.3', { type: 'live_search' }, 'web_search'],
  ['chat', 'kimi-k2.6', { type: 'builtin_function', function: { name: '$web_search' } }, 'web_search'],
  ['responses', 'gpt-5.5', { type: 'web_search', external_web_access: false }, 'web_search'],
  ['responses', 'gpt-5.5', { type: 'web_search_preview_2025_03_11' }, 'web_search'],
  ['responses', 'gpt-5.5', { type: 'code_interpreter', container: { type: 'auto' } }, 'code_interpreter'],
  ['responses', 'gpt-5.5', { type: 'image_generation' }, 'image_generation'],
  ['responses', 'gpt-5.5', { type: 'file_search', vector_store_ids: ['vs_1'] }, 'file_search'],
  ['responses', 'gpt-5.5', { type: 'mcp', server_label: 'x', server_url: 'https://x.example' }, 'mcp'],
  ['responses', 'gpt-5.5', { type: 'shell', environment: { type: 'container_auto' } }, 'shell'],
]

test.each(TOOLS)('%s, %s: next to another tool, %j is left out', async (endpoint, model, tool, word) => {
  const own = OWN[endpoint] as object
  const { response, upstream } = await send(endpoint, model, { tools: [tool, own], tool_choice: autoOf(endpoint) })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-svc-left-out')).toBe(word)
  expect(upstream?.tools).toHaveLength(1)
  expect(JSON.stringify(upstream?.tools)).toContain('get_weather')
})

test.each(TOOLS)('%s, %s: %j alone is refused, and costs nothing', async (endpoint, model, tool, word) => {
  const { response, upstream } = await send(endpoint, model, { tools: [tool] })
  expect(upstream).toBeNull()
  const place = endpoint === 'messages' ? 'tools.0.type' : 'tools[0].type'
  expect(await messageOf(response)).toBe(
    `${place}: ${word} is run by the model's provider and not available with this model; leave the tool out and continue without it`,
  )
  expect((await running.usage(account.accountId)).map(row => [row.status, row.cost])).toEqual([[400, 0n]])
  const [holds] = await running.database.sql`select count(*)::int as open from hold`
  expect(holds?.open).toBe(0)
})

function autoOf(endpoint: Endpoint) {
  return endpoint === 'messages' ? { type: 'auto' } : 'auto'
}

const FORCED: readonly [endpoint: Endpoint, model: string, tool: object, choice: unknown][] = [
  [
    'messages',
    'claude-opus-5',
    { type: 'web_search_20250305', name: 'web_search' },
    { type: 'tool', name: 'web_search' },
  ],
  ['messages', 'gpt-5.5', { type: 'web_search_20250305', name: 'web_search' }, { type: 'tool', name: 'web_search' }],
  ['responses', 'gpt-5.5', { type: 'web_search' }, { type: 'web_search' }],
  ['responses', 'gpt-5.5', { type: 'mcp', server_label: 'x' }, { type: 'mcp', server_label: 'x' }],
  [
    'responses',
    'gpt-5.5',
    { type: 'web_search' },
    { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'web_search' }] },
  ],
]

test.each(FORCED)('%s, %s: %j is refused if it is forced', async (endpoint, model, tool, choice) => {
  const { response } = await send(endpoint, model, { tools: [OWN[endpoint], tool], tool_choice: choice })
  expect(await messageOf(response)).toMatch(/^tools[.[]1\]?\.type: \w+ is run by the model's provider/)
})

test('a choice among several tools loses those that are left out', async () => {
  const tools = [{ type: 'web_search' }, RESPONSES_TOOL]
  const choice = { type: 'allowed_tools', mode: 'required' }
  const named = { type: 'function', name: 'get_weather' }
  const { upstream } = await send('responses', 'gpt-5.5', {
    tools,
    tool_choice: { ...choice, tools: [{ type: 'web_search' }, named] },
  })
  expect(upstream).toMatchObject({ tools: [RESPONSES_TOOL], tool_choice: { ...choice, tools: [named] } })
})

test('tools that the choice excludes are left out silently', async () => {
  const { response, upstream } = await send('responses', 'gpt-5.5', {
    tools: [{ type: 'web_search' }],
    tool_choice: 'none',
  })
  expect(response.headers.get('x-svc-left-out')).toBe('web_search')
  expect(upstream).not.toHaveProperty('tools')
  expect(upstream).not.toHaveProperty('tool_choice')
})

const SWITCHES: readonly [endpoint: Endpoint, model: string, body: object, word: string, gone: string[]][] = [
  ['chat', 'gpt-5.5', { web_search_options: {} }, 'web_search', ['web_search_options']],
  ['chat', 'claude-opus-5', { web_search_options: {} }, 'web_search', ['web_search_options']],
  ['chat', 'grok-4.3', { search_parameters: { mode: 'on' } }, 'web_search', ['search_parameters']],
  [
    'chat',
    'qwen3.7-max',
    { enable_search: true, search_options: { forced_search: true } },
    'web_search',
    ['enable_search', 'search_options'],
  ],
  ['chat', 'qwen3.7-max', { enable_code_interpreter: true }, 'code_interpreter', ['enable_code_interpreter']],
  ['messages', 'claude-opus-5', { mcp_servers: [{ type: 'url', url: 'https://x.example' }] }, 'mcp', ['mcp_servers']],
]

test.each(SWITCHES)('%s, %s: %j enables nothing', async (endpoint, model, body, word, gone) => {
  const { response, upstream } = await send(endpoint, model, { ...body, tools: [OWN[endpoint]] })
  expect(response.status).toBe(200)
  expect(response.headers.get('x-svc-left-out')).toBe(word)
  for (const field of gone) expect(upstream).not.toHaveProperty(field)
  const alone = await send(endpoint, model, body)
  expect(await messageOf(alone.response)).toMatch(new RegExp(`^${gone[0]}: ${word} is run by`))
})

test('extras that are explicitly off pass', async () => {
  const { response, upstream } = await send('chat', 'qwen3.7-max', { enable_search: false })
  expect(response.headers.get('x-svc-left-out')).toBeNull()
  expect(upstream).toHaveProperty('enable_search', false)
})

test('a container without its tool is not sent upstream', async () => {
  const { response, upstream } = await send('messages', 'claude-opus-5', {
    container: { skills: [{ type: 'custom' }] },
  })
  expect(response.headers.get('x-svc-left-out')).toBe('code_execution')
  expect(upstream).not.toHaveProperty('container')
})

test('functions that only a tool left out may call can be called by the model itself', async () => {
  const own = { ...OWN.messages, allowed_callers: ['code_execution_20250825'] }
  const both = { ...OWN.messages, name: 'get_time', allowed_callers: ['direct', 'code_execution_20260120'] }
  const tools = [own, { type: 'code_execution_20250825', name: 'code_execution' }, both]
  const { response, upstream } = await send('messages', 'claude-opus-5', { tools })
  expect(response.headers.get('x-svc-left-out')).toBe('code_execution')
  expect(upstream?.tools).toEqual([OWN.messages, { ...both, allowed_callers: ['direct'] }])
})

test('tools that only cost tokens pass unchanged', async () => {
  const tools = [
    { type: 'web_fetch_20250910', name: 'web_fetch' },
    { type: 'computer_20250124', name: 'computer', display_width_px: 9 },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'brand_new_tool_20270101', name: 'new' },
  ]
  const { response, upstream } = await send('messages', 'claude-opus-5', { tools })
  expect(response.headers.get('x-svc-left-out')).toBeNull()
  expect(upstream?.tools).toEqual(tools)
})

test('an advisor tool is refused even next to other tools', async () => {
  const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'claude-fable-5' }
  const { response, upstream } = await send('messages', 'claude-haiku-4-5', { tools: [MESSAGES_TOOL, advisor] })
  expect(await messageOf(response)).toMatch(/^tools\.1\.type: advisor is run by/)
  expect(upstream).toBeNull()
})

const LATER: readonly [endpoint: Endpoint, body: object][] = [
  [
    'messages',
    {
      tools: [MESSAGES_TOOL],
      messages: [
        ...HI,
        {
          role: 'system',
          content: [
            {
              type: 'tool_addition',
              tool: { type: 'tool_definition', definition: { type: 'web_search_20260318', name: 'web_search' } },
            },
          ],
        },
      ],
    },
  ],
  [
    'responses',
    { tools: [RESPONSES_TOOL], input: [{ type: 'additional_tools', tools: [{ type: 'code_interpreter' }] }] },
  ],
  [
    'responses',
    { tools: [RESPONSES_TOOL, { type: 'namespace', name: 'web', tools: [RESPONSES_TOOL, { type: 'web_search' }] }] },
  ],
]

test.each(LATER)('%s: a tool outside the list itself is refused', async (endpoint, body) => {
  const { response, upstream } = await send(endpoint, endpoint === 'messages' ? 'claude-opus-5' : 'gpt-5.5', body)
  expect(await messageOf(response)).toMatch(/^tools: \w+ is run by the model's provider/)
  expect(upstream).toBeNull()
})

describe('agents', () => {
  /** A request as Codex sends it. Its tools are a function, a free-form tool, a web search and a namespace. */
  const CODEX =
    '{"model":"gpt-5.5","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Sửa lỗi ế"}]}],' +
    '"tools":[{"type":"function","name":"exec_command","strict":false,"parameters":{"type":"object","properties":{"n":{"maximum":9007199254740993}}}},' +
    '{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: \\"ế\\""}},' +
    '{"type":"web_search","external_web_access":false,"search_content_types":["text"]},' +
    '{"type":"namespace","name":"mcp__docs","tools":[{"type":"function","name":"read","parameters":{"type":"object"}}]}],' +
    '"tool_choice":"auto","parallel_tool_calls":true,"store":false,"include":["reasoning.encrypted_content"]}'

  test('a Codex request is served without its search, with every other byte unchanged', async () => {
    const before = provider.requests.length
    const response = await fetch(`${running.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.apiKey}` },
      body: CODEX,
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-left-out')).toBe('web_search')
    const sent = provider.requests[before]?.body.toString()
    expect(sent).toBe(
      CODEX.replace('{"type":"web_search","external_web_access":false,"search_content_types":["text"]},', ''),
    )
  })

  test("Claude Code's search, the only tool of its call, gets a 400 that it can show and continue after", async () => {
    const { response, upstream } = await send('messages', 'claude-haiku-4-5', {
      system: [{ type: 'text', text: 'You are an assistant for performing a web search tool use' }],
      messages: [{ role: 'user', content: 'Perform a web search for the query: tin tức' }],
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }],
      tool_choice: { type: 'tool', name: 'web_search' },
      stream: true,
    })
    expect(response.headers.get('content-type')).toContain('application/json')
    expect(await messageOf(response)).toContain('leave the tool out and continue without it')
    expect(upstream).toBeNull()
  })
})

test('counting tokens ignores all of this', async () => {
  const body = { tools: [{ type: 'web_search_20250305', name: 'web_search' }], speed: 'fast', fallbacks: [{}] }
  const response = await fetch(`${running.url}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: JSON.stringify({ model: 'claude-opus-5', messages: HI, ...body }),
  })
  expect(response.status).toBe(200)
})
