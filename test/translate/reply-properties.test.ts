/** Properties of conversion that hold for any reply, and for a stream split at any points. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeText } from '../../src/lib/byte-text.ts'
import { SseReader } from '../../src/lib/sse.ts'
import type { JsonObject, StreamTranslation, UpstreamEvent } from '../../src/translate/translator.ts'
import { chatCall, json, solid } from './any-text.ts'
import { strictCompletion, strictMessage } from './grammar.ts'
import { chatEvents, chatViaMessages, contextOf, dialectOf, drain, messagesViaChat, replayAsEvents } from './support.ts'

/** A model's reply in format-neutral form. */
const answer = fc.record({
  reasoning: fc.oneof(fc.constant(''), solid),
  text: fc.oneof(fc.constant(''), solid),
  calls: fc.array(fc.record({ name: fc.constantFrom('f', 'g'), input: json }), { maxLength: 3 }),
  cut: fc.boolean(),
  prompt: fc.nat({ max: 10_000 }),
  output: fc.nat({ max: 10_000 }),
})
type Answer = typeof answer extends fc.Arbitrary<infer Value> ? Value : never

function completionOf({ reasoning, text, calls, cut, prompt, output }: Answer): JsonObject {
  const tool_calls = calls.map((call, index) => chatCall({ ...call, id: `call_${index}` }))
  return {
    id: 'c',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text,
          reasoning_content: reasoning,
          ...(calls.length > 0 && { tool_calls }),
        },
        finish_reason: cut ? 'length' : 'stop',
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output },
  } as JsonObject
}

function messageOf({ reasoning, text, calls, cut, prompt, output }: Answer): JsonObject {
  return {
    id: 'm',
    type: 'message',
    role: 'assistant',
    content: [
      ...(reasoning === '' ? [] : [{ type: 'thinking', thinking: reasoning, signature: 's' }]),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map((call, index) => ({ type: 'tool_use', id: `toolu_${index}`, ...call })),
    ],
    stop_reason: cut ? 'max_tokens' : calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: prompt, output_tokens: output },
  } as JsonObject
}

/** The reply as a chat stream, with text in pieces of the given size, and with tool calls interleaved or one after another. */
function chunksOf(value: Answer, size: number, interleaved: boolean): UpstreamEvent[] {
  const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields, finish_reason: null }] })
  const cut = (whole: string) => whole.match(new RegExp(`[\\s\\S]{1,${size}}`, 'gu')) ?? []
  const starts = value.calls.map((call, index) =>
    delta({
      tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name: call.name, arguments: '' } }],
    }),
  )
  const fragments = value.calls.map((call, index) =>
    cut(JSON.stringify(call.input)).map(part => delta({ tool_calls: [{ index, function: { arguments: part } }] })),
  )
  const rounds = Math.max(0, ...fragments.map(list => list.length))
  const mixed = Array.from({ length: rounds }, (_, round) => fragments.flatMap(list => list.slice(round, round + 1)))
  const tools = interleaved
    ? [...starts, ...mixed.flat()]
    : starts.flatMap((start, index) => [start, ...fragments[index]!])
  return chatEvents(
    delta({ role: 'assistant', content: '' }),
    ...cut(value.reasoning).map(part => delta({ reasoning_content: part })),
    ...cut(value.text).map(part => delta({ content: part })),
    ...tools,
    { choices: [{ index: 0, delta: {}, finish_reason: value.cut ? 'length' : 'stop' }] },
    { choices: [], usage: { prompt_tokens: value.prompt, completion_tokens: value.output } },
    '[DONE]',
  )
}

const openMessages = () =>
  messagesViaChat(
    { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] },
    contextOf({ upstream: 'chat_completions' }),
  )
const openChat = () =>
  chatViaMessages(
    { messages: [{ role: 'user', content: 'hi' }], stream_options: { include_usage: true } },
    contextOf({ upstream: 'messages' }),
  )

