/**
 * Reads responses streams strictly: anything that a client of the format would reject is an error here. The clients are the
 * stream helpers of openai 7.55 (JS) and 3.54 (Python), Codex 0.169, @openai/agents 0.20, and Rust clients that deserialize
 * into strict types. What they reject is taken from their sources (read 2026-11).
 */

import { expect } from 'vitest'
import type { JsonObject, JsonValue } from '../../src/lib/json.ts'
import { SseReader } from '../../src/lib/sse.ts'

const ENDS = ['response.completed', 'response.incomplete', 'response.failed']
/** Members that every response must have. The API's own type requires most of them, Rust clients require the others. */
const REQUIRED = [
  'id',
  'object',
  'created_at',
  'status',
  'error',
  'incomplete_details',
  'instructions',
  'metadata',
  'model',
  'output',
  'parallel_tool_calls',
  'temperature',
  'tool_choice',
  'tools',
  'top_p',
  'access_programs',
]
/**
 * For each delta event: the type of its item, the event that ends the deltas, and the member of this event that holds the full
 * text.
 */
const DELTAS: Readonly<Record<string, { of: string; done: string; member: string }>> = {
  'response.output_text.delta': { of: 'message', done: 'response.output_text.done', member: 'text' },
  'response.refusal.delta': { of: 'message', done: 'response.refusal.done', member: 'refusal' },
  'response.reasoning_summary_text.delta': {
    of: 'reasoning',
    done: 'response.reasoning_summary_text.done',
    member: 'text',
  },
  'response.function_call_arguments.delta': {
    of: 'function_call',
    done: 'response.function_call_arguments.done',
    member: 'arguments',
  },
  'response.custom_tool_call_input.delta': {
    of: 'custom_tool_call',
    done: 'response.custom_tool_call_input.done',
    member: 'input',
  },
}
const DONES = new Map(Object.values(DELTAS).map(delta => [delta.done, delta]))
const PART_EVENTS: Readonly<Record<string, { of: string; index: string; list: string }>> = {
  'response.content_part': { of: 'message', index: 'content_index', list: 'content' },
  'response.reasoning_summary_part': { of: 'reasoning', index: 'summary_index', list: 'summary' },
}

export function responseEvents(sse: string): JsonObject[] {
  const reader = new SseReader({ eventBytesMax: 10_000_000 })
  const events = [...reader.push(Buffer.from(sse)), ...reader.end()].filter(event => event.hasData)
  return events.map(({ name, data }) => {
    expect(data, 'no end mark').not.toBe('[DONE]')
    const event = JSON.parse(data) as JsonObject
    expect(name, 'event name').toBe(event.type)
    return event
  })
}

/** Returns the response at the end of a stream. Fails unless the stream follows the grammar exactly. */
export function strictResponse(sse: string): JsonObject {
  const events = responseEvents(sse)
  expect(events.map(event => event.sequence_number)).toEqual(events.map((_, index) => index))
  expect(events.slice(0, 2).map(event => event.type)).toEqual(['response.created', 'response.in_progress'])
  expect(ENDS).toContain(events.at(-1)?.type)
  const grammar = new Grammar()
  for (const event of events) grammar.take(event)
  return grammar.ended()
}

class Grammar {
  #response: JsonObject | null = null
  #end: JsonObject | null = null
  readonly #done: JsonObject[] = []
  #item: JsonObject | null = null
  /** The open content part of a message or of reasoning. */
  #part: JsonObject | null = null
  #partText: string | null = null
  /** The arguments or input received so far for the open call. */
  #pieces = ''
  #piecesDone = false
  readonly #ids = new Set<JsonValue>()

