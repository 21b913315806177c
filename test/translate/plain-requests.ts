/**
 * Random requests in the three formats. Half have only plain conversations: turns of text and function calls, which the gateway
 * can relay without parsing them. The others also contain odd values, such as pictures, invalid types or fields that cost
 * extra.
 */

import { SETTINGS } from '../../src/generated/settings.ts'
import type { WireName } from '../../src/generated/types.ts'
import type { JsonObject, JsonValue } from '../../src/lib/json.ts'
import { pick, type Random } from '../security/mutations.ts'

const TEXTS: readonly string[] = [
  ...[
    '',
    'Hi',
    'Xin chào, hôm nay ế ẩm quá',
    'a "quoted" \\ text\nwith lines\t',
    'ends in space \u2003',
    '\u0000\u001f\u007f',
  ],
  ...['data:image/png;base64,iVBORw0KGgo=', 'gwm1.1.abc.defghijklmnopqrstuvwx', '😀\ud800', '{"type":"image"}'],
]
const NAMES = ['get_weather', 'a', 'web_search', 'mcp__files__read-it', 'n'.repeat(64)]
const ODD_NAMES = ['n'.repeat(65), 'n'.repeat(200), '_x', '9x', 'a.b', 'ế', '', 'web search']
const IDS = ['call_1', 'toolu_01', 'abcdefghi', 'c'.repeat(64)]
const ODD_IDS = ['c'.repeat(65), '', '1a', 'call:1', 'functions.f:0']
const SCHEMAS: readonly JsonValue[] = [
  {
    type: 'object',
    properties: { city: { type: 'string', description: 'Tên', enum: ['a', 'b'] } },
    required: ['city'],
  },
  { type: 'object', properties: { type: { type: 'web_search' }, image_url: {}, role: { const: 'developer' } } },
  {},
]
const { fields: FIELDS, tools: TOOLS } = SETTINGS.extras
const SOLD_TYPES = Object.values(TOOLS).flatMap(({ matches }) => matches.map(({ type }) => type.replace('*', '')))
const SOLD_FIELDS = [
  ...Object.keys(FIELDS),
  ...Object.values(TOOLS).flatMap(({ fields = [], companions = [] }) => [...fields, ...companions]),
]

/** Builds one request. `odds` is the probability that a value or member is odd instead of plain. */
class Maker {
  readonly #random: Random
  readonly #odds: number

  constructor(random: Random, odds: number) {
    this.#random = random
    this.#odds = odds
  }

