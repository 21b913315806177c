/** Reading upstreams' responses: tool calls, reasoning, endings and errors. */

import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { replayResponse } from '../../src/formats/responses/replay.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import {
  added,
  argued,
  CALL,
  CREATED,
  called,
  done,
  ended,
  eventsOf,
  message,
  read,
  readList,
  textDelta,
  thought,
} from './responses-read-support.ts'

describe('a call', () => {
  const head = [CREATED, added(0, called('call_1', ''))]
  const whole = called('call_1', '{"a":1}')

  test.each<[string, JsonObject[]]>([
    ['deltas', [argued(0, 'call_1', '{"a"'), argued(0, 'call_1', ':1}'), argued(0, 'call_1', '{"a":1}', 'done'), done(0, whole)]],
    ['the done event alone', [argued(0, 'call_1', '{"a":1}', 'done'), done(0, whole)]],
    ['the item alone', [done(0, whole)]],
    ['deltas repeated after the done event', [argued(0, 'call_1', '{"a":1}', 'done'), argued(0, 'call_1', '{"a":1}'), done(0, whole)]],
    ['deltas after an empty done event', [argued(0, 'call_1', '', 'done'), argued(0, 'call_1', '{"a":1}'), done(0, called('call_1', ''))]],
    ['deltas without a done event', [argued(0, 'call_1', '{"a":1}')]],
    ['an object', [done(0, { ...whole, arguments: { a: 1 } })]],
  ])('gets its arguments once: %s', (_what, middle) => {
    const { parts, stopReason } = readList(...head, ...middle, ended())
    expect([parts, stopReason]).toEqual([[{ ...CALL, arguments: '{"a":1}' }], 'tool_use'])
  }) // biome-ignore format: a row per case

  test('without arguments has an empty object', () => {
    expect(readList(...head, done(0, called('call_1', '')), ended()).parts).toEqual([{ ...CALL, arguments: '{}' }])
  })

  test('waits for a name that comes late', () => {
    const nameless = added(0, called('call_1', '', { name: null }))
    const { parts } = readList(CREATED, nameless, argued(0, 'call_1', '{"a":1}'), done(0, whole), ended())
    expect(parts).toEqual([{ ...CALL, arguments: '{"a":1}' }])
  })

  test('without a name fails the reply', () => {
    const nameless = called('call_1', '{}', { name: '' })
    expect(() => readList(CREATED, added(0, nameless), done(0, nameless), ended())).toThrow(GatewayError)
  })

  test('to a free-form tool has its text as the only argument', () => {
    const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_1', name: 'look_up', input: 'raw "x"\n' }
    const delta = {
      type: 'response.custom_tool_call_input.delta',
      output_index: 0,
      item_id: 'ctc_1',
      delta: 'raw "x"\n',
    }
    const expected = [{ ...CALL, arguments: '{"input":"raw \\"x\\"\\n"}' }]
    expect(readList(CREATED, added(0, { ...item, input: '' }), delta, done(0, item), ended()).parts).toEqual(expected)
    expect(readList(CREATED, added(0, { ...item, input: '' }), delta, ended()).parts).toEqual(expected)
  })
})

describe('reasoning', () => {
  const summary = (summary_index: number, delta: string) => ({
    type: 'response.reasoning_summary_text.delta',
    output_index: 0,
    item_id: 'rs_1',
    summary_index,
    delta,
  })
  const raw = (delta: string) => ({ ...summary(0, delta), type: 'response.reasoning_text.delta', content_index: 0 })
  const seal = { wire: 'responses', id: 'rs_1', encrypted: 'gAAAA-final' } as const

  test('keeps its pieces apart, and takes its seal from the finished item', () => {
    const list = [added(0, { ...thought('rs_1'), encrypted_content: 'gAAAA-early' }), summary(0, 'a'), summary(1, 'b')]
    const finished = { ...thought('rs_1', 'a', 'bc'), encrypted_content: 'gAAAA-final' }
    expect(readList(CREATED, ...list, done(0, finished), ended([finished])).parts).toEqual([
      { kind: 'reasoning', texts: ['a', 'bc'], seal },
    ])
  })

  test('that is sealed but not shown has no text', () => {
    const finished = { ...thought('rs_1'), encrypted_content: 'gAAAA-final' }
    expect(readList(CREATED, done(0, finished), ended()).parts).toEqual([{ kind: 'reasoning', texts: [''], seal }])
  })

  test('that is neither sealed nor shown is dropped', () => {
    expect(
      readList(CREATED, added(0, thought('rs_1')), done(0, thought('rs_1')), ended([thought('rs_1')])).parts,
    ).toEqual([])
  })

  test('is shown once if a host sends it both raw and as a summary', () => {
    const finished = { ...thought('rs_1', 'short'), content: [{ type: 'reasoning_text', text: 'at length' }] }
    expect(readList(CREATED, raw('at '), raw('length'), done(0, finished), ended()).parts).toEqual([
      { kind: 'reasoning', texts: ['at length'], seal: null },
    ])
    expect(readList(CREATED, done(0, finished), ended()).parts).toEqual([
      { kind: 'reasoning', texts: ['short'], seal: null },
    ])
  })

  test('holds back later parts until its seal arrives', () => {
    const finished = { ...thought('rs_1', 'a'), encrypted_content: 'gAAAA-final' }
    const list = [added(0, thought('rs_1')), summary(0, 'a'), textDelta(1, 'msg_1', 'Hi'), done(0, finished), ended()]
    expect(readList(CREATED, ...list).parts).toEqual([
      { kind: 'reasoning', texts: ['a'], seal },
      { kind: 'text', text: 'Hi' },
    ])
  })
})