  take(event: JsonObject): void {
    const type = String(event.type)
    expect(this.#end, 'nothing after the end').toBeNull()
    expect(event, 'no padding').not.toHaveProperty('obfuscation')
    if ('response' in event) {
      this.#lifecycle(type, event.response as JsonObject)
      return
    }
    expect(this.#response, 'the response was created').not.toBeNull()
    if (type === 'response.output_item.added') this.#added(event)
    else if (type === 'response.output_item.done') this.#itemDone(event)
    else this.#inItem(type, event)
  }

  #inItem(type: string, event: JsonObject): void {
    this.#isOfOpenItem(event)
    const part = PART_EVENTS[type.replace(/\.(added|done)$/, '')]
    const delta = DELTAS[type]
    const done = DONES.get(type)
    if (part !== undefined && type.endsWith('added')) this.#partAdded(event, part)
    else if (part !== undefined) this.#partDone(event, part)
    else if (delta !== undefined) this.#delta(event, delta)
    else if (done !== undefined) this.#textDone(event, done)
    else expect.fail(`an event that readers do not know: ${type}`)
  }

  ended(): JsonObject {
    expect(this.#end).not.toBeNull()
    return this.#end!
  }

  #lifecycle(type: string, response: JsonObject): void {
    for (const member of REQUIRED) expect(response, `response of ${type}`).toHaveProperty(member)
    expect(response.object).toBe('response')
    expect(Number.isInteger(response.created_at)).toBe(true)
    expect(String(response.id)).toMatch(/^resp_./)
    if (this.#response !== null) {
      const { id, created_at, model } = this.#response
      expect(response).toMatchObject({ id: id!, created_at: created_at!, model: model! })
    }
    expect(this.#response === null).toBe(type === 'response.created')
    this.#response = response
    if (!ENDS.includes(type)) {
      expect(response).toMatchObject({ status: 'in_progress', output: [], error: null, incomplete_details: null })
      return
    }
    expect(`response.${String(response.status)}`).toBe(type)
    if (type !== 'response.failed') expect(this.#item, 'no item left open').toBeNull()
    expect(response.output, 'the finished items').toEqual(this.#done)
    const last = response.status === 'incomplete' ? 'incomplete' : 'completed'
    const statuses = this.#done.map(({ status }) => status)
    expect(statuses, 'only the last item may be incomplete').toEqual(
      statuses.map((_, at) => (at + 1 < statuses.length ? 'completed' : last)),
    )
    expectEnd(response)
    this.#end = response
  }

  #added({ item, output_index }: JsonObject): void {
    expect(this.#item, 'one open item at a time').toBeNull()
    expect(output_index, 'indexes without gaps').toBe(this.#done.length)
    const added = item as JsonObject
    expect(added.id).toBeTypeOf('string')
    this.#isNew(added.id)
    expect(added.status).toBe('in_progress')
    expect(added, 'begins empty').toMatchObject(EMPTY[String(added.type)]!)
    if ('call_id' in added) {
      expect(added.call_id).toBeTypeOf('string')
      this.#isNew(added.call_id)
    }
    this.#item = structuredClone(added)
    this.#pieces = ''
    this.#piecesDone = false
  }

  #isNew(id: JsonValue | undefined): void {
    expect(id).toBeTruthy()
    expect(this.#ids.has(id!), 'ids are told once').toBe(false)
    this.#ids.add(id!)
  }

  #isOfOpenItem({ type, item_id, output_index }: JsonObject): void {
    expect(this.#item, `an open item for ${type}`).not.toBeNull()
    expect([item_id, output_index]).toEqual([this.#item!.id, this.#done.length])
  }

  #partAdded(event: JsonObject, { of, index, list }: { of: string; index: string; list: string }): void {
    expect(this.#item!.type).toBe(of)
    expect(this.#part, 'one open part at a time').toBeNull()
    expect(event[index], 'indexes without gaps').toBe((this.#item![list] as JsonValue[]).length)
    this.#part = event.part as JsonObject
    expect(this.#part.text ?? this.#part.refusal, 'begins empty').toBe('')
    if (this.#part.type === 'output_text') expect(this.#part).toMatchObject({ annotations: [], logprobs: [] })
    this.#partText = null
    this.#pieces = ''
  }

  #delta(event: JsonObject, { of, member }: { of: string; member: string }): void {
    expect(this.#item!.type).toBe(of)
    expect(event.delta).toBeTypeOf('string')
    expect(event.delta, 'no empty delta').not.toBe('')
    if (event.type === 'response.output_text.delta') expect(event.logprobs).toEqual([])
    if (of === 'message' || of === 'reasoning') this.#isOfOpenPart(event, member)
    else expect(this.#piecesDone, 'no delta after the end').toBe(false)
    this.#pieces += String(event.delta)
  }

  #isOfOpenPart(event: JsonObject, member: string): void {
    expect(this.#part, 'an open part').not.toBeNull()
    expect(this.#partText, 'the part has not ended').toBeNull()
    expect(this.#part).toHaveProperty(member)
    const { index, list } = Object.values(PART_EVENTS).find(({ of }) => of === this.#item!.type)!
    expect(event[index]).toBe((this.#item![list] as JsonValue[]).length)
  }

  #textDone(event: JsonObject, { of, member }: { of: string; member: string }): void {
    expect(this.#item!.type).toBe(of)
    expect(event[member], 'repeats its deltas').toBe(this.#pieces)
    if (event.type === 'response.output_text.done') expect(event.logprobs).toEqual([])
    if (of === 'message' || of === 'reasoning') {
      this.#isOfOpenPart(event, member)
      this.#partText = this.#pieces
    } else this.#piecesDone = true
  }

  #partDone(event: JsonObject, { index, list }: { index: string; list: string }): void {
    const parts = this.#item![list] as JsonValue[]
    expect(event[index]).toBe(parts.length)
    expect(this.#partText, 'the text is done').not.toBeNull()
    const member = 'refusal' in this.#part! ? 'refusal' : 'text'
    expect(event.part).toEqual({ ...this.#part, [member]: this.#partText })
    parts.push(event.part!)
    this.#part = null
  }

  #itemDone({ item, output_index }: JsonObject): void {
    const done = item as JsonObject
    expect(this.#item, 'the item was added').not.toBeNull()
    expect(output_index).toBe(this.#done.length)
    expect(this.#part, 'no part left open').toBeNull()
    expect(['completed', 'incomplete']).toContain(done.status)
    const { encrypted_content: _, ...rest } = done
    const pieces = PIECES[String(done.type)]
    if (pieces !== undefined) expect(this.#piecesDone).toBe(true)
    const whole = pieces === undefined ? {} : { [pieces]: this.#pieces }
    const searched = done.type === 'tool_search_call' ? { arguments: done.arguments! } : {}
    expect(rest).toEqual({ ...this.#item, status: done.status, ...whole, ...searched })
    this.#done.push(done)
    this.#item = null
  }
}

const PIECES: Readonly<Record<string, string>> = { function_call: 'arguments', custom_tool_call: 'input' }
const EMPTY: Readonly<Record<string, JsonObject>> = {
  message: { role: 'assistant', content: [] },
  reasoning: { summary: [] },
  function_call: { arguments: '' },
  custom_tool_call: { input: '' },
  tool_search_call: { arguments: {}, execution: 'client' },
  web_search_call: {},
}

function expectEnd({ status, error, incomplete_details, usage }: JsonObject): void {
  if (status === 'failed') {
    expect(error).toEqual({ code: expect.any(String), message: expect.any(String) })
    return
  }
  expect(error).toBeNull()
  if (status === 'completed') expect(incomplete_details).toBeNull()
  else expect(['max_output_tokens', 'content_filter']).toContain((incomplete_details as JsonObject).reason)
  const tokens = usage as JsonObject
  const count = expect.toSatisfy(value => Number.isInteger(value) && value >= 0, 'a count')
  expect(tokens).toEqual({
    input_tokens: count,
    input_tokens_details: { cached_tokens: count, cache_write_tokens: count },
    output_tokens: count,
    output_tokens_details: { reasoning_tokens: count },
    total_tokens: Number(tokens.input_tokens) + Number(tokens.output_tokens),
  })
}
