/** Reading the parts of upstreams' responses, streamed and non-streamed. */

import { describe, expect, test } from 'vitest'
import type { FoldedPart } from '../../src/conversation/reply.ts'
import { GatewayError } from '../../src/errors.ts'
import { ResponsesReader } from '../../src/formats/responses/read-reply.ts'
import { replayResponse } from '../../src/formats/responses/replay.ts'
import { ResponsesWriter } from '../../src/formats/responses/write-reply.ts'
import { decodeText } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { STREAMS } from '../translate/fixtures/streams.ts'
import { strictResponse } from './responses-grammar.ts'
import {
  added,
  argued,
  CALL,
  CREATED,
  called,
  done,
  ended,
  eventsOf,
  FACTS,
  message,
  Recorder,
  read,
  readList,
  textDelta,
  thought,
} from './responses-read-support.ts'
import { echoOf, factsOf, folded, USAGE } from './responses-support.ts'

describe('a stream of a provider', () => {
  const streams = STREAMS.filter(({ wire }) => wire === 'responses').map(stream => [stream.name, stream] as const)

  test.each(streams)('%s is read correctly, and written according to the grammar', (_name, { events, says }) => {
    const recorder = new Recorder()
    const writer = new ResponsesWriter(echoOf(), factsOf())
    const hear = () => {
      for (const sink of [recorder, writer]) {
        const reader = new ResponsesReader(sink, FACTS)
        for (const event of events) reader.push(event)
        const stop = reader.end()
        if (sink === writer) strictResponse(decodeText(writer.take()) + decodeText(writer.end(stop, USAGE)))
        else return { ...folded(recorder.steps, stop), report: reader.usage }
      }
      return expect.fail()
    }
    if (says instanceof RegExp) {
      expect(() => hear()).toThrow(expect.toSatisfy(error => says.test((error as GatewayError).code)))
      return
    }
    const { parts, stopReason, report } = hear()
    const stops = {
      end_turn: 'end',
      max_tokens: 'length',
      tool_use: 'calls',
      refusal: 'refusal',
      blocked: 'refusal',
    } as const
    expect({
      reasoning: parts.flatMap(part => (part.kind === 'reasoning' ? part.texts : [])).join('\n\n'),
      text: parts.flatMap(part => (part.kind === 'text' || part.kind === 'refusal' ? part.text : [])).join('\n\n'),
      calls: parts.flatMap(part => (part.kind === 'call' ? [[part.name, inputOf(part.arguments)]] : [])),
      stop: stops[stopReason],
      tokens: [report.usage.inputTokens, report.usage.outputTokens],
    }).toEqual(says)
    expect(report.state).toBe('final')
  })

  /**
   * A call's input as the fixtures state it. For a free-form call, they have the bare text, but the reader puts it into an
   * object.
   */
  function inputOf(json: string): unknown {
    const input = JSON.parse(json) as JsonObject
    return typeof input.input === 'string' ? input.input : input
  }

  test.each(streams)('%s gives the same parts when its response is whole', (_name, { events, says }) => {
    if (says instanceof RegExp) return
    const { response } = JSON.parse(events.at(-1)!.data) as { response: JsonObject }
    const whole = read(replayResponse(response))
    const streamed = read(events)
    // Providers encrypt reasoning again for the final output, so only compare whether a part has a seal (the encrypted
    // reasoning).
    const parts = (list: readonly FoldedPart[]) =>
      list.map(part => (part.kind === 'reasoning' ? { ...part, seal: part.seal !== null } : part))
    expect(parts(whole.parts)).toEqual(parts(streamed.parts))
    expect([whole.stopReason, whole.usage]).toEqual([streamed.stopReason, streamed.usage])
  })
})

test('a piece is emitted as soon as it arrives', () => {
  const sink = new Recorder()
  const reader = new ResponsesReader(sink, FACTS)
  const list = [CREATED, added(0, message('msg_1')), textDelta(0, 'msg_1', 'a'), textDelta(0, 'msg_1', 'b')]
  const told = eventsOf(...list).map(event => {
    reader.push(event)
    return sink.steps.length
  })
  expect(told).toEqual([0, 0, 2, 3])
})

describe('when a text is sent three times', () => {
  const item = message('msg_1', 'Hello')
  const textDone = {
    type: 'response.output_text.done',
    output_index: 0,
    item_id: 'msg_1',
    content_index: 0,
    text: 'Hello',
  }

  test.each<[string, JsonObject[]]>([
    [
      'deltas and all later repetitions',
      [textDelta(0, 'msg_1', 'Hel'), textDelta(0, 'msg_1', 'lo'), textDone, done(0, item)],
    ],
    ['only its done event', [textDone, done(0, item)]],
    ['its item alone', [done(0, item)]],
    ['deltas without the last piece', [textDelta(0, 'msg_1', 'Hel'), textDone, done(0, item)]],
    ['deltas without a done event', [textDelta(0, 'msg_1', 'Hel'), textDelta(0, 'msg_1', 'lo')]],
    [
      'a part that begins with it',
      [{ ...textDone, type: 'response.content_part.added', part: item.content![0 as never] }],
    ],
  ])('only missing text is added: %s', (_what, middle) => {
    const head = [CREATED, added(0, message('msg_1'))]
    for (const output of [[item], []]) {
      expect(readList(...head, ...middle, ended(output)).parts).toEqual([{ kind: 'text', text: 'Hello' }])
    }
  })

  test('nothing is added if the full text contradicts its deltas', () => {
    const list = [CREATED, added(0, message('msg_1')), textDelta(0, 'msg_1', 'Help'), done(0, item), ended([item])]
    expect(readList(...list).parts).toEqual([{ kind: 'text', text: 'Help' }])
  })
})

