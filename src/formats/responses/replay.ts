/** Turns a non-streamed response into the events of a stream. */

import type { UpstreamEvent } from '../../conversation/reply.ts'
import { replayed } from '../../conversation/stream-event.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, textOrNull } from '../../lib/json.ts'

type Told = readonly [type: string, members: JsonObject]

/**
 * Returns events like those that an upstream would have streamed. A failed response, or JSON that is not a response, becomes a
 * single event; a response still in progress gives no events.
 */
export function replayResponse(response: JsonObject): readonly UpstreamEvent[] {
  const status = response.status ?? 'completed'
  if (response.error && status === 'completed') return numbered([['error', { error: response.error }]])
  if (status === 'failed') return numbered([['response.failed', { response }]])
  if (!Array.isArray(response.output)) return [replayed('', response)]
  if (status !== 'completed' && status !== 'incomplete') return []
  const begun = { ...response, status: 'in_progress', incomplete_details: null, output: [], usage: null }
  return numbered([
    ['response.created', { response: begun }],
    ['response.in_progress', { response: begun }],
    ...response.output.flatMap((item, index) => (isObject(item) ? itemEvents(item, index) : [])),
    [`response.${status}`, { response }],
  ])
}

function numbered(events: readonly Told[]): UpstreamEvent[] {
  return events.map(([type, members], sequence_number) => replayed(type, { type, sequence_number, ...members }))
}

/** How the text of a part or item is streamed. */
interface TextEvents {
  /** Prefix of the event names. */
  readonly events: string
  /** Name of the member that has the text in the part or item, and in the last event. */
  readonly member: string
  /** Further members of the events, which clients expect. */
  readonly besides?: JsonObject
}

/** How parts with text are streamed, by part type. */
const PART_TEXTS: ReadonlyMap<JsonValue | undefined, TextEvents> = new Map([
  ['output_text', { events: 'response.output_text', member: 'text', besides: { logprobs: [] } }],
  ['refusal', { events: 'response.refusal', member: 'refusal' }],
  ['summary_text', { events: 'response.reasoning_summary_text', member: 'text' }],
  ['reasoning_text', { events: 'response.reasoning_text', member: 'text' }],
])
/** How items that have text outside of parts are streamed, by item type. */
const ITEM_TEXTS: ReadonlyMap<JsonValue | undefined, TextEvents> = new Map([
  ['function_call', { events: 'response.function_call_arguments', member: 'arguments' }],
  ['custom_tool_call', { events: 'response.custom_tool_call_input', member: 'input' }],
])
/**
 * The lists of parts that an item can have, each with its prefix of event names and the member of events that has the index.
 */
const PART_LISTS = [
  { member: 'summary', index: 'summary_index', events: 'response.reasoning_summary_part' },
  { member: 'content', index: 'content_index', events: 'response.content_part' },
] as const

function itemEvents(item: JsonObject, output_index: number): Told[] {
  const at = { item_id: item.id ?? '', output_index }
  const lists = PART_LISTS.filter(({ member }) => Array.isArray(item[member]))
  const text = ITEM_TEXTS.get(item.type)
  const empty = Object.fromEntries(lists.map(({ member }) => [member, []]))
  const begun = { ...item, status: 'in_progress', ...empty, ...(text && { [text.member]: '' }) }
  return [
    ['response.output_item.added', { output_index, item: begun }],
    ...lists.flatMap(({ member, index, events }) =>
      arrayOrEmpty(item[member]).flatMap((part, place) =>
        isObject(part) ? partEvents(part, { ...at, [index]: place }, events) : [],
      ),
    ),
    ...(text === undefined ? [] : textEvents(item, at, text)),
    ['response.output_item.done', { output_index, item }],
  ]
}

function partEvents(part: JsonObject, at: JsonObject, events: string): Told[] {
  const text = PART_TEXTS.get(part.type)
  const annotations = arrayOrEmpty(part.annotations)
  const begun = { ...part, ...(text && { [text.member]: '' }), ...(annotations.length > 0 && { annotations: [] }) }
  return [
    [`${events}.added`, { ...at, part: begun }],
    ...(text === undefined ? [] : textEvents(part, at, text)),
    ...annotations.map((annotation, annotation_index): Told => {
      return ['response.output_text.annotation.added', { ...at, annotation_index, annotation }]
    }),
    [`${events}.done`, { ...at, part }],
  ]
}

function textEvents(holder: JsonObject, at: JsonObject, { events, member, besides }: TextEvents): Told[] {
  const text = textOrNull(holder[member]) ?? ''
  const done: Told = [`${events}.done`, { ...at, [member]: text, ...besides }]
  return text === '' ? [done] : [[`${events}.delta`, { ...at, delta: text, ...besides }], done]
}
