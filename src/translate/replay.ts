/** A whole reply as the events of a stream, for upstreams that answer a streamed call with plain JSON. */

import { DONE } from '../conversation/stream-event.ts'
import { arrayOrEmpty, isObject, type JsonObject, objectOrNull } from '../lib/json.ts'
import type { ChatFormat, UpstreamEvent } from './translator.ts'

/** Events of the reply's own format, as an upstream would have streamed them. A reply that is none gives one event with it. */
export function replayAsEvents(format: ChatFormat, reply: JsonObject): UpstreamEvent[] {
  return format === 'messages' ? replayMessage(reply) : replayCompletion(reply)
}

function replayMessage(reply: JsonObject): UpstreamEvent[] {
  if (!Array.isArray(reply.content)) return [event('error', reply)]
  const { content, stop_reason, stop_sequence, stop_details, usage, ...head } = reply
  const start = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: usage ?? {} }
  const delta = {
    stop_reason: stop_reason ?? null,
    stop_sequence: stop_sequence ?? null,
    stop_details: stop_details ?? null,
  }
  return [
    event('message_start', { type: 'message_start', message: start }),
    ...content.filter(isObject).flatMap(replayBlock),
    event('message_delta', { type: 'message_delta', delta, usage: usage ?? {} }),
    event('message_stop', { type: 'message_stop' }),
  ]
}

function replayBlock(block: JsonObject, index: number): UpstreamEvent[] {
  const { empty, deltas } = takeApart(block)
  return [
    event('content_block_start', { type: 'content_block_start', index, content_block: empty }),
    ...deltas.map(delta => event('content_block_delta', { type: 'content_block_delta', index, delta })),
    event('content_block_stop', { type: 'content_block_stop', index }),
  ]
}

/** The block as it starts, and the deltas that fill it. Kinds that are not streamed start whole. */
function takeApart(block: JsonObject): { empty: JsonObject; deltas: JsonObject[] } {
  switch (block.type) {
    case 'text': {
      const citations = arrayOrEmpty(block.citations).map(citation => ({ type: 'citations_delta', citation }))
      return { empty: { ...block, text: '' }, deltas: [...citations, { type: 'text_delta', text: block.text ?? '' }] }
    }
    case 'thinking': {
      const thinking = { type: 'thinking_delta', thinking: block.thinking ?? '' }
      const signature = { type: 'signature_delta', signature: block.signature ?? '' }
      return { empty: { ...block, thinking: '', signature: '' }, deltas: [thinking, signature] }
    }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use': {
      const json = JSON.stringify(block.input ?? {})
      return { empty: { ...block, input: {} }, deltas: [{ type: 'input_json_delta', partial_json: json }] }
    }
    default:
      return { empty: block, deltas: [] }
  }
}

function replayCompletion(reply: JsonObject): UpstreamEvent[] {
  if (!Array.isArray(reply.choices)) return [event('', reply)]
  const { choices, usage, ...rest } = reply
  const head = { ...rest, object: 'chat.completion.chunk' }
  const said = choices.filter(isObject).map(choice => ({
    index: choice.index ?? 0,
    delta: deltaOf(objectOrNull(choice.message) ?? {}),
    logprobs: choice.logprobs ?? null,
    finish_reason: null,
  }))
  const ended = choices.filter(isObject).map(choice => ({
    index: choice.index ?? 0,
    delta: {},
    finish_reason: choice.finish_reason ?? 'stop',
  }))
  return [
    event('', { ...head, choices: said }),
    event('', { ...head, choices: ended }),
    ...(isObject(usage) ? [event('', { ...head, choices: [], usage })] : []),
    { name: '', data: DONE },
  ]
}

function deltaOf(message: JsonObject): JsonObject {
  if (!Array.isArray(message.tool_calls)) return message
  const calls = message.tool_calls.filter(isObject).map((call, index) => ({ index, ...call }))
  return { ...message, tool_calls: calls }
}

function event(name: string, data: JsonObject): UpstreamEvent {
  return { name, data: JSON.stringify(data) }
}