describe('the end', () => {
  const cut = (reason: string | null) => ({
    type: 'response.incomplete',
    response: {
      id: 'resp_1',
      status: 'incomplete',
      incomplete_details: reason === null ? null : { reason },
      output: [],
    },
  })
  const refusal = { type: 'message', id: 'msg_1', content: [{ type: 'refusal', refusal: 'No.' }] }

  test.each<[string, string, JsonObject[]]>([
    ['end_turn', 'an answer', [done(0, message('msg_1', 'Hi')), ended()]],
    ['tool_use', 'a call', [done(0, called('call_1', '{}')), ended()]],
    ['refusal', 'a refusal', [done(0, refusal), ended()]],
    ['max_tokens', 'a cut', [done(0, called('call_1', '{}')), cut('max_output_tokens')]],
    ['max_tokens', 'a cut without a reason', [cut(null)]],
    ['blocked', 'a filter', [cut('content_filter')]],
  ])('is %s for %s', (stopReason, _what, list) => {
    expect(readList(CREATED, ...list).stopReason).toBe(stopReason)
  })

  test.each<[string, JsonObject[]]>([
    ['nothing at all', []],
    ['a start', [CREATED]],
    ['a text', [CREATED, done(0, message('msg_1', 'Hi'))]],
  ])('is missing after %s', (_what, list) => {
    expect(() => readList(...list)).toThrow(expect.objectContaining({ code: 'upstream_failed' }))
  })

  test('is final: nothing after it is read', () => {
    const list = [CREATED, ended(), textDelta(0, 'msg_1', 'late'), { type: 'error', message: 'late' }]
    expect(read([...eventsOf(...list), { name: '', data: '[DONE]' }]).parts).toEqual([])
  })
})

describe('errors', () => {
  const failed = (error: JsonObject) => ({
    type: 'response.failed',
    response: { id: 'resp_1', status: 'failed', error },
  })
  const code = (list: JsonObject[]) => {
    try {
      readList(...list)
    } catch (error) {
      return error instanceof GatewayError ? error.code : error
    }
    return expect.fail('no error')
  }

  test.each<[string, string, JsonObject]>([
    ['upstream_rate_limited', 'flat', { type: 'error', code: 'rate_limit_exceeded', message: 'Slow down.', param: null }],
    ['upstream_rate_limited', 'nested', { type: 'error', error: { type: 'tokens', code: 'rate_limit_exceeded', message: 'Slow.' } }],
    ['upstream_overloaded', 'of a failed response', failed({ code: 'server_is_overloaded', message: 'Later.' })],
    ['context_length_exceeded', 'of a failed response', failed({ code: 'context_length_exceeded', message: 'Too long.' })],
    ['upstream_refused', 'of a failed response', failed({ code: 'invalid_prompt', message: 'No.' })],
    ['upstream_failed', 'of a failed response', failed({ code: 'server_error', message: 'Oops.' })],
    ['upstream_failed', 'without a type', { error: { message: 'Oops.' } }],
  ])('%s, %s, at the start and in the middle', (expected, _shape, event) => {
    expect(code([event])).toBe(expected)
    expect(code([CREATED, textDelta(0, 'msg_1', 'Hi'), event])).toBe(expected)
  }) // biome-ignore format: a row per case

  test('under status 200 in a non-streamed reply', () => {
    const replies: JsonObject[] = [
      { id: 'resp_1', status: 'failed', error: { code: 'server_error', message: 'Oops.' }, output: [] },
      { error: { message: 'Oops.' } },
      { id: 'resp_1', status: 'in_progress', output: [] },
      { id: 'resp_1', output: [], error: { message: 'Oops.' } },
      { hello: 'there' },
    ]
    for (const reply of replies) expect(() => read(replayResponse(reply))).toThrow(GatewayError)
  })

  test('for data that is not a JSON object', () => {
    expect(() => read([{ name: 'response.created', data: 'nonsense' }])).toThrow(GatewayError)
  })
})
