/** Reads client streams strictly: anything that the parsers of coding agents would reject is an error here. */

import { expect } from 'vitest'
import { SseReader } from '../../src/lib/sse.ts'
import type { JsonObject, JsonValue } from '../../src/translate/translator.ts'

export interface ClientEvent {
  readonly name: string
  readonly data: JsonObject
}

export function readEvents(sse: string): ClientEvent[] {
  const reader = new SseReader({ eventBytesMax: 10_000_000 })
  const events = [...reader.push(Buffer.from(sse)), ...reader.end()].filter(event => event.hasData)
  return events.filter(({ data }) => data !== '[DONE]').map(({ name, data }) => ({ name, data: JSON.parse(data) }))
}

/** Returns the message of a messages stream. Fails unless the stream follows the grammar exactly. */
export function strictMessage(sse: string): JsonObject {
  // Pings may come at any point while the upstream is slow, and clients ignore them.
  const events = readEvents(sse).filter(({ name }) => name !== 'ping')
  const blocks: JsonObject[] = []
  let open = -1
  for (const [position, { name, data }] of events.entries()) {
    expect(name, 'event name').toBe(data.type)
    if (position === 0) expect(name).toBe('message_start')
    if (name === 'content_block_start') {
      expect(open, 'one open block at a time').toBe(-1)
      expect(data.index, 'dense index').toBe(blocks.length)
      open = blocks.length
      blocks.push({ ...(data.content_block as JsonObject), json: '' })
    }
    if (name === 'content_block_delta') {
      expect(data.index, 'delta for the open block').toBe(open)
      extend(blocks[open]!, data.delta as JsonObject)
    }
    if (name === 'content_block_stop') {
      expect(data.index, 'stop of the open block').toBe(open)
      open = -1
    }
  }
  expect(open, 'no block left open').toBe(-1)
  expect(events.slice(-2).map(event => event.name)).toEqual(['message_delta', 'message_stop'])
  const end = events.at(-2)!.data
  const start = events[0]!.data.message as JsonObject
  expect(events.filter(event => event.name === 'message_start')).toHaveLength(1)
  return {
    ...start,
    content: blocks.map(closed),
    stop_reason: (end.delta as JsonObject).stop_reason,
    usage: { ...(start.usage as JsonObject), ...(end.usage as JsonObject) },
  }
}

function extend(block: JsonObject, delta: JsonObject): void {
  const kinds: Record<string, [string, string]> = {
    text_delta: ['text', 'text'],
    thinking_delta: ['thinking', 'thinking'],
    signature_delta: ['signature', 'signature'],
    input_json_delta: ['partial_json', 'json'],
  }
  const [from, to] = kinds[String(delta.type)]!
  expect(delta[from], 'deltas are text').toBeTypeOf('string')
  block[to] = `${block[to]}${delta[from]}`
}

function closed({ json, ...block }: JsonObject): JsonObject {
  return block.type === 'tool_use' ? { ...block, input: JSON.parse(String(json)) } : block
}

/** Returns the completion of a chat stream in the shape of a non-streamed reply. Fails unless the stream follows the rules. */
export function strictCompletion(sse: string): JsonObject {
  expect(sse.endsWith('data: [DONE]\n\n'), 'end mark').toBe(true)
  const chunks = readEvents(sse)
  const message: Record<string, JsonValue> = {}
  const calls: { id: JsonValue; name: JsonValue; arguments: string }[] = []
  let finish: JsonValue = null
  let usage: JsonValue | undefined
  const head = chunks[0]!.data
  for (const [position, { name, data }] of chunks.entries()) {
    expect(name).toBe('')
    expect(data).toMatchObject({
      id: head.id,
      object: 'chat.completion.chunk',
      created: head.created,
      model: head.model,
    })
    const choices = data.choices as JsonObject[]
    if (choices.length === 0) {
      expect(position, 'usage chunk last').toBe(chunks.length - 1)
      usage = data.usage
      continue
    }
    const choice = choices[0]!
    const delta = choice.delta as JsonObject
    if (position === 0) expect(delta.role).toBe('assistant')
    expect(finish, 'nothing after the finish').toBeNull()
    for (const key of ['content', 'reasoning_content']) {
      if (typeof delta[key] === 'string') message[key] = `${message[key] ?? ''}${delta[key]}`
    }
    for (const call of (delta.tool_calls ?? []) as JsonObject[]) takeCall(calls, call)
    finish = choice.finish_reason ?? null
  }
  expect(finish).not.toBeNull()
  return {
    message: {
      ...message,
      ...(calls.length > 0 && { tool_calls: calls.map(call => ({ ...call, arguments: JSON.parse(call.arguments) })) }),
    } as JsonObject,
    finish_reason: finish,
    usage,
  }
}

function takeCall(calls: { id: JsonValue; name: JsonValue; arguments: string }[], call: JsonObject): void {
  const fn = call.function as JsonObject
  const index = Number(call.index)
  if (index === calls.length) {
    expect(call).toMatchObject({ type: 'function', id: expect.any(String), function: { name: expect.any(String) } })
    calls.push({ id: call.id ?? null, name: fn.name ?? null, arguments: '' })
  }
  expect(index, 'deltas belong to the last call').toBe(calls.length - 1)
  calls[index]!.arguments += String(fn.arguments)
}
