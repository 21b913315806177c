/** Responses that pass through: the gateway makes only intended changes to the provider's bytes. */

import { describe, expect, test } from 'vitest'
import { ToolNames } from '../../src/conversation/names.ts'
import { StreamFeed } from '../../src/conversation/stream-feed.ts'
import { GatewayError } from '../../src/errors.ts'
import { ResponsesRelay, type ResponsesRelayOptions } from '../../src/formats/responses/relay.ts'
import { relayEdits } from '../../src/formats/responses/relay-whole.ts'
import { reportOf } from '../../src/formats/responses/usage.ts'
import { ResponsesWriter } from '../../src/formats/responses/write-reply.ts'
import { type ByteText, decodeText, encodeText, toBuffer } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { editJson } from '../../src/lib/json-text.ts'
import { STREAMS } from '../translate/fixtures/streams.ts'
import { FRAMINGS } from '../translate/framings.ts'
import { strictResponse } from './responses-grammar.ts'
import { call, echoOf, factsOf, part, written } from './responses-support.ts'

const OPTIONS: ResponsesRelayOptions = {
  clientModel: 'client-model',
  countTokens: () => 1,
  usageFacts: {},
  names: null,
}

function relayed(sse: string, options: Partial<ResponsesRelayOptions>): string {
  const stream = new ResponsesRelay({ ...OPTIONS, ...options })
  const parts: Buffer[] = []
  const write = (events: ByteText) => parts.push(toBuffer(events))
  const feed = new StreamFeed(stream, write, { eventBytesMax: 1_000_000, replyValuesMax: 100_000 })
  feed.push(Buffer.from(sse))
  feed.end()
  write(stream.end())
  return Buffer.concat(parts).toString()
}

const LONG = `look_${'x'.repeat(80)}`
const names = new ToolNames([LONG, 'short'], { nameMax: 64, nameStart: 'any' })
const SENT = names.upstream(LONG)
const TOOLS = [
  { type: 'function', name: SENT, parameters: {} },
  { type: 'namespace', name: 'short', tools: [{ type: 'function', name: SENT }] },
]
const fields = { ...echoOf().fields, tools: TOOLS, tool_choice: { type: 'function', name: SENT } }
const STEPS = [...part('reasoning', 'Hm.'), ...part('text', 'Xin chào'), ...call(SENT, 'call_1', '{"a":1}')]
const SSE = written(new ResponsesWriter(echoOf({ fields }), factsOf()), STEPS, 'tool_use')

describe('without renamed tools', () => {
  const providers = STREAMS.filter(({ wire, says }) => wire === 'responses' && !(says instanceof RegExp))

  test.each(providers.map(stream => [stream.name, stream.events] as const))('%s keeps every byte', (_name, events) => {
    const sse = Buffer.concat(FRAMINGS.get('as it came')!(events)).toString()
    const model = String((JSON.parse(events[0]!.data) as { response: JsonObject }).response.model)
    expect(relayed(sse, { clientModel: model })).toBe(sse)
  })
})

describe('the client’s tool names are restored', () => {
  test('in the items of a stream, and wherever a response repeats them', () => {
    const told = relayed(SSE, { names })
    expect(told).not.toContain(SENT)
    expect(told).toBe(SSE.replaceAll(SENT, LONG))
  })

  test('in a non-streamed response', () => {
    const whole = strictResponse(SSE)
    const edits = relayEdits(whole, reportOf(whole, {}), { ...OPTIONS, names })
    expect(decodeText(editJson(encodeText(JSON.stringify(whole)), edits))).toBe(
      JSON.stringify(whole).replaceAll(SENT, LONG),
    )
  })
})

describe('skimmed pieces of output', () => {
  const delta = (kind: string, number: number) =>
    `event: response.${kind}.delta\ndata: {"type":"response.${kind}.delta","sequence_number":${number},"delta":"Hà"}\n\n`

  function skimmed(events: string) {
    const stream = new ResponsesRelay({ ...OPTIONS, countTokens: text => text.length })
    const told = stream.skim(encodeText(events), 0, Number.POSITIVE_INFINITY)
    return { stream, told: decodeText(told) }
  }

  test('are counted', () => {
    const events = delta('output_text', 4) + delta('output_text', 5) + delta('refusal', 6)
    const { stream, told } = skimmed(events)
    expect([told, stream.countOutputTokens()]).toEqual([events, 6])
  })

  test('still advance the number for a failure event', () => {
    const { stream } = skimmed(delta('output_text', 4) + delta('output_text', 5))
    expect(stream.failureEvent(new GatewayError('upstream_failed', {}))).toContain('"sequence_number":6,')
  })

  test('exclude audio, and events with more lines', () => {
    const text = delta('output_text', 4)
    for (const other of [
      delta('output_audio', 5),
      delta('audio.transcript', 5),
      text.replace('data:', 'id: 1\ndata:'),
    ]) {
      expect(skimmed(text + other + text).told).toBe(text)
    }
  })
})
