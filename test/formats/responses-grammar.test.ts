/** The strict reader of responses streams really is strict: it detects every fault that gateways are known to make. */

import { expect, test } from 'vitest'
import { ResponsesWriter } from '../../src/formats/responses/write-reply.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { responseEvents, strictResponse } from './responses-grammar.ts'
import { call, echoOf, factsOf, part, written } from './responses-support.ts'

const STEPS = [
  ...part('reasoning', 'Hm.'),
  ...part('text', 'Xin ', 'chào'),
  ...call('look_up', 'call_1', '{"a":', '1}'),
  ...call('look_up', 'call_2', '{}'),
]
const EVENTS = responseEvents(written(new ResponsesWriter(echoOf(), factsOf()), STEPS, 'tool_use'))
const streamOf = (events: readonly JsonObject[]) =>
  events.map(event => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`).join('')
const numbered = (events: readonly JsonObject[]) => events.map((event, index) => ({ ...event, sequence_number: index }))

const without = (type: string) => numbered(EVENTS.filter(event => event.type !== type))
const changed = (type: string, change: (event: JsonObject) => JsonObject) =>
  EVENTS.map(event => (event.type === type ? change(structuredClone(event)) : event))
const itemOf = (event: JsonObject) => event.item as JsonObject
const responseOf = (event: JsonObject) => event.response as JsonObject

test('a stream without a fault passes', () => {
  expect(strictResponse(streamOf(EVENTS)).status).toBe('completed')
})

test.each<[string, JsonObject[]]>([
  ['numbers that do not increase', EVENTS.map(event => ({ ...event, sequence_number: 1 }))],
  ['a missing first number', EVENTS.map(({ sequence_number, ...event }, index) => (index === 0 ? event : { ...event, sequence_number }))],
  ['a gap in the numbers', EVENTS.map((event, index) => ({ ...event, sequence_number: index * 2 }))],
  ['no response.created', without('response.created')],
  ['an item that was never added', without('response.output_item.added')],
  ['an item that is never done', without('response.output_item.done')],
  ['a text without its part', without('response.content_part.added')],
  ['a part that is never done', without('response.content_part.done')],
  ['reasoning without its part', without('response.reasoning_summary_part.added')],
  ['a text that is not done', without('response.output_text.done')],
  ['arguments that are not done', without('response.function_call_arguments.done')],
  ['no end', without('response.completed')],
  ['an event after the end', numbered([...EVENTS, EVENTS[3]!])],
  ['an event that clients do not know', numbered([...EVENTS.slice(0, 3), { type: 'response.metadata' }, ...EVENTS.slice(3)])],
  ['a text that comes twice', numbered(EVENTS.flatMap(event => (event.type === 'response.output_text.delta' ? [event, event] : [event])))],
  ['an empty delta', changed('response.output_text.delta', event => ({ ...event, delta: '' }))],
  ['reasoning sent as text', changed('response.reasoning_summary_text.delta', event => ({ ...event, type: 'response.output_text.delta' }))],
  ['reasoning that ends empty', changed('response.reasoning_summary_text.done', event => ({ ...event, text: '' }))],
  ['a delta without its logprobs', changed('response.output_text.delta', ({ logprobs: _, ...event }) => event)],
  ['a delta of another item', changed('response.output_text.delta', event => ({ ...event, item_id: 'msg_other' }))],
  ['indexes that do not increase', changed('response.output_item.added', event => ({ ...event, output_index: 0 }))],
  ['an id that changes', changed('response.output_item.done', event => ({ ...event, item: { ...itemOf(event), id: 'other' } }))],
  ['an item without a status', changed('response.output_item.done', event => ({ ...event, item: { ...itemOf(event), status: null } }))],
  ['a call with an object as arguments', changed('response.output_item.done', event => ({ ...event, item: { ...itemOf(event), arguments: {} } }))],
  ['an end without items', changed('response.completed', event => ({ ...event, response: { ...responseOf(event), output: [] } }))],
  ['an end without reasoning', changed('response.completed', event => ({ ...event, response: { ...responseOf(event), output: (responseOf(event).output as JsonObject[]).slice(1) } }))],
  ['a response with a different id', changed('response.completed', event => ({ ...event, response: { ...responseOf(event), id: 'resp_other' } }))],
  ['missing cached tokens', changed('response.completed', event => ({ ...event, response: { ...responseOf(event), usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } } }))],
  ['a status that contradicts the event', changed('response.completed', event => ({ ...event, response: { ...responseOf(event), status: 'incomplete' } }))],
])('%s is a fault', (_what, events) => {
  expect(() => strictResponse(streamOf(events))).toThrow()
}) // biome-ignore format: a row per fault

test('the end marker of another format is a fault', () => {
  expect(() => strictResponse(`${streamOf(EVENTS)}data: [DONE]\n\n`)).toThrow()
})
