/** Chat streams of every kind that upstreams are known to send, converted for clients of the messages format. */

import { describe, expect, test } from 'vitest'
import type { DialectFacts } from '../../codegen/generated/types.ts'
import type { GatewayError } from '../../src/errors.ts'
import { decodeText } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/translate/translator.ts'
import { CHAT_STREAMS, call, delta, FINISH, fn, text, USAGE, use } from './fixtures/chat-streams.ts'
import { strictMessage } from './grammar.ts'
import { readMessagesStream, readMessagesStreamOlder } from './sdk.ts'
import { chatEvents, contextOf, dialectOf, drain, messagesViaChat } from './support.ts'

interface StreamFacts {
  readonly request?: JsonObject
  readonly dialect?: DialectFacts
}

const REQUEST: JsonObject = { max_tokens: 100, stream: true, messages: [{ role: 'user', content: 'hi' }] }

function open({ request = {}, dialect = {} }: StreamFacts = {}) {
  const context = contextOf({ upstream: 'chat_completions', dialect: dialectOf(dialect) })
  return messagesViaChat({ ...REQUEST, ...request }, context).stream()
}

function convert(chunks: readonly (object | string)[], facts: StreamFacts = {}): string {
  return drain(open(facts), chatEvents(...chunks))
}

describe('a chat stream as a messages stream', () => {
  test.each(CHAT_STREAMS)('%s', async (_, chunks, content, stopReason) => {
    const sse = convert(chunks)
    const expected = { content, stop_reason: stopReason, model: 'client-model', role: 'assistant', type: 'message' }
    expect(strictMessage(sse)).toMatchObject(expected)
    expect(await readMessagesStream(sse)).toMatchObject(expected)
    expect(await readMessagesStreamOlder(sse)).toMatchObject(expected)
  })

  test('a truncated call keeps the arguments received so far', async () => {
    const sse = convert([call({ index: 0, id: 'c1', function: fn('f', '{"x":[1,2,3') }), delta({}, 'length'), '[DONE]'])
    expect(await readMessagesStream(sse)).toMatchObject({
      content: [use('c1', 'f', { x: [1, 2] })],
      stop_reason: 'max_tokens',
    })
  })

  test('restores tool names that were shortened for the upstream', () => {
    const name = `mcp__server__${'long_'.repeat(20)}`
    const request = { tools: [{ name, input_schema: { type: 'object' } }] }
    const context = contextOf({ upstream: 'chat_completions' })
    const translation = messagesViaChat({ ...REQUEST, ...request }, context)
    const tools = translation.upstreamBody.tools as { function: { name: string } }[]
    expect(tools[0]!.function.name).toHaveLength(64)
    const events = chatEvents(
      call({ index: 0, id: 'c1', function: fn(tools[0]!.function.name, '{}') }),
      FINISH,
      '[DONE]',
    )
    expect(strictMessage(drain(translation.stream(), events))).toMatchObject({ content: [use('c1', name, {})] })
  })

  test('gives a new call an id that the history does not have', () => {
    const request = {
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_0', name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_0', content: 'x' }] },
      ],
    }
    const sse = convert([call({ index: 0, id: 'call_0', function: fn('f', '{}') }), FINISH, '[DONE]'], { request })
    expect(strictMessage(sse)).toMatchObject({ content: [use('toolu_2', 'f', {})] })
  })

  test('a signature travels in the id of its call and is restored from it', () => {
    const dialect = { tools: { signature: { path: '/extra_content/google/thought_signature' } } }
    const signed = {
      index: 0,
      id: 'c1',
      function: fn('f', '{}'),
      extra_content: { google: { thought_signature: 'AB+/=' } },
    }
    const message = strictMessage(convert([call(signed), FINISH, '[DONE]'], { dialect })) as {
      content: { id: string }[]
    }
    const id = message.content[0]!.id
    expect(id).toMatch(/^c1__sig_[a-zA-Z0-9_-]+$/)
    const request = {
      ...REQUEST,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'x' }] },
      ],
    }
    const context = contextOf({ upstream: 'chat_completions', dialect: dialectOf(dialect) })
    expect(messagesViaChat(request, context).upstreamBody.messages).toMatchObject([
      {},
      { tool_calls: [{ id: 'c1', extra_content: { google: { thought_signature: 'AB+/=' } } }] },
      { role: 'tool', tool_call_id: 'c1' },
    ])
  })

  test('a JSON reply requested through a tool arrives as text', async () => {
    const request = {
      output_config: { format: { type: 'json_schema', schema: { type: 'object', properties: { x: {} } } } },
    }
    const chunks = [
      call({ index: 0, id: 'c1', function: fn('json_reply', '{"x"') }),
      call({ index: 0, function: { arguments: ':1}' } }),
      delta({}, 'tool_calls'),
      '[DONE]',
    ]
    const sse = convert(chunks, { request, dialect: { structured_output: { method: 'tool' } } })
    expect(await readMessagesStream(sse)).toMatchObject({ content: [text('{"x":1}')], stop_reason: 'end_turn' })
  })

  test('a JSON reply requested in the prompt loses its code fence', async () => {
    const request = { output_config: { format: { type: 'json_schema', schema: { type: 'object', properties: {} } } } }
    const chunks = [
      delta({ content: '```js' }),
      delta({ content: 'on\n{"x"' }),
      delta({ content: ':1}\n`' }),
      delta({ content: '``\n' }),
      FINISH,
      '[DONE]',
    ]
    const sse = convert(chunks, { request, dialect: { structured_output: { method: 'prompt' } } })
    expect(await readMessagesStream(sse)).toMatchObject({ content: [text('{"x":1}')] })
  })
})

