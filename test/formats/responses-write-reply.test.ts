/** Writing replies as Responses streams. */

import { describe, expect, test } from 'vitest'
import { envelopePayload } from '../../src/conversation/reasoning-envelope.ts'
import { writeReply } from '../../src/formats/responses/write-reply.ts'
import { ascii, decodeText, encodeText, joinBytes, NO_BYTES } from '../../src/lib/byte-text.ts'
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
  SIGNER,
  tell,
  USAGE,
  written,
} from './responses-support.ts'
import { message, outputOf, RICH, SIGNATURE, writer } from './responses-write-support.ts'

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
          encrypted_content: SIGNER.wrap(envelopePayload(SIGNATURE, 'here', [])),
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
    expect(responseEvents(decodeText(each.take()))).toHaveLength(2)
    each.open({ kind: 'text' })
    expect(decodeText(each.take())).toBe('')
    each.delta('a')
    expect(responseEvents(decodeText(each.take())).map(event => event.type)).toEqual([
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
    ])
    each.delta('b')
    expect(responseEvents(decodeText(each.take()))).toEqual([
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
    expect(each.frame('text')).toBeNull()
    each.delta('đ"')
    let sse = decodeText(each.take())
    expect(each.frame('reasoning')).toBeNull()
    const frame = each.frame('text')
    const raw = [encodeText('\\u0111'), encodeText('\\n→')]
    sse += decodeText(frame?.written(raw) ?? NO_BYTES)
    each.recordFramed(joinBytes(raw))
    each.delta('!')
    each.close()
    tell(each, [open({ kind: 'call', id: 'c', name: 'look_up', signature: null })])
    sse += decodeText(each.take())
    sse += decodeText(each.frame('call')?.written([ascii('{\\"a\\":1}')]) ?? NO_BYTES)
    each.recordFramed(ascii('{\\"a\\":1}'))
    each.close()
    sse += decodeText(each.take()) + decodeText(each.end('end_turn', USAGE))
    expect(outputOf(sse)).toMatchObject([
      { content: [{ text: 'đ"đ\n→!' }] },
      { type: 'function_call', arguments: '{"a":1}' },
    ])
  })

  test('leaves out empty parts', () => {
    const nothing = [
      ...part('text'),
      ...part('reasoning'),
      open({ kind: 'reasoning' }),
      { do: 'startSection' } as const,
    ]
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
        encrypted_content: SIGNER.wrap(envelopePayload(redacted, 'here', [])),
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
