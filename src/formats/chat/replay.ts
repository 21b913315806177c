/** Turns a non-streamed chat reply into the chunks of a stream. */

import type { UpstreamEvent } from '../../conversation/reply.ts'
import { DONE, replayed } from '../../conversation/stream-event.ts'
import { isObject, type JsonObject, objectOrNull } from '../../lib/json.ts'

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

function deltaOf(message: JsonObject): JsonObject {
  if (!Array.isArray(message.tool_calls)) return message
  const calls = message.tool_calls.filter(isObject).map((call, index) => ({ index, ...call }))
  return { ...message, tool_calls: calls }
}