  pick<Item>(items: readonly Item[]): Item {
    return pick(this.#random, items)
  }

  /** True with the given probability. */
  is(chance: number): boolean {
    return this.#random() < chance
  }

  /** The plain value, or sometimes an odd one. */
  value<Value>(plain: () => Value, odd: readonly Value[]): Value {
    return this.is(this.#odds) ? this.pick(odd) : plain()
  }

  /** The object, sometimes with an odd member added. */
  object(plain: JsonObject, odd: readonly JsonObject[]): JsonObject {
    return this.is(this.#odds) ? { ...plain, ...this.pick(odd) } : plain
  }

  list(most: number, item: () => JsonValue): JsonValue[] {
    return Array.from({ length: 1 + Math.floor(this.#random() * most) }, item)
  }

  text(): string {
    return this.pick(TEXTS)
  }

  name(): string {
    return this.value(() => this.pick(NAMES), ODD_NAMES)
  }

  id(): string {
    return this.value(() => this.pick(IDS), ODD_IDS)
  }

  /** Message content: a string, or a list of parts of which the plain ones have this type. */
  content(type: string, odd: readonly JsonValue[]): JsonValue {
    if (this.is(0.6)) return this.text()
    const part = () =>
      this.object({ type, text: this.text() }, [{ type: 'text2' }, { text: 7 }, { annotations: [] }, CACHE_BREAKPOINT])
    return this.value<JsonValue>(() => this.list(2, () => this.value<JsonValue>(part, odd)), [null, [], {}, 7])
  }

  tools(tool: () => JsonObject): JsonValue[] {
    const odd: readonly JsonObject[] = [
      ...SOLD_TYPES.map(type => ({ type, name: 'x', max_uses: 2 })),
      ...[{ google_search: {} }, { Type: 'web_search' }, { type: null }, { type: 'tool_search', execution: 'client' }],
      ...[{ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }, { name: 'no_schema' }],
      { type: 'custom', name: 'grep', custom: { name: 'n'.repeat(70) } },
    ]
    return this.list(3, () => this.value<JsonValue>(tool, odd))
  }
}

const CACHE_BREAKPOINT: JsonObject = { cache_control: { type: 'ephemeral' } }
const STRICTS = [true, false, null]

function chatRequest(make: Maker): JsonObject {
  const image = { type: 'image_url', image_url: { url: 'https://a.b/c.png' } }
  const media = [image, { type: 'file', file: { file_id: 'f' } }, { type: 'thinking', thinking: 'x' }, 'x', null, {}]
  const call = () => ({ id: make.id(), type: 'function', function: { name: make.name(), arguments: make.text() } })
  const message = () => {
    const role = make.value(() => make.pick(['user', 'assistant', 'tool', 'system', 'developer']), ['function', 'User'])
    const content = make.is(0.1) ? null : make.content('text', media)
    const odd = [
      ...[{ prefix: true }, { partial: true }, { name: 'x'.repeat(80) }, { Role: 'user' }, { reasoning_content: 'hm' }],
      ...[{ function_call: { name: 'f', arguments: '' } }, { tools: [{ type: 'web_search' }] }, { refusal: 'no' }],
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'gwm1.1.a.b' }] },
    ]
    const calls = role === 'assistant' && make.is(0.5) ? { tool_calls: make.list(2, call) } : {}
    return make.object({ role, content, ...calls, ...(role === 'tool' && { tool_call_id: make.id() }) }, odd)
  }
  const tool = () => {
    const parameters = make.value(() => make.pick(SCHEMAS), [{ $schema: 'x', type: 'object' }])
    const strict = make.is(0.2) ? { strict: make.pick(STRICTS) } : {}
    const fn = make.object({ name: make.name(), description: make.text(), parameters, ...strict }, [{ Name: 'x' }])
    return make.object({ type: 'function', function: fn }, [CACHE_BREAKPOINT, { type: 'Function' }, { Function: {} }])
  }
  return { messages: make.list(5, message), ...(make.is(0.7) && { tools: make.tools(tool) }) }
}

function messagesRequest(make: Maker): JsonObject {
  const image = { type: 'image', source: { type: 'url', url: 'https://a.b/c.png' } }
  const addition = { type: 'tool_addition', tool: { definition: { type: 'web_search_20250305', name: 'w' } } }
  const document = { type: 'document', source: { type: 'file', file_id: 'f' } }
  const thinking = { type: 'thinking', thinking: 'hm', signature: 'gwm1.1.a.b' }
  const marked = { type: 'redacted_thinking', data: 'gwm1.1.a.b' }
  const media = [image, addition, document, thinking, marked, { type: 'thinking', thinking: 'hm' }, 'x', {}]
  const block = () => {
    if (make.is(0.3)) return { type: 'tool_use', id: make.id(), name: make.name(), input: make.pick(SCHEMAS) }
    if (make.is(0.1)) return { type: 'thinking', thinking: make.text(), signature: 'EqQB+/8_-g==' }
    if (make.is(0.1)) return { type: 'redacted_thinking', data: 'EmwK' }
    if (make.is(0.5)) return { type: 'text', text: make.text() }
    return { type: 'tool_result', tool_use_id: make.id(), content: make.content('text', media) }
  }
  const message = () => {
    const role = make.value(() => make.pick(['user', 'assistant', 'user', 'assistant', 'system']), ['x'])
    const blocks = () =>
      make.list(3, () => make.value<JsonValue>(() => make.object(block(), [CACHE_BREAKPOINT, { title: 'x' }]), media))
    const content = make.is(0.5) ? make.content('text', media) : blocks()
    return make.object({ role, content }, [{ output_config: { effort: 'low' } }, { Content: '' }, { tools: [{}] }])
  }
  const tool = () => {
    const schema = make.value(() => make.pick(SCHEMAS), [{ $schema: 'x', type: 'object' }])
    const strict = make.is(0.2) ? { strict: make.pick(STRICTS) } : {}
    const type = make.is(0.2) ? { type: 'custom' } : {}
    const odd = [CACHE_BREAKPOINT, { Type: 'x' }, { defer_loading: true }, { type: 'Custom' }, { input_examples: [] }]
    return make.object({ ...type, name: make.name(), description: make.text(), input_schema: schema, ...strict }, odd)
  }
  const system = make.is(0.7) ? { system: make.content('text', media) } : {}
  return {
    max_tokens: 5_000,
    ...system,
    messages: make.list(5, message),
    ...(make.is(0.7) && { tools: make.tools(tool) }),
  }
}

function responsesRequest(make: Maker): JsonObject {
  const image = { type: 'input_image', image_url: 'https://a.b/c.png' }
  const media = [image, { type: 'input_file', file_id: 'f' }, 'x', null, {}]
  const item = () => {
    const role = make.value(() => make.pick(['user', 'assistant', 'system', 'developer']), ['x'])
    const odd = [
      ...[
        { id: 'msg_1' },
        { id: 'msg_gwm1.1.a.b' },
        { type: 'item_reference', id: 'x' },
        { type: 'reasoning', summary: [] },
      ],
      ...[
        { tools: [{ type: 'web_search' }] },
        { type: 'additional_tools' },
        { type: 'custom_tool_call' },
        { status: 'x' },
      ],
      { type: 'reasoning', encrypted_content: 'gwm1.1.a.b' },
    ]
    const call = { type: 'function_call', call_id: make.id(), name: make.name(), arguments: make.text() }
    const output = { type: 'function_call_output', call_id: make.id(), output: make.text() }
    const message = { role, content: make.content('input_text', media), ...(make.is(0.5) && { type: 'message' }) }
    return make.object(make.pick<JsonObject>([message, message, call, output]), odd)
  }
  const tool = () => {
    const parameters = make.value(() => make.pick(SCHEMAS), [{ $schema: 'x', type: 'object' }])
    const strict = make.is(0.5) ? { strict: make.pick(STRICTS) } : {}
    return make.object({ type: 'function', name: make.name(), description: make.text(), parameters, ...strict }, [
      CACHE_BREAKPOINT,
    ])
  }
  const instructions = make.is(0.5) ? { instructions: make.text() } : {}
  const input = make.is(0.1) ? make.text() : make.list(5, item)
  return { ...instructions, input, ...(make.is(0.7) && { tools: make.tools(tool) }) }
}

const REQUESTS: Readonly<Record<WireName, (make: Maker) => JsonObject>> = {
  chat_completions: chatRequest,
  messages: messagesRequest,
  responses: responsesRequest,
}

const SCHEMA_FORMAT: JsonValue = { type: 'json_schema', json_schema: { name: 'r', schema: { type: 'object' } } }
const CHOICES: readonly JsonValue[] = [
  ...[
    'auto',
    'required',
    'required',
    'none',
    { type: 'any' },
    { type: 'any' },
    { type: 'tool', name: 'a' },
    { type: 'auto' },
  ],
  ...[
    { type: 'function', name: 'a' },
    { type: 'function', function: { name: 'n'.repeat(70) } },
  ],
]
const THINKING: readonly JsonValue[] = [
  { type: 'adaptive' },
  { type: 'enabled', budget_tokens: 2_000 },
  { type: 'disabled' },
]

/** Settings that a request of any format may have. */
const FIELDS_OF_CALLS: Readonly<Record<string, readonly JsonValue[]>> = {
  max_tokens: [1, 5_000, 0, 1e9, -1, 'x', null],
  max_completion_tokens: [7, 1e9],
  max_output_tokens: [7, 1e9],
  stream: [true, false, null, 'x'],
  stream_options: [{ include_usage: true }, {}],
  n: [1, 2],
  temperature: [0, 2, 9],
  top_p: [0.5],
  top_k: [3],
  stop: ['x', ['a', 'b', 'c', 'd', 'e', 'f']],
  stop_sequences: [['a']],
  tool_choice: CHOICES,
  parallel_tool_calls: [false],
  response_format: [SCHEMA_FORMAT, { type: 'json_object' }],
  output_config: [{ effort: 'high' }, { format: SCHEMA_FORMAT }],
  text: [{ format: { type: 'json_schema', schema: {} } }],
  reasoning_effort: ['low', 'none', 'max'],
  reasoning: [{ effort: 'high' }, { summary: 'auto' }],
  thinking: THINKING,
  user: ['u'.repeat(80), 'ế'],
  metadata: [{ user_id: 'ế' }],
  store: [false, true],
  include: [['reasoning.encrypted_content']],
  functions: [[{ name: 'x' }]],
  previous_response_id: ['resp_1'],
  thread: [{ type: 'create' }],
  Tools: [[]],
}
const SETTINGS_OF_CALLS = [
  ...Object.entries(FIELDS_OF_CALLS),
  ...SOLD_FIELDS.map((field): [string, JsonValue[]] => [field, ['x', true, {}]]),
]

/** Builds one request. Half of all requests have no odd values in their conversation; in the others, odd values are rare. */
export function plainRequest(random: Random, format: WireName): JsonObject {
  const make = new Maker(random, random() < 0.5 ? 0 : 0.05)
  const request: JsonObject = { model: 'm', ...REQUESTS[format](make) }
  for (let left = make.pick([0, 1, 2, 3]); left > 0; left--) {
    const [key, values] = make.pick(SETTINGS_OF_CALLS)
    request[key] = make.pick(values)
  }
  // These members depend on the request's tools and history.
  if (request.tools !== undefined && random() < 0.4) request.tool_choice = pick(random, CHOICES)
  if (random() < 0.4) request.thinking = pick(random, THINKING)
  return request
}
