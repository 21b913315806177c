/** Turns a non-streamed messages reply into the events of a stream. */

import type { UpstreamEvent } from '../../conversation/reply.ts'
import { replayed } from '../../conversation/stream-event.ts'
import { arrayOrEmpty, isObject, type JsonObject } from '../../lib/json.ts'

/**
 * Returns the events that an upstream would have streamed. JSON that is not a messages reply becomes a single `error` event.
 */
export function replay(reply: JsonObject): UpstreamEvent[] {
  if (!Array.isArray(reply.content)) return [replayed('error', reply)]
  const { content, stop_reason, stop_sequence, stop_details, usage, ...head } = reply
  const start = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: usage ?? {} }
  const delta = {
    stop_reason: stop_reason ?? null,
    stop_sequence: stop_sequence ?? null,
    stop_details: stop_details ?? null,
  }
  return [
    replayed('message_start', { type: 'message_start', message: start }),
    ...content.filter(isObject).flatMap(replayBlock),
    replayed('message_delta', { type: 'message_delta', delta, usage: usage ?? {} }),
    replayed('message_stop', { type: 'message_stop' }),
  ]
}

function replayBlock(block: JsonObject, index: number): UpstreamEvent[] {
  const { empty, deltas } = takeApart(block)
  return [
    replayed('content_block_start', { type: 'content_block_start', index, content_block: empty }),
    ...deltas.map(delta => replayed('content_block_delta', { type: 'content_block_delta', index, delta })),
    replayed('content_block_stop', { type: 'content_block_stop', index }),
  ]
}

/** Splits a block into its initial state and the deltas that fill it. Blocks of types that are never streamed stay whole. */
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
