/** Properties of every conversation and every stream, whatever their content and however they are split. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { SseReader } from '../../src/lib/sse.ts'
import type { JsonObject, StreamTranslation, UpstreamEvent } from '../../src/translate/translator.ts'
import { CHAT_TARGETS, MESSAGES_TARGETS } from './goldens/targets.ts'
import { strictCompletion, strictMessage } from './grammar.ts'
import { chatEvents, chatViaMessages, contextOf, dialectOf, drain, messagesViaChat, replayAsEvents } from './support.ts'
import { expectValidChat, expectValidMessages, meaningOfChat, meaningOfMessages } from './validity.ts'

const text = fc.oneof(fc.constantFrom('', ' ', '\n', 'hi', 'đồng 🙂', '```'), fc.string({ maxLength: 12 }))
const solid = text.filter(value => value.trim() !== '')
const name: fc.Arbitrary<string> = fc.constantFrom('f', 'g', 'ns.tool', `long_${'x'.repeat(80)}`)
const json = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
const callId = fc.oneof(fc.constantFrom('call_0', 'functions.f:0', ''), fc.stringMatching(/^call_[a-z0-9]{1,70}$/))
const calls = fc.array(fc.record({ id: callId, name, input: json, output: text }), { minLength: 1, maxLength: 3 })

/** An exchange: the user writes, the assistant answers, with or without tools. */
const exchange = fc.record({
  ask: fc.array(text, { minLength: 1, maxLength: 3 }),
  instruction: fc.option(solid, { nil: null, freq: 5 }),
  answer: text,
  calls: fc.option(calls, { nil: null }),
  reversed: fc.boolean(),
  comment: fc.option(solid, { nil: null }),
})
const exchanges = fc.array(exchange, { minLength: 1, maxLength: 5 })
type Exchange = typeof exchange extends fc.Arbitrary<infer Value> ? Value : never

function chatRequest(list: readonly Exchange[]): JsonObject {
  const messages = list.flatMap(each => {
    const made = each.calls?.map((call, index) => ({ ...call, id: call.id || `made_${index}` })) ?? []
    const results = made.map(call => ({ role: 'tool', tool_call_id: call.id, content: call.output }))
    // Results of calls with the same id can only be told apart by order.
    const shared = new Set(made.map(call => call.id)).size < made.length
    return [
      { role: 'user', content: each.ask.map(part => ({ type: 'text', text: part })) },
      ...(each.instruction === null ? [] : [{ role: 'system', content: each.instruction }]),
      {
        role: 'assistant',
        content: each.answer,
        ...(made.length > 0 && { tool_calls: made.map(call => chatCall(call)) }),
      },
      ...(each.reversed && !shared ? results.toReversed() : results),
      ...(each.comment === null ? [] : [{ role: 'user', content: each.comment }]),
    ]
  })
  return { max_tokens: 2_000, messages: [...messages, { role: 'user', content: 'last' }] } as JsonObject
}

function chatCall(call: { id: string; name: string; input: object }) {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.input) } }
}

function messagesRequest(list: readonly Exchange[]): JsonObject {
  const messages = list.flatMap((each, turn) => {
    const made = each.calls?.map((call, index) => ({ ...call, id: `toolu_${turn}_${index}` })) ?? []
    const results = made.map(call => ({ type: 'tool_result', tool_use_id: call.id, content: call.output }))
    const comment = each.comment === null ? [] : [{ type: 'text', text: each.comment }]
    const answer = each.answer.trim() === '' ? [] : [{ type: 'text', text: each.answer }]
    const uses = made.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input }))
    const behind = each.reversed ? [...comment, ...results.toReversed()] : [...results, ...comment]
    return [
      { role: 'user', content: [...each.ask, 'x'].map(part => ({ type: 'text', text: part })) },
      ...(each.instruction === null ? [] : [{ role: 'system', content: each.instruction }]),
      { role: 'assistant', content: [{ type: 'thinking', thinking: 'hm', signature: 's' }, ...answer, ...uses] },
      ...(behind.length > 0 ? [{ role: 'user', content: behind }] : []),
    ]
  })
  return { max_tokens: 2_000, messages: [...messages, { role: 'user', content: 'last' }] } as JsonObject
}