describe('any answer', () => {
  test('of a chat upstream is the same message and usage, streamed or whole', () => {
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 9 }), fc.boolean(), (value, size, interleaved) => {
        const whole = openMessages().reply(completionOf(value))
        for (const list of [
          chunksOf(value, size, interleaved),
          replayAsEvents('chat_completions', completionOf(value)),
        ]) {
          const stream = openMessages().stream()
          const { content, stop_reason, usage } = strictMessage(drain(stream, list))
          expect({ content, stop_reason, usage }).toEqual({
            content: whole.body.content,
            stop_reason: whole.body.stop_reason,
            usage: whole.body.usage,
          })
          expect(stream.usage).toEqual(whole.usage)
        }
      }),
      { numRuns: 400 },
    )
  })

  test('of a messages upstream is the same completion and usage, streamed or whole', () => {
    fc.assert(
      fc.property(answer, value => {
        const whole = openChat().reply(messageOf(value))
        const stream = openChat().stream()
        const streamed = strictCompletion(drain(stream, replayAsEvents('messages', messageOf(value))))
        const choice = (whole.body.choices as JsonObject[])[0]!
        const { content, reasoning_content, tool_calls } = choice.message as JsonObject
        const calls = tool_calls as { id: string; function: { name: string; arguments: string } }[] | undefined
        expect(streamed).toMatchObject({ finish_reason: choice.finish_reason, usage: whole.body.usage })
        expect(streamed.message).toEqual({
          content: content ?? '',
          ...(reasoning_content !== undefined && { reasoning_content }),
          ...(calls && {
            tool_calls: calls.map(({ id, function: { name, arguments: args } }) => ({
              id,
              name,
              arguments: JSON.parse(args),
            })),
          }),
        })
        expect(stream.usage).toEqual(whole.usage)
      }),
      { numRuns: 400 },
    )
  })
})

describe('any split of a stream’s bytes', () => {
  const places = fc.array(fc.nat(5_000), { maxLength: 12 })

  function throughReader(
    events: readonly UpstreamEvent[],
    cuts: readonly number[],
    stream: StreamTranslation,
    end: string,
  ): string {
    const wire = events
      .map(({ name, data }) => `${name === '' ? '' : `event: ${name}${end}`}data: ${data}${end}${end}`)
      .join('')
    const bytes = Buffer.from(wire)
    const edges = [...new Set([0, ...cuts.map(cut => cut % bytes.length), bytes.length])].sort((a, b) => a - b)
    const reader = new SseReader({ eventBytesMax: 1_000_000 })
    let output = ''
    for (const [index, edge] of edges.slice(1).entries()) {
      for (const event of reader.push(bytes.subarray(edges[index], edge))) output += decodeText(stream.push(event))
    }
    for (const event of reader.end()) output += decodeText(stream.push(event))
    return output + decodeText(stream.end())
  }

  test('gives the client the same events', () => {
    fc.assert(
      fc.property(answer, places, fc.constantFrom('\n', '\r\n', '\r'), (value, cuts, end) => {
        const chat = chunksOf(value, 3, true)
        expect(throughReader(chat, cuts, openMessages().stream(), end)).toBe(drain(openMessages().stream(), chat))
        const messages = replayAsEvents('messages', messageOf(value))
        expect(throughReader(messages, cuts, openChat().stream(), end)).toBe(drain(openChat().stream(), messages))
      }),
      { numRuns: 300 },
    )
  })
})

test('a dialect with only defaults can be converted to', () => {
  expect(
    messagesViaChat(
      { max_tokens: 1, messages: [{ role: 'user', content: 'x' }] },
      contextOf({ upstream: 'chat_completions', dialect: dialectOf() }),
    ).upstreamBody,
  ).toEqual({
    model: 'upstream-model',
    messages: [{ role: 'user', content: 'x' }],
    max_tokens: 1,
  })
})
