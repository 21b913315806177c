/** Non-streamed replies in both directions, and an upstream's 200 responses whose body is not a reply. */

import { describe, expect, test } from 'vitest'
import type { DialectFacts } from '../../codegen/generated/types.ts'
import type { GatewayError } from '../../src/errors.ts'
import type { JsonObject } from '../../src/translate/translator.ts'
import { chatViaMessages, contextOf, dialectOf, messagesViaChat } from './support.ts'

const SCHEMA = { type: 'object', properties: { x: {} } }

function toMessages(reply: object, request: JsonObject = {}, dialect: DialectFacts = {}) {
  const body = { max_tokens: 100, messages: [{ role: 'user', content: 'hi' }], ...request }
  const context = contextOf({ upstream: 'chat_completions', dialect: dialectOf(dialect) })
  return messagesViaChat(body, context).reply(reply as JsonObject)
}

function toChat(reply: object, request: JsonObject = {}, dialect: DialectFacts = {}) {
  const body = { messages: [{ role: 'user', content: 'hi' }], ...request }
  return chatViaMessages(body, contextOf({ upstream: 'messages', dialect: dialectOf(dialect) })).reply(
    reply as JsonObject,
  )
}

const completion = (message: object, finish: string | null = 'stop') => ({
  id: 'chatcmpl-up',
  object: 'chat.completion',
  model: 'upstream-model',
  system_fingerprint: 'fp',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish, logprobs: null }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, prompt_tokens_details: { cached_tokens: 4 } },
})
const message = (content: object[], stop = 'end_turn') => ({
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  model: 'upstream-model',
  content,
  stop_reason: stop,
  stop_sequence: null,
  usage: { input_tokens: 6, cache_read_input_tokens: 4, output_tokens: 5 },
})
const text = (value: string) => ({ type: 'text', text: value })
const thinking = (value: string) => ({ type: 'thinking', thinking: value, signature: '' })
const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })
const call = (id: string | undefined, name: string, args: unknown) => ({
  ...(id !== undefined && { id }),
  type: 'function',
  function: { name, arguments: args },
})

