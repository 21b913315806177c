/** Messages streams of every kind that upstreams are known to send, converted for clients of the chat format. */

import { describe, expect, test } from 'vitest'
import type { DialectFacts } from '../../codegen/generated/types.ts'
import type { GatewayError } from '../../src/errors.ts'
import { decodeText } from '../../src/lib/byte-text.ts'
import type { JsonObject, UpstreamEvent } from '../../src/translate/translator.ts'
import {
  close,
  delta,
  end,
  MESSAGES_STREAMS,
  type MessagesEvent,
  open,
  STOP,
  start,
} from './fixtures/messages-streams.ts'
import { strictCompletion } from './grammar.ts'
import { readChatStream } from './sdk.ts'
import { chatViaMessages, contextOf, dialectOf, drain } from './support.ts'

const REQUEST: JsonObject = {
  stream: true,
  stream_options: { include_usage: true },
  messages: [{ role: 'user', content: 'hi' }],
}

function openStream(request: JsonObject = {}, dialect: DialectFacts = {}) {
  return chatViaMessages(
    { ...REQUEST, ...request },
    contextOf({ upstream: 'messages', dialect: dialectOf(dialect) }),
  ).stream()
}

function events(list: readonly MessagesEvent[], named = true): UpstreamEvent[] {
  return list.map(event => ({ name: named ? (event.type ?? '') : '', data: JSON.stringify(event) }))
}

const SAID = [start(), open(0, { type: 'text', text: 'a' }), close(0)]

