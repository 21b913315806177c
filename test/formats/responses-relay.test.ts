/** Responses that pass through: what the client gets otherwise than the provider wrote it, and nothing else. */

import { describe, expect, test } from 'vitest'
import { CarriedItems, itemsCarriedBy } from '../../src/conversation/carried-items.ts'
import { ToolNames } from '../../src/conversation/names.ts'
import { StreamFeed } from '../../src/conversation/stream-feed.ts'
import { ResponsesPassThrough, type ResponsesPassThroughOptions } from '../../src/formats/responses/relay.ts'
import { relayEdits } from '../../src/formats/responses/relay-whole.ts'
import { reportOf } from '../../src/formats/responses/usage.ts'
import { ResponsesWriter } from '../../src/formats/responses/write-reply.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { editJson } from '../../src/lib/json-text.ts'
import { STREAMS } from '../translate/fixtures/streams.ts'
import { FRAMINGS } from '../translate/framings.ts'
import { responseEvents, strictResponse } from './responses-grammar.ts'
import { call, echoOf, factsOf, part, readByOpenAi, SEALER, written } from './responses-support.ts'

const OPTIONS: ResponsesPassThroughOptions = {
  clientModel: 'client-model',
  countTokens: () => 1,
  usageFacts: {},
  names: null,
  mark: null,
}

function relayed(sse: string, options: Partial<ResponsesPassThroughOptions>): string {
  const stream = new ResponsesPassThrough({ ...OPTIONS, ...options })
  const parts: Buffer[] = []
  const write = (text: string, encoding: 'latin1' | 'utf8') => parts.push(Buffer.from(text, encoding))
  const feed = new StreamFeed(stream, write, { eventBytesMax: 1_000_000 })
  feed.push(Buffer.from(sse))
  feed.end()
  write(stream.end(), stream.encoding)
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

describe('without a tool that went upstream under another name, and without references', () => {
  const providers = STREAMS.filter(({ wire, says }) => wire === 'responses' && !(says instanceof RegExp))

  test.each(providers.map(stream => [stream.name, stream.events] as const))('%s keeps every byte', (_name, events) => {
    const sse = Buffer.concat(FRAMINGS.get('as it came')!(events)).toString()
    const model = String((JSON.parse(events[0]!.data) as { response: JsonObject }).response.model)
    expect(relayed(sse, { clientModel: model })).toBe(sse)
  })
})

describe('tools get the client’s names back', () => {
  test('in the items of a stream, and in all that a response repeats', () => {
    const told = relayed(SSE, { names })
    expect(told).not.toContain(SENT)
    expect(told).toBe(SSE.replaceAll(SENT, LONG))
  })

  test('in a whole response', () => {
    const whole = strictResponse(SSE)
    const edits = relayEdits(whole, reportOf(whole, {}), { ...OPTIONS, names })
    expect(editJson(JSON.stringify(whole), edits)).toBe(JSON.stringify(whole).replaceAll(SENT, LONG))
  })
})

describe('for a client that refers to items by id', () => {
  test('a stream ends with an item that carries the others', async () => {
    const told = relayed(SSE, { names, mark: SEALER.seal })
    const before = responseEvents(SSE)
    const events = responseEvents(told)
    // Nothing before the end changes but names.
    const renamed = (list: JsonObject[]) => JSON.stringify(list).replaceAll(SENT, LONG)
    expect(JSON.stringify(events.slice(0, -3))).toBe(renamed(before.slice(0, -1)))
    const { output } = strictResponse(told) as { output: JsonObject[] }
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'message', 'function_call', 'reasoning'])
    expect(itemsCarriedBy(String(output[3]?.id), SEALER.open)).toEqual(output.slice(0, 2))
    expect((await readByOpenAi(told)).output_text).toBe('Xin chào')
  })

  test('a host that leaves the items out of its last event, and numbers nothing, is followed in both', () => {
    const bare = SSE.replaceAll(/"sequence_number":\d+,/g, '').replace(
      /"output":\[\{.*\],"background"/,
      '"output":[],"background"',
    )
    const events = responseEvents(relayed(bare, { mark: SEALER.seal }))
    expect(events.filter(event => 'sequence_number' in event)).toEqual([])
    expect(events.at(-1)?.response).toMatchObject({ output: [] })
    expect(events.at(-2)).toMatchObject({ type: 'response.output_item.done', output_index: 3 })
  })

  test('items of a whole response carry themselves', () => {
    const whole = strictResponse(SSE)
    const edits = relayEdits(whole, reportOf(whole, {}), { ...OPTIONS, mark: SEALER.seal })
    const told = JSON.parse(editJson(JSON.stringify(whole), edits)) as { output: JsonObject[] }
    const ids = told.output.map(({ id }) => String(id))
    const carried = new CarriedItems(ids, SEALER.open)
    const [thought, said, called] = (whole.output as JsonObject[]).map(({ id: _, ...rest }) => rest)
    expect(ids.map(id => carried.resolve(id))).toEqual([[thought], [said], null])
    expect({ ...told, output: told.output.map(({ id: _, ...rest }) => rest) }).toEqual({
      ...whole,
      output: [thought, said, called],
    })
  })

  test('there is nothing to carry where there was nothing but calls', () => {
    const sse = written(new ResponsesWriter(echoOf(), factsOf()), call('short', 'call_1', '{}'), 'tool_use')
    expect(relayed(sse, { mark: SEALER.seal })).toBe(sse)
  })
})
