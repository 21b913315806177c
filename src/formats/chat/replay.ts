/** Turns a non-streamed chat reply into the chunks of a stream. */

import type { UpstreamEvent } from '../../conversation/reply.ts'
import { DONE, replayed } from '../../conversation/stream-event.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull } from '../../lib/json.ts'

/** Returns chunks like those that an upstream would have streamed. JSON that is not a chat reply becomes a single event. */
export function replay(reply: JsonObject): UpstreamEvent[] {
  if (!Array.isArray(reply.choices)) return [replayed('', reply)]
  const { choices, usage, ...rest } = reply
  const head = { ...rest, object: 'chat.completion.chunk' }
  const all = choices.filter(isObject)
  // Readers expect a choice with index 0.
  const first = all.some(choice => (choice.index ?? 0) === 0) ? null : all[0]
  const indexOf = (choice: JsonObject) => (choice === first ? 0 : (choice.index ?? 0))
  const emitted = all.map(choice => ({
    index: indexOf(choice),
    delta: deltaOf(objectOrNull(choice.message) ?? {}),
    logprobs: choice.logprobs ?? null,
    finish_reason: null,
  }))
  const ended = all.map(choice => ({
    index: indexOf(choice),
    delta: {},
    finish_reason: choice.finish_reason ?? 'stop',
  }))
  return [
    replayed('', { ...head, choices: emitted }),
    replayed('', { ...head, choices: ended }),
    ...(isObject(usage) ? [replayed('', { ...head, choices: [], usage })] : []),
    { name: '', data: DONE },
  ]
}

/**
 * Returns a stream's chunk with a `delta` in place of each `message` that comes without one: some hosts send whole replies as a
 * chunk. Returns the chunk itself if there are none. Call this only until a delta has carried output, because others, such as
 * MiniMax, repeat their reply in the last chunk.
 */
export function withDeltas(chunk: JsonObject): JsonObject {
  const choices = arrayOrEmpty(chunk.choices)
  if (!choices.some(isWhole)) return chunk
  const changed = choices.map(choice => {
    if (!isWhole(choice)) return choice
    const { message, ...rest } = choice
    return { ...rest, delta: deltaOf(objectOrNull(message) ?? {}) }
  })
  return { ...chunk, object: 'chat.completion.chunk', choices: changed }
}

function isWhole(choice: JsonValue): choice is JsonObject {
  return isObject(choice) && isObject(choice.message) && !isObject(choice.delta)
}

function deltaOf(message: JsonObject): JsonObject {
  if (!Array.isArray(message.tool_calls)) return message
  const calls = message.tool_calls.filter(isObject).map((call, index) => ({ index, ...call }))
  return { ...message, tool_calls: calls }
}