describe('a chat reply as a messages reply', () => {
  test('has every field of one', () => {
    expect(toMessages(completion({ content: 'Hello' })).body).toEqual({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'client-model',
      content: [text('Hello')],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 6, cache_creation_input_tokens: 0, cache_read_input_tokens: 4, output_tokens: 5 },
    })
  })

  // biome-ignore format: one reply per line
  test.each<[string, object, object[], string]>([
    ['text in parts', completion({ content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }] }), [text('ab')], 'end_turn'],
    ['reasoning', completion({ content: 'a', reasoning_content: 'hm' }), [thinking('hm'), text('a')], 'end_turn'],
    ['reasoning under its other name', completion({ content: 'a', reasoning: 'hm' }), [thinking('hm'), text('a')], 'end_turn'],
    ['reasoning in details', completion({ content: 'a', reasoning_details: [{ type: 'reasoning.text', text: 'hm' }] }), [thinking('hm'), text('a')], 'end_turn'],
    ['reasoning in parts', completion({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }, { type: 'text', text: 'a' }] }), [thinking('hm'), text('a')], 'end_turn'],
    ['calls', completion({ content: 'a', tool_calls: [call('c1', 'f', '{"x":1}'), call('c2', 'g', '')] }, 'tool_calls'), [text('a'), use('c1', 'f', { x: 1 }), use('c2', 'g', {})], 'tool_use'],
    ['calls that end with stop', completion({ content: null, tool_calls: [call('c1', 'f', '{}')] }), [use('c1', 'f', {})], 'tool_use'],
    ['arguments as an object, ids missing', completion({ content: '', tool_calls: [call(undefined, 'f', { x: 1 }), call('', 'g', null)] }), [use('toolu_1', 'f', { x: 1 }), use('toolu_2', 'g', {})], 'tool_use'],
    ['arguments that are not JSON', completion({ tool_calls: [call('c1', 'f', '{"x":')] }, 'length'), [use('c1', 'f', { _arguments: '{"x":' })], 'max_tokens'],
    ['ids that the format does not allow', completion({ tool_calls: [call('functions.f:0', 'f', '{}')] }), [use('functions_f_0', 'f', {})], 'tool_use'],
    ['a legacy function call', completion({ content: null, function_call: { name: 'f', arguments: '{}' } }, 'function_call'), [use('toolu_1', 'f', {})], 'tool_use'],
    ['a refusal', completion({ content: null, refusal: 'No.' }), [text('No.')], 'refusal'],
    ['a filtered reply', completion({ content: 'a' }, 'content_filter'), [text('a')], 'refusal'],
    ['a cut reply', completion({ content: 'a' }, 'length'), [text('a')], 'max_tokens'],
    ['a reply that Z.AI blocked', completion({ content: 'a' }, 'sensitive'), [text('a')], 'refusal'],
    ['a reply that Gemini blocked', completion({ content: 'a' }, 'content_filter: PROHIBITED_CONTENT'), [text('a')], 'refusal'],
    ['a reply that Gemini blocked, by its own name', completion({ content: 'a' }, 'SAFETY'), [text('a')], 'refusal'],
    ['a full context window', completion({ content: 'a' }, 'model_context_window_exceeded'), [text('a')], 'max_tokens'],
    ['a reply that Mistral cut', completion({ content: 'a' }, 'model_length'), [text('a')], 'max_tokens'],
    ['a call that Gemini could not read', completion({ content: null }, 'function_call_filter: MALFORMED_FUNCTION_CALL'), [], 'max_tokens'],
    ['such a call after a text, by its own name', completion({ content: 'a' }, 'MALFORMED_FUNCTION_CALL'), [text('a')], 'max_tokens'],
    ['a cut call', completion({ tool_calls: [call('c1', 'f', '{"x":')] }, 'MAX_TOKENS'), [use('c1', 'f', { _arguments: '{"x":' })], 'max_tokens'],
    ['no finish reason', completion({ content: 'a' }, null), [text('a')], 'end_turn'],
    ['no output', completion({ content: null }), [], 'end_turn'],
    ['a tool call without a tool', completion({ content: 'a', tool_calls: [] }, 'tool_calls'), [text('a')], 'end_turn'],
  ])('%s', (_, reply, content, stopReason) => {
    expect(toMessages(reply).body).toMatchObject({ content, stop_reason: stopReason })
  })

  test('reasoning in a tag', () => {
    const reply = completion({ content: '<think>\nhm\n</think>\n\nHello <think>' })
    const { body } = toMessages(reply, {}, { reasoning: { tag: 'think' } })
    expect(body.content).toEqual([thinking('\nhm\n'), text('Hello <think>')])
    expect(toMessages(reply).body.content).toEqual([text('<think>\nhm\n</think>\n\nHello <think>')])
  })

  test('takes the choice with index 0 and restores tool names', () => {
    const long = `mcp__${'x'.repeat(80)}`
    const body = {
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      tools: [{ name: long, input_schema: {} }],
    }
    const translation = messagesViaChat(body, contextOf({ upstream: 'chat_completions' }))
    const [tool] = translation.upstreamBody.tools as { function: { name: string } }[]
    const other = { index: 1, message: { content: 'no' }, finish_reason: 'stop' }
    const first = completion({ content: null, tool_calls: [call('c', tool!.function.name, '{}')] }).choices[0]!
    expect(translation.reply({ choices: [other, first] }).body.content).toEqual([use('c', long, {})])
  })

  test('a JSON reply requested through a tool arrives as text', () => {
    const request = { output_config: { format: { type: 'json_schema', schema: SCHEMA } } }
    const reply = completion({ content: null, tool_calls: [call('c', 'json_reply', '{"x":1}')] }, 'tool_calls')
    const { body } = toMessages(reply, request, { structured_output: { method: 'tool' } })
    expect(body).toMatchObject({ content: [text('{"x":1}')], stop_reason: 'end_turn' })
  })

  test('a JSON reply requested in the prompt loses its code fence', () => {
    const request = { output_config: { format: { type: 'json_schema', schema: SCHEMA } } }
    const reply = completion({ content: '```json\n{"x":1}\n```' })
    expect(toMessages(reply, request, { structured_output: { method: 'prompt' } }).body.content).toEqual([
      text('{"x":1}'),
    ])
  })

  test('estimates missing usage for the client, but never for the bill', () => {
    const { body, usage } = toMessages({ choices: [{ message: { content: 'Hello' } }] })
    expect(usage.state).toBe('missing')
    expect(body.usage).toMatchObject({ input_tokens: 42, output_tokens: expect.any(Number) })
  })

  test.each<[string, object, string]>([
    ['an error', { error: { message: 'x', type: 'server_error' } }, 'upstream_failed'],
    ['an error without choices', { choices: [], error: { message: 'x', code: 429 } }, 'upstream_rate_limited'],
    [
      'an unusual outcome field',
      { base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
      'upstream_misconfigured',
    ],
    ['no choices', { choices: [] }, 'upstream_failed'],
    ['nothing', {}, 'upstream_failed'],
    ['a failed finish reason', completion({ content: 'a' }, 'error'), 'upstream_failed'],
    ['insufficient resources', completion({ content: 'a' }, 'insufficient_system_resource'), 'upstream_failed'],
  ])('is refused if the 200 contains %s', (_, reply, code) => {
    expect(() => toMessages(reply)).toThrow(expect.objectContaining({ code }) as GatewayError)
  })
})

