/**
 * Replies in the responses format: streams checked against the grammar and with official clients, and whole responses.
 */

import { describe, expect, test } from 'vitest'
import { markPayload } from '../../src/conversation/marks.ts'
import { GatewayError } from '../../src/errors.ts'
import { ResponsesWriter, writeReply } from '../../src/formats/responses/write-reply.ts'
import { ascii, decodeText, encodeText } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { responseEvents, strictResponse } from './responses-grammar.ts'
import {
  call,
  delta,
  echoOf,
  FIELDS,
  factsOf,
  folded,
  open,
  part,
  readByAiSdk,
  readByOpenAi,
  readWholeByAiSdk,
  SEALER,
  type Step,
  tell,
  USAGE,
  written,
} from './responses-support.ts'

const writer = (echo = echoOf()) => new ResponsesWriter(echo, factsOf())
const outputOf = (sse: string) => strictResponse(sse).output as JsonObject[]

const SIGNATURE = { wire: 'messages', signature: 'EqQB' } as const
const THOUGHT: Step[] = [
  open({ kind: 'reasoning' }),
  delta('First, '),
  delta('look.'),
  { do: 'divide' },
  delta('Then "act".\n🙂'),
  { do: 'close', seal: SIGNATURE },
]
const RICH: Step[] = [
  ...THOUGHT,
  ...part('text', 'I look ', 'it up: đồng'),
  ...call('look_up', 'call_1', '{"city":', '"Hà Nội"}'),
  ...call('mcp__files__read', 'call_2', '{}'),
  ...call('apply_patch', 'call_3', '{"input":"*** Begin', ' Patch\\n"}'),
  ...call('tool_search', 'call_4', '{"query":"mail"}'),
  ...part('text', 'Done.'),
]

describe('a stream', () => {
  test('has every event of the grammar, and done events with the full text of their deltas', () => {
    const response = strictResponse(written(writer(), RICH, 'tool_use'))
    expect(response).toEqual({
      id: 'resp_n0',
      object: 'response',
      created_at: 1_790_000_000,
      model: 'client-model',
      status: 'completed',
      error: null,
      incomplete_details: null,
      usage: {
        input_tokens: 100,
        input_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
        output_tokens: 42,
        output_tokens_details: { reasoning_tokens: 20 },
        total_tokens: 142,
      },
      output: [
        {
          id: 'rs_n1',
          type: 'reasoning',
          status: 'completed',
          summary: [
            { type: 'summary_text', text: 'First, look.' },
            { type: 'summary_text', text: 'Then "act".\n🙂' },
          ],
          encrypted_content: SEALER.seal(markPayload(SIGNATURE, 'here', [])),
        },
        message('msg_n2', 'I look it up: đồng'),
        {
          id: 'fc_n3',
          type: 'function_call',
          status: 'completed',
          arguments: '{"city":"Hà Nội"}',
          call_id: 'call_1',
          name: 'look_up',
        },
        {
          id: 'fc_n4',
          type: 'function_call',
          status: 'completed',
          arguments: '{}',
          call_id: 'call_2',
          name: 'read',
          namespace: 'mcp__files',
        },
        {
          id: 'ctc_n5',
          type: 'custom_tool_call',
          status: 'completed',
          call_id: 'call_3',
          input: '*** Begin Patch\n',
          name: 'apply_patch',
        },
        {
          id: 'tsc_n6',
          type: 'tool_search_call',
          status: 'completed',
          call_id: 'call_4',
          execution: 'client',
          arguments: { query: 'mail' },
        },
        message('msg_n7', 'Done.'),
      ],
      background: false,
      completed_at: 1_790_000_009,
      max_tool_calls: null,
      previous_response_id: null,
      access_programs: null,
      service_tier: 'default',
      store: false,
      top_logprobs: 0,
      ...FIELDS,
    })
  })

  test('repeats long members of the request only at its end', () => {
    const [created, inProgress] = responseEvents(written(writer(), RICH))
    expect(created?.response).toMatchObject({ instructions: null, tools: [], temperature: 1 })
    expect(inProgress?.response).toEqual(created?.response)
  })

  test('is incremental: each upstream event produces its own text', () => {
    const each = writer()
    each.start()
    expect(responseEvents(each.take())).toHaveLength(2)
    each.open({ kind: 'text' })
    expect(each.take()).toBe('')
    each.delta('a')
    expect(responseEvents(each.take()).map(event => event.type)).toEqual([
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
    ])
    each.delta('b')
    expect(responseEvents(each.take())).toEqual([
      {
        type: 'response.output_text.delta',
        sequence_number: 5,
        item_id: 'msg_n1',
        output_index: 0,
        content_index: 0,
        delta: 'b',
        logprobs: [],
      },
    ])
  })

  test('accepts text as written in JSON between plain text', () => {
    const each = writer()
    tell(each, [open({ kind: 'text' })])
    expect(each.canWriteRaw('text')).toBe(false)
    each.delta('đ"')
    let sse = each.take()
    expect([each.canWriteRaw('text'), each.canWriteRaw('reasoning')]).toEqual([true, false])
    const raw = each.written(encodeText('\\u0111\\n→'))
    sse += decodeText(raw)
    each.delta('!')
    each.close()
    tell(each, [open({ kind: 'call', id: 'c', name: 'look_up', signature: null })])
    sse += each.take()
    expect(each.canWriteRaw('call')).toBe(true)
    sse += decodeText(each.written(ascii('{\\"a\\":1}')))
    each.close()
    sse += each.take() + each.end('end_turn', USAGE)
    expect(outputOf(sse)).toMatchObject([
      { content: [{ text: 'đ"đ\n→!' }] },
      { type: 'function_call', arguments: '{"a":1}' },
    ])
  })

  test('leaves out empty parts', () => {
    const nothing = [...part('text'), ...part('reasoning'), open({ kind: 'reasoning' }), { do: 'divide' } as const]
    const response = strictResponse(written(writer(), [...nothing, { do: 'close' }, ...part('refusal')]))
    expect(response).toMatchObject({ status: 'completed', output: [] })
  })

  test('shows sealed reasoning without text as an item without a summary', () => {
    const redacted = { wire: 'messages', redacted: 'Eabc' } as const
    const sealed = [open({ kind: 'reasoning' }), { do: 'close', seal: redacted } as const]
    expect(outputOf(written(writer(), sealed))).toEqual([
      {
        id: 'rs_n1',
        type: 'reasoning',
        status: 'completed',
        summary: [],
        encrypted_content: SEALER.seal(markPayload(redacted, 'here', [])),
      },
    ])
  })

  test('gives every call an id that is unique in the conversation', () => {
    const steps = [
      ...call('look_up', 'functions.look_up:0', '{}'),
      ...call('look_up', 'functions.look_up:0', '{}'),
      ...call('look_up', '', '{}'),
      ...call('look_up', 'old', '{}'),
    ]
    const output = outputOf(written(writer(echoOf({ callIds: new Set(['old']) })), steps))
    const ids = output.map(item => item.call_id)
    expect(ids[0]).toBe('functions_look_up_0')
    expect(new Set([...ids, 'old', '']).size).toBe(6)
  })

  test('carries the signature of a call in its id', () => {
    const signed = open({ kind: 'call', id: 'call_1', name: 'look_up', signature: 'sig' })
    expect(outputOf(written(writer(), [signed, delta('{}'), { do: 'close' }]))[0]).toMatchObject({
      call_id: 'call_1__sig_c2ln',
    })
  })

  test('writes missing arguments of a call as an empty object', () => {
    const [event] = responseEvents(written(writer(), call('look_up', 'c'))).filter(({ delta }) => delta !== undefined)
    expect(event?.delta).toBe('{}')
  })
})

