/** Properties of conversion that hold for any conversation. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/translate/translator.ts'
import { calls, chatCall, solid, text } from './any-text.ts'
import { CHAT_TARGETS, MESSAGES_TARGETS } from './goldens/targets.ts'
import { chatViaMessages, contextOf, messagesViaChat } from './support.ts'
import { expectValidChat, expectValidMessages, meaningOfChat, meaningOfMessages } from './validity.ts'

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
    // Results of calls that share an id are matched by order, so their order must not change.
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
    // Adds text to every user turn. A blank first turn would be dropped, and a system message after it would move to the
    // top-level `system` field, which `meaningOfMessages` ignores.
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