describe('a messages stream as a chat stream', () => {
  test.each(MESSAGES_STREAMS)('%s', async (_, list, message, finishReason) => {
    for (const named of [true, false]) {
      const sse = drain(openStream(), events(list, named))
      const completion = strictCompletion(sse)
      expect(completion).toMatchObject({ message, finish_reason: finishReason })
      const read = await readChatStream(sse)
      expect(read).toMatchObject({ model: 'client-model', object: 'chat.completion', created: 1_790_000_000 })
      // The SDK's stream helper keeps only the last delta of unknown fields, so reasoning is not compared.
      const { tool_calls, content } = message as { tool_calls?: { name: string }[]; content: string }
      expect(read.choices[0]).toMatchObject({ finish_reason: finishReason, message: { content } })
      const names = read.choices[0]!.message.tool_calls?.map(call => call.type === 'function' && call.function.name)
      expect(names).toEqual(tool_calls?.map(call => call.name))
    }
  })

  test('a stream that starts twice before any output is one reply', () => {
    const completion = strictCompletion(drain(openStream(), events([start(), ...SAID, end('end_turn'), STOP])))
    expect(completion).toMatchObject({ message: { content: 'a' } })
  })

  test('a client that did not request usage sees no chunk without choices', () => {
    const sse = drain(openStream({ stream_options: null }), events([...SAID, end('end_turn'), STOP]))
    expect(sse).not.toContain('"choices":[]')
    expect(sse).not.toContain('usage')
  })

  test('restores tool names that were shortened for the upstream', () => {
    const name = `functions.${'long'.repeat(20)}`
    const translation = chatViaMessages(
      { ...REQUEST, tools: [{ type: 'function', function: { name } }] },
      contextOf({ upstream: 'messages' }),
    )
    const upstreamName = (translation.upstreamBody.tools as { name: string }[])[0]!.name
    expect(upstreamName).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    const list = [
      start(),
      open(0, { type: 'tool_use', id: 't', name: upstreamName, input: {} }),
      close(0),
      end('tool_use'),
    ]
    const completion = strictCompletion(drain(translation.stream(), events(list)))
    expect(completion).toMatchObject({ message: { tool_calls: [{ name }] } })
  })

  test('a JSON reply requested through a tool arrives as text', () => {
    const schema = { type: 'object', properties: { x: {} } }
    const request = { response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } }
    const list = [
      start(),
      open(0, { type: 'tool_use', id: 't', name: 'json_reply', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"x":' }),
      delta(0, { type: 'input_json_delta', partial_json: '1}' }),
      close(0),
      end('tool_use'),
      STOP,
    ]
    const sse = drain(openStream(request, { structured_output: { method: 'tool' } }), events(list))
    expect(strictCompletion(sse)).toMatchObject({ message: { content: '{"x":1}' }, finish_reason: 'stop' })
  })

  test('a JSON reply requested in the prompt loses its code fence', () => {
    const pieces = ['```', 'json\n{"x"', ':1}', '\n``', '`']
    const deltas = pieces.map(text => delta(0, { type: 'text_delta', text }))
    const list = [start(), open(0, { type: 'text', text: '' }), ...deltas, close(0), end('end_turn'), STOP]
    const sse = drain(openStream({ response_format: { type: 'json_object' } }), events(list))
    expect(strictCompletion(sse)).toMatchObject({ message: { content: '{"x":1}' } })
  })
})

describe('usage of a messages stream', () => {
  const details = { completion_tokens_details: { reasoning_tokens: 0 } }

  test.each<[string, MessagesEvent[], object]>([
    [
      'cached tokens count as input',
      [
        start({ input_tokens: 3, cache_read_input_tokens: 40, cache_creation_input_tokens: 500, output_tokens: 1 }),
        end('end_turn'),
      ],
      {
        prompt_tokens: 543,
        completion_tokens: 5,
        total_tokens: 548,
        prompt_tokens_details: { cached_tokens: 40, cache_write_tokens: 500 },
        ...details,
      },
    ],
    [
      'the last event overwrites',
      [
        start({ input_tokens: 3, output_tokens: 1 }),
        end('end_turn', { input_tokens: 7, output_tokens: 9, cache_read_input_tokens: null }),
      ],
      {
        prompt_tokens: 7,
        completion_tokens: 9,
        total_tokens: 16,
        prompt_tokens_details: { cached_tokens: 0 },
        ...details,
      },
    ],
    [
      'only at the end',
      [
        start({}),
        end('end_turn', { input_tokens: 7, output_tokens: 9, output_tokens_details: { thinking_tokens: 4 } }),
      ],
      {
        prompt_tokens: 7,
        completion_tokens: 9,
        total_tokens: 16,
        prompt_tokens_details: { cached_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 4 },
      },
    ],
  ])('%s', async (_, list, usage) => {
    const sse = drain(openStream(), events([...list, STOP]))
    expect(strictCompletion(sse).usage).toEqual(usage)
    expect((await readChatStream(sse)).usage).toEqual(usage)
  })

  test('is estimated for the client if there is none, and null for the bill', () => {
    const stream = openStream()
    const list = [
      { type: 'message_start', message: {} },
      open(0, { type: 'text', text: 'abcdefgh' }),
      end('end_turn', {}),
      STOP,
    ]
    expect(strictCompletion(drain(stream, events(list))).usage).toMatchObject({
      prompt_tokens: 42,
      completion_tokens: 2,
    })
    expect(stream.usage.state).toBe('missing')
    expect(stream.outputCharacters).toBe(8)
  })
})

describe('a messages stream that ends early', () => {
  test.each<[string, UpstreamEvent[], string]>([
    ['ends without a stop reason', events(SAID), 'upstream_failed'],
    ['ends after the start', events([start()]), 'upstream_failed'],
    ['is empty', [], 'upstream_failed'],
    ['contains an end and nothing else', events([STOP]), 'upstream_failed'],
    [
      'is overloaded',
      events([...SAID, { type: 'error', error: { type: 'overloaded_error', message: 'x' } }]),
      'upstream_overloaded',
    ],
    ['fails', events([...SAID, { type: 'error', error: { type: 'api_error', message: 'x' } }]), 'upstream_failed'],
    [
      'is limited',
      events([{ type: 'error', error: { type: 'rate_limit_error', message: 'x' } }]),
      'upstream_rate_limited',
    ],
    [
      'is refused',
      events([{ type: 'error', error: { type: 'invalid_request_error', message: 'x' } }]),
      'upstream_refused',
    ],
    ['starts another reply', events([...SAID, start(), ...SAID.slice(1), end('end_turn'), STOP]), 'upstream_failed'],
    ['contains an error without a type', events([{ error: { message: 'x' } }]), 'upstream_failed'],
    ['contains garbage', [...events(SAID), { name: 'content_block_delta', data: '{"type":' }], 'upstream_failed'],
  ])('%s: it never ends like a good one', (_, list, code) => {
    const stream = openStream()
    let sse = ''
    const attempt = () => {
      for (const event of list) sse += decodeText(stream.push(event))
      sse += decodeText(stream.end())
    }
    expect(attempt).toThrow(expect.objectContaining({ code }) as GatewayError)
    expect(sse).not.toMatch(/"finish_reason":"/)
    expect(sse).not.toContain('[DONE]')
  })
})

test('push never returns the events that end the reply', () => {
  const stream = openStream()
  const pushed = events([...SAID, end('end_turn'), STOP]).map(event => decodeText(stream.push(event)))
  expect(pushed.join('')).not.toMatch(/"finish_reason":"|\[DONE\]/)
  expect(stream.finished).toBe(true)
  expect(decodeText(stream.end())).toMatch(/"finish_reason":"stop"[\s\S]*"choices":\[\][\s\S]*\[DONE\]/)
})
