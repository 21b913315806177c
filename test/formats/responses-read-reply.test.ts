/** Reading upstreams' responses, streamed and whole, as parts. */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { FoldedPart, PartStart, ReplySink, UpstreamEvent } from '../../src/conversation/reply.ts'
import type { Seal } from '../../src/conversation/seal.ts'
import { GatewayError } from '../../src/errors.ts'
import { ResponsesReader } from '../../src/formats/responses/read-reply.ts'
import { replayResponse } from '../../src/formats/responses/replay.ts'
import { ResponsesWriter, writeReply } from '../../src/formats/responses/write-reply.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { STREAMS } from '../translate/fixtures/streams.ts'
import { responseEvents, strictResponse } from './responses-grammar.ts'
import { delta, echoOf, factsOf, folded, open, type Step, USAGE, written } from './responses-support.ts'

const FACTS = { usage: {}, signaturePath: null }

/** Records the calls that it gets, and fails if they break the rules of a sink. */
class Recorder implements ReplySink {
  readonly steps: Step[] = []
  #started = false
  #open: PartStart | null = null

  start(): void {
    expect(this.#started, 'starts once').toBe(false)
    this.#started = true
  }

  open(part: PartStart): void {
    expect([this.#started, this.#open], 'one part at a time').toEqual([true, null])
    this.#open = part
    this.steps.push(open(part))
  }

  said(): void {}

  delta(text: string): void {
    expect(this.#open).not.toBeNull()
    expect(text).not.toBe('')
    this.steps.push(delta(text))
  }

  divide(): void {
    expect(this.#open?.kind).toBe('reasoning')
    this.steps.push({ do: 'divide' })
  }

  close(seal: Seal | null = null): void {
    expect(this.#open).not.toBeNull()
    if (seal !== null) expect(this.#open?.kind).toBe('reasoning')
    this.#open = null
    this.steps.push({ do: 'close', seal })
  }

  get isClosed(): boolean {
    return this.#open === null
  }
}

function read(events: readonly UpstreamEvent[]) {
  const sink = new Recorder()
  const reader = new ResponsesReader(sink, FACTS)
  for (const event of events) reader.push(event)
  const stopReason = reader.end()
  expect(sink.isClosed, 'nothing is left open').toBe(true)
  return { ...folded(sink.steps, stopReason), steps: sink.steps, usage: reader.usage }
}

/** Events as most hosts send them: with the type in both places. The reader ignores their numbers. */
const eventsOf = (...list: JsonObject[]): UpstreamEvent[] =>
  list.map(data => ({ name: String(data.type), data: JSON.stringify(data) }))
const readList = (...list: JsonObject[]) => read(eventsOf(...list))

const CREATED: JsonObject = { type: 'response.created', response: { id: 'resp_1', output: [] } }
const ended = (output: JsonObject[] = [], more: JsonObject = {}): JsonObject => ({
  type: 'response.completed',
  response: { id: 'resp_1', status: 'completed', output, ...more },
})
const added = (output_index: number, item: JsonObject) => ({ type: 'response.output_item.added', output_index, item })
const done = (output_index: number, item: JsonObject) => ({ type: 'response.output_item.done', output_index, item })
const message = (id: string, ...texts: string[]): JsonObject => ({
  type: 'message',
  id,
  content: texts.map(text => ({ type: 'output_text', text })),
})
const said = (output_index: number, item_id: string, text: string, more: JsonObject = {}) => ({
  type: 'response.output_text.delta',
  output_index,
  item_id,
  content_index: 0,
  delta: text,
  ...more,
})
const called = (id: string, json: string, more: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'look_up',
  arguments: json,
  ...more,
})
const argued = (output_index: number, id: string, text: string, of: 'delta' | 'done' = 'delta'): JsonObject => ({
  type: `response.function_call_arguments.${of}`,
  output_index,
  item_id: `fc_${id}`,
  [of === 'delta' ? 'delta' : 'arguments']: text,
})
const thought = (id: string, ...texts: string[]): JsonObject => ({
  type: 'reasoning',
  id,
  summary: texts.map(text => ({ type: 'summary_text', text })),
})
const CALL = { kind: 'call', id: 'call_1', name: 'look_up', signature: null }

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
        if (sink === writer) strictResponse(writer.take() + writer.end(stop, USAGE))
        else return { ...folded(recorder.steps, stop), report: reader.usage }
      }
      return expect.fail()
    }
    if (says instanceof RegExp) {
      expect(() => hear()).toThrow(expect.toSatisfy(error => says.test((error as GatewayError).code)))
      return
    }
    const { parts, stopReason, report } = hear()
    const stops = { end_turn: 'end', max_tokens: 'length', tool_use: 'calls', refusal: 'refusal' } as const
    expect({
      reasoning: parts.flatMap(part => (part.kind === 'reasoning' ? part.texts : [])).join('\n\n'),
      text: parts.flatMap(part => (part.kind === 'text' || part.kind === 'refusal' ? part.text : [])).join(''),
      calls: parts.flatMap(part => (part.kind === 'call' ? [[part.name, inputOf(part.arguments)]] : [])),
      stop: stops[stopReason],
      tokens: [report.usage.inputTokens, report.usage.outputTokens],
    }).toEqual(says)
    expect(report.state).toBe('final')
  })

  /** The input of a free-form call is read as its only text. */
  function inputOf(json: string): unknown {
    const input = JSON.parse(json) as JsonObject
    return typeof input.input === 'string' ? input.input : input
  }

  test.each(streams)('%s gives the same parts when its response is whole', (_name, { events, says }) => {
    if (says instanceof RegExp) return
    const { response } = JSON.parse(events.at(-1)!.data) as { response: JsonObject }
    const whole = read(replayResponse(response))
    const streamed = read(events)
    // Providers encrypt again for the final output.
    const parts = (list: readonly FoldedPart[]) =>
      list.map(part => (part.kind === 'reasoning' ? { ...part, seal: part.seal !== null } : part))
    expect(parts(whole.parts)).toEqual(parts(streamed.parts))
    expect([whole.stopReason, whole.usage]).toEqual([streamed.stopReason, streamed.usage])
  })
})

