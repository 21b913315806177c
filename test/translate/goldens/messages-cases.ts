/** Requests of clients that speak the messages format. Prefer extending a rich case to adding a thin one. */

import type { JsonObject } from '../../../src/translate/translator.ts'

const PNG = 'iVBORw0KGgo='
const JPEG = '/9j/4AAQSkZJRg=='
const text = (value: string) => ({ type: 'text', text: value })
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }
const ephemeral = { cache_control: { type: 'ephemeral' } }
const weather = {
  name: 'get_weather',
  description: 'Weather at a place',
  input_schema: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
}
const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })
const result = (id: string, content: unknown, more: object = {}) => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
})
const ask = (...content: object[]) => ({ role: 'user', content })
const say = (...content: object[]) => ({ role: 'assistant', content })

const hi = { max_tokens: 1000, messages: [{ role: 'user', content: 'hi' }] }

// biome-ignore format: one line per message
export const MESSAGES_CASES: Record<string, object> = {
  'text': {
    max_tokens: 128_000,
    messages: [
      { role: 'user', content: 'one' },
      say(text('two'), text(''), text(' and a half')),
      ask(text('three'), text(''), text('four')),
      ask(text('five')),
      { role: 'assistant', content: '' },
      { role: 'assistant', content: [] },
      { role: 'user', content: '6 🙂 đồng' },
    ],
  },
  'system': {
    max_tokens: 10,
    system: [
      text('x-someone-billing-header: cc_version=1; cch=42'),
      { ...text('You are careful.'), ...ephemeral },
      text('  '),
      text('Answer in French.'),
    ],
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'system', content: [{ ...text('Now in German.'), ...ephemeral }], output_config: { effort: 'low' } },
      { role: 'assistant', content: 'Hallo' },
      { role: 'user', content: 'bye' },
    ],
  },
  'images': {
    max_tokens: 100,
    messages: [
      ask(
        text('what are these?'),
        { ...image, ...ephemeral },
        { type: 'image', source: { type: 'base64', media_type: 'image/jpg', data: JPEG } },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      ),
    ],
  },
  'documents': {
    max_tokens: 100,
    messages: [
      ask(
        { type: 'document', title: 'paper.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
        { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }, citations: { enabled: true } },
        { type: 'document', title: 'notes', source: { type: 'text', media_type: 'text/plain', data: 'plain notes' } },
        { type: 'document', source: { type: 'content', content: [text('block one'), text('block two')] } },
        { type: 'search_result', title: 'T', source: 'https://example.com', content: [text('found'), text('more')] },
        text('summarise'),
      ),
    ],
  },
  'tool definitions': {
    ...hi,
    tools: [
      { ...weather, strict: true, ...ephemeral, defer_loading: true, eager_input_streaming: true, input_examples: [{ city: 'Hue' }] },
      { name: 'now', type: 'custom', input_schema: { type: 'object' } },
      { name: 'loose', strict: true, input_schema: { type: 'object', properties: { a: { type: 'string' } } } },
      { type: 'tool_search_tool_regex_20251119', name: 'tool_search_tool_regex' },
    ],
    tool_choice: { type: 'tool', name: 'get_weather', disable_parallel_tool_use: true },
  },
  'tool loop': {
    max_tokens: 1000,
    tools: [weather],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    messages: [
      { role: 'user', content: 'weather?' },
      say(text('Let me look.'), use('toolu_1', 'get_weather', { city: 'Hue' }), use('toolu_2', 'get_weather', {})),
      ask(
        text('by the way'),
        result('toolu_2', [text('no city'), text('given')], { is_error: true }),
        result('toolu_1', [text('sunny'), image, { type: 'tool_reference', tool_name: 'other' }], ephemeral),
        text('go on'),
      ),
      say(use('toolu_3', 'get_weather', { city: 'Hanoi' })),
      ask(result('toolu_3', undefined)),
    ],
  },
  'names and ids that do not fit': {
    max_tokens: 1000,
    tools: [
      { name: `mcp__github__${'very_long_name_'.repeat(5)}`, input_schema: { type: 'object' } },
      { name: '_private.tool', input_schema: { type: 'object' } },
      { name: 'fine', input_schema: { type: 'object' } },
    ],
    tool_choice: { type: 'tool', name: '_private.tool' },
    messages: [
      { role: 'user', content: 'hi' },
      say(use('functions.fine:0', '_private.tool', {}), use('x'.repeat(80), 'gone_tool', { a: 1 })),
      ask(result('functions.fine:0', 'a'), result('x'.repeat(80), 'b')),
      say(use('functions.fine:0', 'fine', {})),
      ask(result('functions.fine:0', 'again')),
    ],
  },
  'thinking in the history': {
    max_tokens: 1000,
    thinking: { type: 'enabled', budget_tokens: 8000 },
    temperature: 1,
    messages: [
      { role: 'user', content: 'hi' },
      say(
        { type: 'thinking', thinking: 'first', signature: 'c2ln' },
        { type: 'redacted_thinking', data: 'xyz' },
        { type: 'thinking', thinking: 'second', signature: '' },
        text('answer'),
      ),
      { role: 'user', content: 'and?' },
      say({ type: 'thinking', thinking: 'only thought', signature: '' }),
      { role: 'user', content: 'well?' },
      say(text('plain answer')),
      { role: 'user', content: 'ok' },
    ],
  },
  'effort': { ...hi, thinking: { type: 'adaptive', display: 'updates' }, output_config: { effort: 'max' }, temperature: 0.5 },
  'effort with tools': { ...hi, tools: [weather], thinking: { type: 'adaptive' }, output_config: { effort: 'medium' } },
  'thinking off': { ...hi, thinking: { type: 'disabled' }, output_config: { effort: 'high' }, temperature: 0.5, stream: true },
  'forced tool with thinking': { ...hi, tools: [weather], tool_choice: { type: 'any' }, thinking: { type: 'enabled', budget_tokens: 20_000 } },
  'no tools': { ...hi, tools: [], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  'structured output': {
    ...hi,
    output_config: {
      format: {
        type: 'json_schema',
        schema: { type: 'object', title: 'My reply!', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false },
      },
    },
  },
  'structured output of an old kind, with tools': {
    ...hi,
    tools: [weather],
    output_format: { type: 'json_schema', schema: { type: 'object', properties: { a: { type: 'string', minLength: 2 } } } },
  },
  'sampling, stops and hints': {
    ...hi,
    temperature: 0.9,
    top_p: 0.8,
    top_k: 5,
    stop_sequences: ['END', '', ' ', 'END', 'STOP'],
    metadata: { user_id: 'user@example.com' },
    service_tier: 'auto',
    stream: true,
    context_management: { edits: [] },
    container: 'c',
    inference_geo: 'us',
    speed: 'fast',
    mcp_servers: [],
    unknown_field: 1,
  },
  'a long end user id': { ...hi, metadata: { user_id: `{"device_id":"${'0123456789'.repeat(17)}"}` } },
  'prefill': { max_tokens: 10, messages: [{ role: 'user', content: 'count' }, { role: 'assistant', content: 'one, ' }] },
  'blocks of the provider’s own': {
    max_tokens: 1000,
    messages: [
      { role: 'user', content: 'search' },
      say(
        text('I will search.'),
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
        text('Found it.'),
      ),
      ask({ type: 'container_upload', file_id: 'f' }, text('more')),
      say({ type: 'compaction', content: 'Summary so far.' }, { type: 'fallback', from: {}, to: {} }),
      { role: 'user', content: 'go on' },
    ],
  },
  'tools that come and go': {
    max_tokens: 1000,
    tools: [weather, { name: 'old', input_schema: { type: 'object' } }],
    messages: [
      { role: 'user', content: 'hi' },
      {
        role: 'system',
        content: [
          { type: 'tool_addition', tool: { type: 'tool_definition', definition: { name: 'fresh', input_schema: { type: 'object' } } } },
          { type: 'tool_removal', tool: { type: 'tool_reference', name: 'old' } },
        ],
      },
    ],
  },
  'hostile data': {
    max_tokens: 0,
    messages: [
      { role: 'user', content: 'hi' },
      say(JSON.parse('{"type":"tool_use","id":"t","name":"f","input":{"__proto__":{"polluted":true},"constructor":{"a":1}}}')),
      ask(result('t', '__proto__', JSON.parse('{"__proto__":{"x":1}}'))),
    ],
    tools: [{ name: 'f', input_schema: JSON.parse('{"type":"object","properties":{"__proto__":{"type":"object"}}}') }],
  },
}

export type Case = readonly [string, JsonObject]

export const messagesCases = (): Case[] => Object.entries(MESSAGES_CASES) as [string, JsonObject][]