describe('items', () => {
  test('that only the final output has are emitted at the end, matched by id rather than by index', () => {
    const list = [CREATED, added(5, message('msg_1')), textDelta(5, 'msg_1', 'One'), done(5, message('msg_1', 'One'))]
    const { parts } = readList(...list, ended([thought('rs_1', 'Hm'), message('msg_1', 'One'), called('call_1', '{}')]))
    expect(parts).toEqual([
      { kind: 'text', text: 'One' },
      { kind: 'reasoning', texts: ['Hm'], seal: null },
      { ...CALL, arguments: '{}' },
    ])
  })

  test('that get new ids in the final output are not emitted twice', () => {
    const list = [CREATED, done(0, message('a', 'One')), done(1, message('b', 'Two')), done(2, called('call_1', '{}'))]
    const output = [
      message('x', 'One'),
      message('y', 'Two'),
      called('call_1', '{}', { id: 'fc_z' }),
      message('z', 'Three'),
    ]
    expect(readList(...list, ended(output)).parts).toEqual([
      { kind: 'text', text: 'One' },
      { kind: 'text', text: 'Two' },
      { ...CALL, arguments: '{}' },
      { kind: 'text', text: 'Three' },
    ])
  })

  test('that were never announced start with their first piece', () => {
    const list = [
      CREATED,
      {
        type: 'response.reasoning_summary_text.delta',
        output_index: 0,
        item_id: 'rs_1',
        summary_index: 0,
        delta: 'Hm',
      },
      done(0, thought('rs_1', 'Hm')),
      textDelta(1, 'msg_1', 'One'),
      ended(),
    ]
    expect(readList(...list).parts).toEqual([
      { kind: 'reasoning', texts: ['Hm'], seal: null },
      { kind: 'text', text: 'One' },
    ])
  })

  test('that a host does not number are matched by id', () => {
    const same = (item: JsonObject) => [
      added(0, { ...item, content: [] }),
      textDelta(0, String(item.id), 'Hi'),
      done(0, item),
    ]
    const list = [...same(message('a', 'Hi')), ...same(message('b', 'Hi'))]
    expect(readList(CREATED, ...list, ended()).parts).toHaveLength(2)
  })

  test('that are interleaved are put in sequence', () => {
    const list = [
      CREATED,
      added(0, called('call_1', '')),
      added(1, called('call_2', '', { name: 'other' })),
      argued(1, 'call_2', '{"b"'),
      argued(0, 'call_1', '{"a"'),
      argued(1, 'call_2', ':2}'),
      argued(0, 'call_1', ':1}'),
      done(1, called('call_2', '{"b":2}', { name: 'other' })),
      done(0, called('call_1', '{"a":1}')),
      ended(),
    ]
    const { steps, stopReason } = readList(...list)
    expect(steps.map(step => (step.do === 'delta' ? step.text : step.do))).toEqual([
      'open', '{"a"', ':1}', 'close', 'open', '{"b"', ':2}', 'close',
    ]) // biome-ignore format: one line
    expect(stopReason).toBe('tool_use')
  })

  test('that clients must not see, and vendor-specific events, are ignored', () => {
    const list = [
      CREATED,
      { type: 'response.queued', response: { id: 'resp_1' } },
      added(0, { type: 'web_search_call', id: 'ws_1', status: 'in_progress' }),
      { type: 'response.web_search_call.searching', output_index: 0, item_id: 'ws_1' },
      done(0, { type: 'web_search_call', id: 'ws_1', status: 'completed' }),
      { type: 'keepalive', sequence_number: 5 },
      { type: 'codex.rate_limits', limit: 5 },
      { type: 'response.metadata', metadata: {} },
      { type: 'response.output_item.added', output_index: 1, item: null },
      textDelta(2, 'msg_1', 'Hi', { obfuscation: 'xyz', logprobs: [] }),
      ended([{ type: 'web_search_call', id: 'ws_1' }, message('msg_1', 'Hi')]),
    ]
    expect(readList(...list).parts).toEqual([{ kind: 'text', text: 'Hi' }])
  })

  test('are held back up to a limit only', () => {
    const head = [CREATED, added(0, thought('rs_1')), added(1, message('msg_1'))]
    const much = textDelta(1, 'msg_1', 'x'.repeat(1_000_000))
    expect(() => readList(...head, ...Array.from({ length: 17 }, () => much))).toThrow(GatewayError)
  })
})