describe('a messages reply as a chat reply', () => {
  test('has every field of one', () => {
    expect(toChat(message([text('Hello')])).body).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_790_000_000,
      model: 'client-model',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hello', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 15,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 0 },
      },
    })
  })

  // biome-ignore format: one reply per line
  test.each<[string, object, object, string]>([
    ['all text blocks', message([text('a'), text(''), text('b')]), { content: 'ab' }, 'stop'],
    ['thinking', message([{ type: 'thinking', thinking: 'h', signature: 's' }, { type: 'thinking', thinking: 'm', signature: 's' }, text('a')]), { content: 'a', reasoning_content: 'h\n\nm' }, 'stop'],
    ['calls only', message([use('t1', 'f', { x: 1 })], 'tool_use'), { content: null, tool_calls: [call('t1', 'f', '{"x":1}')] }, 'tool_calls'],
    ['calls with text', message([text('a'), use('t1', 'f', {}), text('b')], 'tool_use'), { content: 'a\n\nb', tool_calls: [call('t1', 'f', '{}')] }, 'tool_calls'],
    ['blocks that clients do not know', message([{ type: 'redacted_thinking', data: 'x' }, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }, { type: 'web_search_tool_result', content: [] }, { type: 'new' }, text('a')]), { content: 'a' }, 'stop'],
    ['no output', message([]), { content: '' }, 'stop'],
    ['max_tokens', message([text('a')], 'max_tokens'), { content: 'a' }, 'length'],
    ['model_context_window_exceeded', message([text('a')], 'model_context_window_exceeded'), { content: 'a' }, 'length'],
    ['stop_sequence', message([text('a')], 'stop_sequence'), { content: 'a' }, 'stop'],
    ['pause_turn', message([text('a')], 'pause_turn'), { content: 'a' }, 'stop'],
    ['refusal', message([text('a')], 'refusal'), { content: 'a' }, 'content_filter'],
    ['an explained refusal', { ...message([text('a')], 'refusal'), stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.' } }, { content: 'a', refusal: 'No.' }, 'content_filter'],
    ['a future stop reason', message([text('a')], 'compaction'), { content: 'a' }, 'stop'],
  ])('%s', (_, reply, expected, finishReason) => {
    const { body } = toChat(reply)
    expect(body.choices).toMatchObject([{ message: expected, finish_reason: finishReason }])
  })

  test('a JSON reply requested through a tool arrives as text', () => {
    const request = { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: SCHEMA } } }
    const { body } = toChat(message([use('t', 'json_reply', { x: 1 })], 'tool_use'), request, {
      structured_output: { method: 'tool' },
    })
    expect(body.choices).toMatchObject([{ message: { content: '{"x":1}' }, finish_reason: 'stop' }])
    const cut = toChat(message([use('t', 'json_reply', { x: 1 })], 'max_tokens'), request, {
      structured_output: { method: 'tool' },
    })
    expect(cut.body.choices).toMatchObject([{ finish_reason: 'length' }])
  })

  test('a requested JSON object loses its code fence', () => {
    const { body } = toChat(message([text('```\n{"x":1}'), text('\n```')]), {
      response_format: { type: 'json_object' },
    })
    expect(body.choices).toMatchObject([{ message: { content: '{"x":1}' } }])
  })

  test.each<[string, object, string]>([
    ['an error', { type: 'error', error: { type: 'overloaded_error', message: 'x' } }, 'upstream_overloaded'],
    ['no content', { type: 'message' }, 'upstream_failed'],
    ['nothing', {}, 'upstream_failed'],
  ])('is refused if the 200 contains %s', (_, reply, code) => {
    expect(() => toChat(reply)).toThrow(expect.objectContaining({ code }) as GatewayError)
  })
})