test('a piece is emitted as soon as it arrives', () => {
  const sink = new Recorder()
  const reader = new ResponsesReader(sink, FACTS)
  const list = [CREATED, added(0, message('msg_1')), said(0, 'msg_1', 'a'), said(0, 'msg_1', 'b')]
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
    ['deltas and all the rest', [said(0, 'msg_1', 'Hel'), said(0, 'msg_1', 'lo'), textDone, done(0, item)]],
    ['its done event alone', [textDone, done(0, item)]],
    ['its item alone', [done(0, item)]],
    ['deltas without the last piece', [said(0, 'msg_1', 'Hel'), textDone, done(0, item)]],
    ['deltas without a done event', [said(0, 'msg_1', 'Hel'), said(0, 'msg_1', 'lo')]],
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
    const list = [CREATED, added(0, message('msg_1')), said(0, 'msg_1', 'Help'), done(0, item), ended([item])]
    expect(readList(...list).parts).toEqual([{ kind: 'text', text: 'Help' }])
  })
})

describe('items', () => {
  test('that only the final output has are emitted at the end, matched by id rather than by index', () => {
    const list = [CREATED, added(5, message('msg_1')), said(5, 'msg_1', 'One'), done(5, message('msg_1', 'One'))]
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
      said(1, 'msg_1', 'One'),
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
      said(0, String(item.id), 'Hi'),
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
      said(2, 'msg_1', 'Hi', { obfuscation: 'xyz', logprobs: [] }),
      ended([{ type: 'web_search_call', id: 'ws_1' }, message('msg_1', 'Hi')]),
    ]
    expect(readList(...list).parts).toEqual([{ kind: 'text', text: 'Hi' }])
  })

  test('are held back up to a limit only', () => {
    const head = [CREATED, added(0, thought('rs_1')), added(1, message('msg_1'))]
    const much = said(1, 'msg_1', 'x'.repeat(1_000_000))
    expect(() => readList(...head, ...Array.from({ length: 17 }, () => much))).toThrow(GatewayError)
  })
})

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
    const list = [added(0, thought('rs_1')), summary(0, 'a'), said(1, 'msg_1', 'Hi'), done(0, finished), ended()]
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
    ['refusal', 'a filter', [cut('content_filter')]],
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
    const list = [CREATED, ended(), said(0, 'msg_1', 'late'), { type: 'error', message: 'late' }]
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
    expect(code([CREATED, said(0, 'msg_1', 'Hi'), event])).toBe(expected)
  }) // biome-ignore format: a row per case

  test('under status 200 in a whole reply', () => {
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

const piece = fc.oneof(
  fc.constantFrom('a', ' ', '\n', '"', '\\', 'đồng 🙂', '</x>'),
  fc.string({ minLength: 1, maxLength: 9 }),
)
const pieces = fc.array(piece, { minLength: 1, maxLength: 4 })
const spoken = fc.record({ kind: fc.constantFrom('text', 'refusal'), texts: pieces })
const encrypted = fc.option(fc.stringMatching(/^[\w-]{1,30}$/), { nil: null })
const reasoned = fc.record({
  kind: fc.constant('reasoning'),
  summaries: fc.array(pieces, { minLength: 1, maxLength: 3 }),
  encrypted,
})
const json = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
const invoked = fc.record({
  kind: fc.constant('call'),
  name: fc.constantFrom('look_up', 'apply_patch'),
  text: piece,
  json,
  cut: fc.nat(30),
})
const script = fc.array(fc.oneof(spoken, reasoned, invoked), { maxLength: 6 }).map(parts => parts.map(stepsOf))
type ScriptPart =
  | { kind: string; texts: string[] }
  | { kind: string; summaries: string[][]; encrypted: string | null }
  | { kind: string; name: string; text: string; json: object; cut: number }

function stepsOf(part: ScriptPart, index: number): Step[] {
  if ('texts' in part) {
    return [open({ kind: part.kind as 'text' }), ...part.texts.map(delta), { do: 'close', seal: null }]
  }
  if ('summaries' in part) {
    const told = part.summaries.flatMap((texts, at) => [
      ...(at > 0 ? [{ do: 'divide' } as const] : []),
      ...texts.map(delta),
    ])
    const seal: Seal | null =
      part.encrypted === null ? null : { wire: 'responses', id: `rs_${index}`, encrypted: part.encrypted }
    return [open({ kind: 'reasoning' }), ...told, { do: 'close', seal }]
  }
  const text = part.name === 'apply_patch' ? JSON.stringify({ input: part.text }) : JSON.stringify(part.json)
  const texts = [text.slice(0, part.cut), text.slice(part.cut)].filter(each => each !== '')
  return [
    open({ kind: 'call', id: `call_${index}`, name: part.name, signature: null }),
    ...texts.map(delta),
    { do: 'close', seal: null },
  ]
}

describe('whatever is written can be read back', () => {
  // A seal is written unchanged, so that it can be sent back.
  const facts = () => factsOf({ markSeal: seal => ('encrypted' in seal ? seal.encrypted : '') })
  const unnamed = (steps: readonly Step[]) =>
    folded(steps).parts.map(part =>
      part.kind === 'reasoning' && part.seal !== null ? { ...part, seal: { ...part.seal, id: null } } : part,
    )

  test('streamed', () => {
    fc.assert(
      fc.property(script, fc.boolean(), (parts, refersToItems) => {
        const steps = parts.flat()
        const sse = written(new ResponsesWriter(echoOf({ refersToItems }), facts()), steps)
        strictResponse(sse)
        const again = read(responseEvents(sse).map(data => ({ name: '', data: JSON.stringify(data) })))
        expect(unnamed(again.steps)).toEqual(unnamed(steps))
        expect(again.usage).toMatchObject({ state: 'final', usage: USAGE })
      }),
    )
  })

  test('whole', () => {
    fc.assert(
      fc.property(script, fc.boolean(), (parts, refersToItems) => {
        const steps = parts.flat()
        const again = read(replayResponse(writeReply(folded(steps), echoOf({ refersToItems }), facts())))
        expect(unnamed(again.steps)).toEqual(unnamed(steps))
        expect(again.usage).toMatchObject({ state: 'final', usage: USAGE })
      }),
    )
  })
})

test('a stream with lost, repeated and reordered events is read by the rules, or fails as an upstream error', () => {
  const change = fc.record({ at: fc.nat(200), to: fc.nat(200), what: fc.constantFrom('drop', 'double', 'move') })
  fc.assert(
    fc.property(script, fc.array(change, { minLength: 1, maxLength: 5 }), (parts, changes) => {
      const events = responseEvents(written(new ResponsesWriter(echoOf(), factsOf()), parts.flat()))
      for (const { at, to, what } of changes) {
        const event = events[at % events.length]
        if (event === undefined) break
        if (what !== 'double') events.splice(at % events.length, 1)
        if (what !== 'drop') events.splice(to % (events.length + 1), 0, event)
      }
      try {
        read(eventsOf(...events))
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error
        expect(error.code).toBe('upstream_failed')
      }
    }),
    { numRuns: 300 },
  )
})