const sorted = (meaning: string[]) => meaning.toSorted()

describe('any conversation', () => {
  test('in chat becomes a valid one in messages, for every kind of target', () => {
    fc.assert(
      fc.property(exchanges, fc.constantFrom(...MESSAGES_TARGETS), (list, { dialect }) => {
        expectValidMessages(
          chatViaMessages(chatRequest(list), contextOf({ upstream: 'messages', dialect })).upstreamBody,
        )
      }),
      { numRuns: 400 },
    )
  })

  test('in messages becomes a valid one in chat, for every kind of target', () => {
    fc.assert(
      fc.property(exchanges, fc.constantFrom(...CHAT_TARGETS.slice(0, 4)), (list, { dialect }) => {
        const context = contextOf({ upstream: 'chat_completions', dialect })
        expectValidChat(messagesViaChat(messagesRequest(list), context).upstreamBody)
      }),
      { numRuns: 400 },
    )
  })

  const plainNames = exchanges.map(list =>
    // Every user turn has text; otherwise instructions would become the first turn.
    list.map(each => ({
      ...each,
      ask: [...each.ask, 'x'],
      calls: each.calls?.map(call => ({ ...call, name: 'f' })) ?? null,
    })),
  )

  test('has the same content in messages as in chat', () => {
    fc.assert(
      fc.property(plainNames, list => {
        const body = chatRequest(list)
        const { upstreamBody } = chatViaMessages(body, contextOf({ upstream: 'messages' }))
        // Blank text is merged with its neighbour, so only non-blank text is compared.
        const trim = (meaning: string[]) => sorted(meaning.map(line => line.replace(/\s+/g, '')))
        const roles = (meaning: string[]) => meaning.map(line => line.replace(/^(system|developer)/, 'user'))
        expect(trim(roles(meaningOfMessages(upstreamBody)))).toEqual(trim(roles(meaningOfChat(body))))
      }),
      { numRuns: 400 },
    )
  })

  test('keeps its content when converted there and back', () => {
    fc.assert(
      fc.property(plainNames, list => {
        const body = messagesRequest(list)
        const chat = messagesViaChat(body, contextOf({ upstream: 'chat_completions' })).upstreamBody
        const back = chatViaMessages(chat, contextOf({ upstream: 'messages' })).upstreamBody
        expectValidMessages(back)
        const trim = (meaning: string[]) =>
          sorted(meaning.map(line => line.replace(/\s+/g, '').replace(/^system/, 'user')))
        expect(trim(meaningOfMessages(back))).toEqual(trim(meaningOfMessages(body)))
      }),
      { numRuns: 400 },
    )
  })

  test('is refused or converted, but never causes a failure, if it is random JSON', () => {
    const odd = fc.record(
      {
        role: fc.constantFrom('user', 'assistant', 'system', 'tool', 1),
        content: fc.jsonValue(),
        tool_calls: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    const body = fc.record(
      {
        messages: fc.oneof(fc.array(odd, { maxLength: 4 }), fc.jsonValue()),
        system: fc.jsonValue(),
        tools: fc.jsonValue(),
        tool_choice: fc.jsonValue(),
        max_tokens: fc.oneof(fc.nat(), fc.jsonValue()),
        thinking: fc.jsonValue(),
        output_config: fc.jsonValue(),
        response_format: fc.jsonValue(),
        stop: fc.jsonValue(),
        stop_sequences: fc.jsonValue(),
        metadata: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(body, value => {
        for (const [translator, upstream] of [
          [chatViaMessages, 'messages'],
          [messagesViaChat, 'chat_completions'],
        ] as const) {
          try {
            translator(value as JsonObject, contextOf({ upstream }))
          } catch (error) {
            expect((error as { code?: string }).code).toMatch(/^(invalid_request|thread_)/)
          }
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

/** A model's answer in format-neutral form. */
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

/** The chat stream of an answer, with text in pieces of the given size, and calls interleaved or in sequence. */
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
      for (const event of reader.push(bytes.subarray(edges[index], edge))) output += stream.push(event)
    }
    for (const event of reader.end()) output += stream.push(event)
    return output + stream.end()
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
