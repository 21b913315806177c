/** Requests of clients that speak the chat format. Prefer extending a rich case to adding a thin one. */

import type { JsonObject } from '../../../src/translate/translator.ts'

const PNG = 'iVBORw0KGgo='
const JPEG = '/9j/4AAQSkZJRg=='
const WEBP = 'UklGRhoAAABXRUJQVlA4TA=='
const text = (value: string) => ({ type: 'text', text: value })
const url = (value: string) => ({ type: 'image_url', image_url: { url: value, detail: 'high' } })
const user = (content: unknown) => ({ role: 'user', content })
const call = (id: string, name: string, args: unknown) => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather at a place',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    },
    strict: true,
  },
}
const hi = { max_tokens: 1000, messages: [user('hi')] }
const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  description: 'A reply',
  properties: {
    a: { type: 'string', minLength: 2 },
    b: { oneOf: [{ type: 'integer', minimum: 3 }, { type: 'null' }] },
  },
  required: ['a'],
}

// biome-ignore format: one line per message
export const CHAT_CASES: Record<string, object> = {
  'text': {
    messages: [
      { role: 'system', content: 'You are careful.' },
      { role: 'developer', content: [text('Answer in French.'), text('Briefly.')] },
      { role: 'user', name: 'ann', content: 'one' },
      { role: 'assistant', content: 'two' },
      { role: 'assistant', content: '' },
      { role: 'assistant', content: null },
      user([text('three'), text('\n'), text('four')]),
      user(''),
      user('6 🙂 đồng'),
    ],
  },
  'instructions in the middle': {
    max_tokens: 10,
    messages: [
      user('hi'),
      { role: 'system', content: 'Now in German.' },
      { role: 'assistant', content: 'Hallo' },
      { role: 'developer', content: 'Now in Danish.' },
      user('bye'),
      { role: 'system', content: 'Be brief.' },
    ],
  },
  'instructions only': { max_tokens: 10, messages: [{ role: 'system', content: 'first' }, { role: 'system', content: 'second' }] },
  'cache breakpoints': {
    max_tokens: 10,
    messages: [
      { role: 'system', content: [{ ...text('long'), cache_control: { type: 'ephemeral' } }] },
      user([{ ...text('context'), cache_control: { type: 'ephemeral' } }, text('question')]),
    ],
    tools: [{ ...weather, cache_control: { type: 'ephemeral' } }],
  },
  'images': {
    max_tokens: 100,
    messages: [
      user([
        text('what are these?'),
        url(`data:image/png;base64,${PNG}`),
        url(`DATA:image/JPG;charset=utf-8;base64,${JPEG}`),
        { type: 'image_url', image_url: `data:image/webp;base64,${WEBP}` },
      ]),
    ],
  },
  'an image URL': { max_tokens: 100, messages: [user([url('https://example.com/a.png'), text('what is it?')])] },
  'files': {
    max_tokens: 100,
    messages: [
      user([{ type: 'file', file: { filename: 'paper.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }]),
      { role: 'assistant', content: 'I see' },
      user([
        { type: 'file', file: { file_data: 'JVBERi0=' } },
        { type: 'file', file: { filename: 'a.txt', file_data: 'data:text/plain;base64,aGVsbG8=' } },
        { type: 'file', file: { filename: 'a.png', file_data: `data:image/png;base64,${PNG}` } },
      ]),
    ],
  },
  'tool definitions': {
    ...hi,
    tools: [
      weather,
      { type: 'function', function: { name: 'now' } },
      { type: 'function', function: { name: 'empty', parameters: {} } },
      { type: 'function', function: { name: 'loose', strict: true, parameters: { type: 'object', properties: {} } } },
    ],
    tool_choice: { type: 'function', function: { name: 'now' } },
    parallel_tool_calls: false,
  },
  'one call only, no choice': { ...hi, tools: [weather], parallel_tool_calls: false },
  'no tool now': { ...hi, tools: [weather], tool_choice: 'none', parallel_tool_calls: false },
  'no tools': { ...hi, tools: [], tool_choice: 'auto', parallel_tool_calls: true },
  'allowed tools': {
    ...hi,
    tools: [weather, { type: 'function', function: { name: 'now' } }],
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'now' } }] } },
  },
  'tool loop': {
    max_completion_tokens: 1000,
    tools: [weather],
    messages: [
      user('weather?'),
      { role: 'assistant', content: 'Let me look.', tool_calls: [call('call_1', 'get_weather', '{"city":"Hue"}'), call('call_2', 'get_weather', '')] },
      { role: 'tool', tool_call_id: 'call_2', content: [text('no city'), text('given')] },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      user([text('and now'), url(`data:image/png;base64,${PNG}`)]),
      { role: 'assistant', content: null, reasoning_content: 'hm', tool_calls: [call('functions.get_weather:0', 'get_weather', '{"city":')] },
      { role: 'tool', tool_call_id: 'functions.get_weather:0', content: '' },
    ],
  },
  'ids that repeat, results in between': {
    max_tokens: 100,
    messages: [
      user('hi'),
      { role: 'assistant', tool_calls: [call('call_0', 'f', '{}'), call('call_0', 'g', '{"x":1}')] },
      user('wait'),
      { role: 'tool', tool_call_id: 'call_0', content: 'first' },
      { role: 'tool', tool_call_id: 'call_0', content: 'second' },
      { role: 'assistant', tool_calls: [call('call_0', 'f', { y: 2 })] },
      { role: 'tool', tool_call_id: 'call_0', content: 'third' },
      { role: 'assistant', content: 'done' },
      user('bye'),
    ],
  },
  'functions of old': {
    max_tokens: 100,
    functions: [{ name: 'f', parameters: { type: 'object', properties: {} } }],
    function_call: { name: 'f' },
    messages: [
      user('hi'),
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '[1]' } },
      { role: 'function', name: 'f', content: 'result' },
    ],
  },
  'names that do not fit': {
    ...hi,
    tools: [`${'long_name_'.repeat(9)}`, 'a.b', 'a_b'].map(name => ({ type: 'function', function: { name } })),
    tool_choice: { type: 'function', function: { name: 'a.b' } },
  },
  'effort high': { ...hi, max_tokens: 32_000, reasoning_effort: 'high', temperature: 0.3, top_p: 0.5 },
  'effort low, little room': { ...hi, max_tokens: 1024, reasoning_effort: 'low' },
  'effort none': { ...hi, reasoning_effort: 'none', temperature: 0.3 },
  'effort without a cap': { messages: [user('hi')], reasoning_effort: 'minimal' },
  'budget of other makers': { ...hi, max_tokens: 32_000, thinking: { type: 'enabled', budget_tokens: 5000 } },
  'effort in a tool loop': {
    max_tokens: 32_000,
    reasoning_effort: 'medium',
    tools: [weather],
    messages: [
      user('hi'),
      { role: 'assistant', tool_calls: [call('c', 'get_weather', '{"city":"Hue"}')] },
      { role: 'tool', tool_call_id: 'c', content: 'sunny' },
    ],
  },
  'forced tool with effort': { ...hi, max_tokens: 32_000, tools: [weather], tool_choice: 'required', reasoning_effort: 'high' },
  'json object': { ...hi, response_format: { type: 'json_object' } },
  'json schema': { ...hi, response_format: { type: 'json_schema', json_schema: { name: 'n', strict: true, schema } } },
  'json schema with tools': { ...hi, tools: [weather], response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } },
  'json schema that recurs': {
    ...hi,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'n', schema: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } } } },
    },
  },
  'plain text asked for': { ...hi, response_format: { type: 'text' } },
  'sampling, stops and hints': {
    messages: [user('hi')],
    max_tokens: null,
    temperature: 1.7,
    top_p: 0.9,
    top_k: 3,
    n: 1,
    stop: ['END', ' ', '\n', ''],
    user: 'user-1',
    seed: 1,
    logprobs: true,
    top_logprobs: 2,
    presence_penalty: 1,
    frequency_penalty: 1,
    logit_bias: { 1: 2 },
    store: true,
    metadata: { a: 'b' },
    verbosity: 'low',
    prediction: null,
    prompt_cache_key: 'k',
    modalities: ['text'],
    service_tier: 'auto',
    stream: true,
    stream_options: { include_usage: true },
    unknown_field: 1,
  },
  'another service tier, one stop': { ...hi, service_tier: 'flex', stop: 'END', safety_identifier: 's'.repeat(99) },
  'prefill': { max_tokens: 10, messages: [user('count'), { role: 'assistant', content: 'one, ' }] },
  'a refusal in the history': {
    max_tokens: 10,
    messages: [user('hi'), { role: 'assistant', content: null, refusal: 'No.' }, user('why?'), { role: 'assistant', content: [{ type: 'refusal', refusal: 'Because.' }] }, user('ok')],
  },
  'hostile data': {
    max_tokens: 1_000_000,
    messages: [
      user('hi'),
      { role: 'assistant', tool_calls: [call('c', 'f', '{"__proto__":{"polluted":true},"constructor":{"a":1}}')] },
      { role: 'tool', tool_call_id: 'c', content: '__proto__' },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: JSON.parse('{"type":"object","properties":{"__proto__":{"type":"object"}}}') } }],
  },
}

export const chatCases = (): [string, JsonObject][] => Object.entries(CHAT_CASES) as [string, JsonObject][]
