/** Helpers for testing the Responses reader: event builders, and a sink that checks how the reader calls it. */

import { expect } from 'vitest'
import type { Seal } from '../../src/conversation/envelope.ts'
import type { PartStart, ReplySink, UpstreamEvent } from '../../src/conversation/reply.ts'
import { ResponsesReader } from '../../src/formats/responses/read-reply.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { delta, folded, open, type Step } from './responses-support.ts'

export const FACTS = { usage: {}, signaturePath: null, isReplay: false }

/** A sink that records the reader's calls, and fails if they break the rules for sinks. */
export class Recorder implements ReplySink {
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

  completeOutput(): void {}

  delta(text: string): void {
    expect(this.#open).not.toBeNull()
    expect(text).not.toBe('')
    this.steps.push(delta(text))
  }

  startSection(): void {
    expect(this.#open?.kind).toBe('reasoning')
    this.steps.push({ do: 'startSection' })
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

export function read(events: readonly UpstreamEvent[]) {
  const sink = new Recorder()
  const reader = new ResponsesReader(sink, FACTS)
  for (const event of events) reader.push(event)
  const stopReason = reader.end()
  expect(sink.isClosed, 'nothing is left open').toBe(true)
  return { ...folded(sink.steps, stopReason), steps: sink.steps, usage: reader.usage }
}

/**
 * Events as most hosts send them: the type is given both as the SSE event name and in the data. Sequence numbers are left out,
 * because the reader ignores them.
 */
export const eventsOf = (...list: JsonObject[]): UpstreamEvent[] =>
  list.map(data => ({ name: String(data.type), data: JSON.stringify(data) }))
export const readList = (...list: JsonObject[]) => read(eventsOf(...list))

export const CREATED: JsonObject = { type: 'response.created', response: { id: 'resp_1', output: [] } }
export const ended = (output: JsonObject[] = [], more: JsonObject = {}): JsonObject => ({
  type: 'response.completed',
  response: { id: 'resp_1', status: 'completed', output, ...more },
})
export const added = (output_index: number, item: JsonObject) => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
export const done = (output_index: number, item: JsonObject) => ({
  type: 'response.output_item.done',
  output_index,
  item,
})
export const message = (id: string, ...texts: string[]): JsonObject => ({
  type: 'message',
  id,
  content: texts.map(text => ({ type: 'output_text', text })),
})
export const textDelta = (output_index: number, item_id: string, text: string, more: JsonObject = {}) => ({
  type: 'response.output_text.delta',
  output_index,
  item_id,
  content_index: 0,
  delta: text,
  ...more,
})
export const called = (id: string, json: string, more: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'look_up',
  arguments: json,
  ...more,
})
export const argued = (output_index: number, id: string, text: string, of: 'delta' | 'done' = 'delta'): JsonObject => ({
  type: `response.function_call_arguments.${of}`,
  output_index,
  item_id: `fc_${id}`,
  [of === 'delta' ? 'delta' : 'arguments']: text,
})
export const thought = (id: string, ...texts: string[]): JsonObject => ({
  type: 'reasoning',
  id,
  summary: texts.map(text => ({ type: 'summary_text', text })),
})
export const CALL = { kind: 'call', id: 'call_1', name: 'look_up', signature: null }
