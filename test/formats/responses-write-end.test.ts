/** How responses end when complete, cut off, refused or failed, and how official clients read them. */

import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/errors.ts'
import { writeReply } from '../../src/formats/responses/write-reply.ts'
import { decodeText } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { strictResponse } from './responses-grammar.ts'
import {
  call,
  delta,
  echoOf,
  factsOf,
  folded,
  open,
  part,
  readByAiSdk,
  readByOpenAi,
  readWholeByAiSdk,
  tell,
  written,
} from './responses-support.ts'
import { message, RICH, THOUGHT, writer } from './responses-write-support.ts'

describe('the end', () => {
  test.each([
    ['end_turn', 'completed', null],
    ['tool_use', 'completed', null],
    ['max_tokens', 'incomplete', { reason: 'max_output_tokens' }],
    ['blocked', 'incomplete', { reason: 'content_filter' }],
  ] as const)('after %s is %s', (reason, status, details) => {
    const streamed = strictResponse(written(writer(), part('text', 'Hi'), reason))
    expect(streamed).toMatchObject({ status, incomplete_details: details })
    expect(writeReply(folded(part('text', 'Hi'), reason), echoOf(), factsOf())).toEqual(streamed)
  })

  test('after an explained refusal is completed', () => {
    const steps = part('refusal', 'I ', 'cannot.')
    const streamed = strictResponse(written(writer(), steps, 'refusal'))
    expect(streamed).toMatchObject({ status: 'completed', incomplete_details: null })
    expect(streamed.output).toMatchObject([{ content: [{ type: 'refusal', refusal: 'I cannot.' }] }])
    expect(writeReply(folded(steps, 'refusal'), echoOf(), factsOf())).toEqual(streamed)
  })

  test('of a failed stream is a failed response with the finished items', async () => {
    const each = writer()
    tell(each, [...part('text', 'One.'), open({ kind: 'text' }), delta('Tw')])
    const error = new GatewayError('upstream_failed', { message: 'It broke.' })
    const sse = decodeText(each.take()) + each.failureEvent(error)
    expect(strictResponse(sse)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'It broke.' },
      output: [message('msg_n1', 'One.')],
      usage: null,
    })
    expect((await readByOpenAi(sse)).status).toBe('failed')
  })

  test('of a stream that failed before it started is a failed response, too', async () => {
    const sse = writer().failureEvent(new GatewayError('upstream_rate_limited', {}))
    expect(strictResponse(sse)).toMatchObject({ status: 'failed', error: { code: 'rate_limit_exceeded' }, output: [] })
    expect((await readByOpenAi(sse)).error?.code).toBe('rate_limit_exceeded')
  })

  test.each([
    ['context_length_exceeded', 'context_length_exceeded'],
    ['upstream_refused', 'invalid_prompt'],
    ['upstream_overloaded', 'server_is_overloaded'],
    ['upstream_rate_limited', 'rate_limit_exceeded'],
    ['insufficient_balance', 'insufficient_quota'],
    ['upstream_failed', 'server_error'],
  ] as const)('after %s has a code that clients know: %s', (code, told) => {
    const { error } = strictResponse(writer().failureEvent(new GatewayError(code, {})))
    expect(error).toMatchObject({ code: told })
  })
})

describe.each([
  ['max_tokens', 'max_output_tokens'],
  ['blocked', 'content_filter'],
] as const)('a reply that ends with %s', (stopReason, reason) => {
  const statuses = (response: JsonObject) => (response.output as JsonObject[]).map(({ status }) => status)
  const steps = [...part('text', 'I look.'), ...call('look_up', 'call_1', '{"city":')]
  const expected = { status: 'incomplete', incomplete_details: { reason }, completed_at: null }

  test('is incomplete in its last item only, streamed', async () => {
    const sse = written(writer(), steps, stopReason)
    const response = strictResponse(sse)
    expect(response).toMatchObject(expected)
    expect(statuses(response)).toEqual(['completed', 'incomplete'])
    expect(statuses((await readByOpenAi(sse)) as unknown as JsonObject)).toEqual(['completed', 'incomplete'])
  })

  test.each([true, false])('is incomplete in its last item only, whole (items referred to: %s)', refersToItems => {
    const response = writeReply(folded(steps, stopReason), echoOf({ refersToItems }), factsOf())
    expect(response).toMatchObject(expected)
    expect(statuses(response)).toEqual(['completed', 'incomplete'])
  })
})

test('a complete non-streamed reply has the time of its completion', () => {
  const response = writeReply(folded(part('text', 'Hi.')), echoOf(), factsOf())
  expect(response).toMatchObject({ status: 'completed', created_at: 1_790_000_000, completed_at: 1_790_000_009 })
})

describe('the official readers understand', () => {
  test('the stream: openai', async () => {
    const sse = written(writer(), RICH, 'tool_use')
    const response = await readByOpenAi(sse)
    expect(response.output_text).toBe('I look it up: đồngDone.')
    const { id, output } = strictResponse(sse)
    expect(response).toMatchObject({ id: id!, status: 'completed' })
    expect(response.output.map(({ id: own, type }) => [own, type])).toEqual(
      (output as JsonObject[]).map(({ id: own, type }) => [own, type]),
    )
  })

  test('the stream: AI SDK', async () => {
    const parts = await readByAiSdk(written(writer(), [...THOUGHT, ...RICH.slice(6)], 'tool_use'))
    expect(parts.filter(({ type }) => type === 'error')).toEqual([])
    expect(parts.filter(({ type }) => type === 'tool-call')).toMatchObject([
      { toolCallId: 'call_1', toolName: 'look_up', input: '{"city":"Hà Nội"}' },
      { toolCallId: 'call_2', toolName: 'read' },
      { toolCallId: 'call_3', toolName: 'apply_patch' },
      { toolCallId: 'call_4', toolName: 'tool_search' },
    ])
    expect(parts.at(-1)).toMatchObject({ type: 'finish', usage: { outputTokens: { total: 42, reasoning: 20 } } })
  })

  test('the non-streamed reply: AI SDK', async () => {
    const read = await readWholeByAiSdk(
      writeReply(folded(RICH, 'tool_use'), echoOf({ refersToItems: true }), factsOf()),
    )
    expect(read.content.filter(({ type }) => type === 'text')).toMatchObject([
      { text: 'I look it up: đồng' },
      { text: 'Done.' },
    ])
  })
})

test('a non-streamed reply has the items of the stream, with the same ids', () => {
  const streamed = strictResponse(written(writer(), RICH, 'tool_use'))
  expect(writeReply(folded(RICH, 'tool_use'), echoOf(), factsOf())).toEqual(streamed)
})