describe('usage of a chat stream', () => {
  const zero = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }

  test.each<[string, object[], object]>([
    [
      'after the finish reason',
      [delta({ content: 'a' }), FINISH, USAGE],
      { input_tokens: 10, output_tokens: 5, ...zero },
    ],
    [
      'in the finish chunk',
      [delta({ content: 'a' }), { ...FINISH, ...{ usage: USAGE.usage } }],
      { input_tokens: 10, output_tokens: 5, ...zero },
    ],
    [
      'cumulative in every chunk',
      [
        { ...delta({ content: 'a' }), usage: { prompt_tokens: 10, completion_tokens: 1 } },
        { ...FINISH, usage: USAGE.usage },
      ],
      { input_tokens: 10, output_tokens: 5, ...zero },
    ],
    [
      'null until the end',
      [{ ...delta({ content: 'a' }), usage: null }, { ...FINISH, usage: null }, USAGE],
      { input_tokens: 10, output_tokens: 5, ...zero },
    ],
    [
      'inside the choice',
      [delta({ content: 'a' }), { choices: [{ ...FINISH.choices[0], usage: USAGE.usage }] }],
      { input_tokens: 10, output_tokens: 5, ...zero },
    ],
    [
      'with cached tokens',
      [
        delta({ content: 'a' }),
        FINISH,
        {
          choices: [],
          usage: { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 7 } },
        },
      ],
      { input_tokens: 3, output_tokens: 5, cache_read_input_tokens: 7, cache_creation_input_tokens: 0 },
    ],
  ])('%s', async (_, chunks, usage) => {
    const sse = convert([...chunks, '[DONE]'])
    expect((await readMessagesStream(sse)).usage).toEqual(usage)
  })

  test('is estimated for the client if there is none, and null for the bill', async () => {
    const stream = open()
    const events = chatEvents(delta({ content: 'abcdefgh' }), FINISH, '[DONE]')
    const sse = drain(stream, events)
    expect((await readMessagesStream(sse)).usage).toEqual({ input_tokens: 42, output_tokens: 2, ...zero })
    expect(stream.usage.state).toBe('missing')
    expect(stream.outputCharacters).toBe(8)
  })

  test('reports the billed figures if the upstream reported none', async () => {
    const stream = open()
    const pushed = chatEvents(delta({ content: 'a' }), FINISH).map(event => decodeText(stream.push(event)))
    const billed = { inputTokens: 7, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 3, reasoningTokens: 0 }
    expect((await readMessagesStream(pushed.join('') + decodeText(stream.end(billed)))).usage).toEqual({
      input_tokens: 7,
      output_tokens: 3,
      ...zero,
    })
  })

  test('is estimated in message_start, because some clients only read it there', () => {
    const role = delta({ role: 'assistant' })
    // MiniMax reports zeros until the last chunk.
    for (const chunk of [role, { ...role, usage: { total_tokens: 0, total_characters: 0 } }]) {
      expect(open().push(chatEvents(chunk)[0]!)).toContain('"usage":{"input_tokens":42,')
    }
  })
})

describe('a chat stream that ends early', () => {
  test.each<[string, (object | string)[], string]>([
    ['ends without a finish reason', [delta({ content: 'a' })], 'upstream_failed'],
    ['ends after the role', [delta({ role: 'assistant', content: '' })], 'upstream_failed'],
    ['is empty', [], 'upstream_failed'],
    ['contains an end marker only', ['[DONE]'], 'upstream_failed'],
    ['has no output before the end marker', [delta({ role: 'assistant' }), '[DONE]'], 'upstream_failed'],
    ['finishes with an error', [delta({ content: 'a' }), delta({}, 'error'), '[DONE]'], 'upstream_failed'],
    ['runs out of resources', [delta({ content: 'a' }), delta({}, 'insufficient_system_resource')], 'upstream_failed'],
    [
      'contains an error object',
      [delta({ content: 'a' }), { error: { message: 'x', type: 'server_error' } }],
      'upstream_failed',
    ],
    ['contains an error as text', [{ error: 'overloaded' }], 'upstream_failed'],
    [
      'contains an error in an array',
      ['[{"error":{"code":503,"message":"x","status":"UNAVAILABLE"}}]'],
      'upstream_overloaded',
    ],
    ['is rate-limited', [{ error: { message: 'x', code: 429 } }], 'upstream_rate_limited'],
    ['contains garbage', [delta({ content: 'a' }), '{"choices":['], 'upstream_failed'],
    ['contains HTML', ['<html>'], 'upstream_failed'],
    [
      'calls a tool without a name',
      [call({ index: 0, id: 'c1', function: { arguments: '{"x":1}' } }), FINISH],
      'upstream_failed',
    ],
  ])('%s: it never ends like a good one', (_, chunks, code) => {
    const stream = open()
    let sse = ''
    const attempt = () => {
      for (const event of chatEvents(...chunks)) sse += decodeText(stream.push(event))
      sse += decodeText(stream.end())
    }
    expect(attempt).toThrow(expect.objectContaining({ code }) as GatewayError)
    expect(sse).not.toContain('message_delta')
    expect(sse).not.toContain('message_stop')
  })
})

test('push never returns the events that end the reply', () => {
  const stream = open()
  const pushed = chatEvents(delta({ content: 'a' }), FINISH, USAGE, '[DONE]').map(event =>
    decodeText(stream.push(event)),
  )
  expect(pushed.join('')).not.toMatch(/message_delta|message_stop/)
  expect(stream.finished).toBe(true)
  expect(decodeText(stream.end())).toMatch(/message_delta[\s\S]*message_stop/)
})
