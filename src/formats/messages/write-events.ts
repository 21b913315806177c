/** Serializes the events of a messages stream. */

import { DeltaFrame } from '../../conversation/delta-frame.ts'
import type { StopReason } from '../../conversation/reply.ts'
import type { TokenUsage } from '../../conversation/usage.ts'
import { ascii, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import { writeStopReason } from './stop-reason.ts'
import { writeUsage } from './usage.ts'

export interface MessageFacts {
  readonly id: string
  readonly model: string
  readonly usage: TokenUsage
}

export function messageStart({ id, model, usage }: MessageFacts): string {
  const message = {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: writeUsage(usage),
  }
  return event('message_start', JSON.stringify({ type: 'message_start', message }))
}

export function blockStart(index: number, block: JsonObject): string {
  return event('content_block_start', JSON.stringify({ type: 'content_block_start', index, content_block: block }))
}

const DELTA_HEAD = 'event: content_block_delta\ndata: {"type":"content_block_delta","index":'
const DELTA_TYPES = {
  text: '{"type":"text_delta","text":"',
  reasoning: '{"type":"thinking_delta","thinking":"',
  call: '{"type":"input_json_delta","partial_json":"',
} as const

/** Returns a template for a block's delta events, which carry its text, thinking or tool input piece by piece. */
export function deltaFrame(kind: keyof typeof DELTA_TYPES, index: number): DeltaFrame {
  return new DeltaFrame({
    head: ofCharacters(`${DELTA_HEAD}${index},"delta":${DELTA_TYPES[kind]}`),
    tail: ascii('"}}\n\n'),
  })
}

export function signatureDelta(index: number, signature: string): string {
  return `${DELTA_HEAD}${index},"delta":{"type":"signature_delta","signature":${JSON.stringify(signature)}}}\n\n`
}

export function blockStop(index: number): string {
  return event('content_block_stop', `{"type":"content_block_stop","index":${index}}`)
}

export function messageEnd(stopReason: StopReason, usage: TokenUsage): string {
  const end = {
    type: 'message_delta',
    delta: { stop_reason: writeStopReason(stopReason), stop_sequence: null },
    usage: writeUsage(usage),
  }
  return event('message_delta', JSON.stringify(end)) + event('message_stop', '{"type":"message_stop"}')
}

function event(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`
}