describe('a free-form tool gets', () => {
  test.each([
    ['its only text', '{"input":"raw\\n"}', 'raw\n'],
    ['a text under another key', '{"patch":"raw"}', 'raw'],
    ['the named text among others', '{"why":"because","input":"raw"}', 'raw'],
    ['anything but JSON as it is', '*** Begin Patch', '*** Begin Patch'],
    ['a text that is JSON itself', '"raw"', 'raw'],
    ['several texts without a name as they are', '{"a":"1","b":"2"}', '{"a":"1","b":"2"}'],
    ['nothing for nothing', '', ''],
    ['nothing for an empty object', '{}', ''],
  ])('%s', (_what, json, input) => {
    const steps = call('functions__exec', 'call_9', json)
    const item = { type: 'custom_tool_call', name: 'exec', namespace: 'functions', call_id: 'call_9', input }
    expect(outputOf(written(writer(), json === '' ? call('functions__exec', 'call_9') : steps))).toMatchObject([item])
    expect(writeReply(folded(steps), echoOf(), factsOf()).output).toMatchObject([item])
  })
})

describe('the end', () => {
  test.each([
    ['end_turn', 'completed', null],
    ['tool_use', 'completed', null],
    ['max_tokens', 'incomplete', { reason: 'max_output_tokens' }],
    ['refusal', 'incomplete', { reason: 'content_filter' }],
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
    const sse = each.take() + each.fail(error)
    expect(strictResponse(sse)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: 'It broke.' },
      output: [message('msg_n1', 'One.')],
      usage: null,
    })
    expect((await readByOpenAi(sse)).status).toBe('failed')
  })

  test('of a stream that failed before it started is a failed response, too', async () => {
    const sse = writer().fail(new GatewayError('upstream_rate_limited', {}))
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
    const { error } = strictResponse(writer().fail(new GatewayError(code, {})))
    expect(error).toMatchObject({ code: told })
  })
})

describe.each([
  ['max_tokens', 'max_output_tokens'],
  ['refusal', 'content_filter'],
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

test('a complete whole reply has the time of its completion', () => {
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

  test('the whole reply: AI SDK', async () => {
    const read = await readWholeByAiSdk(
      writeReply(folded(RICH, 'tool_use'), echoOf({ refersToItems: true }), factsOf()),
    )
    expect(read.content.filter(({ type }) => type === 'text')).toMatchObject([
      { text: 'I look it up: đồng' },
      { text: 'Done.' },
    ])
  })
})

test('a whole reply has the items of the stream, with the same ids', () => {
  const streamed = strictResponse(written(writer(), RICH, 'tool_use'))
  expect(writeReply(folded(RICH, 'tool_use'), echoOf(), factsOf())).toEqual(streamed)
})

function message(id: string, text: string): JsonObject {
  return {
    id,
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  }
}
