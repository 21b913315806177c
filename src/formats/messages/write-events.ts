/** Writes the events of a messages stream as text. */

import type { StopReason } from '../../conversation/reply.ts'
import type { TokenUsage } from '../../conversation/usage.ts'
import { ascii, type ByteText, concat, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
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

export function textDelta(index: number, text: string): string {
  return delta(index, `{"type":"text_delta","text":${JSON.stringify(text)}}`)
}

export function thinkingDelta(index: number, text: string): string {
  return delta(index, `{"type":"thinking_delta","thinking":${JSON.stringify(text)}}`)
}

export function inputDelta(index: number, json: string): string {
  return delta(index, `{"type":"input_json_delta","partial_json":${JSON.stringify(json)}}`)
}

export function signatureDelta(index: number, signature: string): string {
  return delta(index, `{"type":"signature_delta","signature":${JSON.stringify(signature)}}`)
}

const WRITTEN_HEAD = ascii('event: content_block_delta\ndata: {"type":"content_block_delta","index":')
const WRITTEN_MIDDLE = {
  text: ascii(',"delta":{"type":"text_delta","text":"'),
  reasoning: ascii(',"delta":{"type":"thinking_delta","thinking":"'),
  call: ascii(',"delta":{"type":"input_json_delta","partial_json":"'),
} as const
const WRITTEN_TAIL = ascii('"}}\n\n')

/** A text, thinking or input delta, from text as written in JSON. */
export function writtenDelta(kind: keyof typeof WRITTEN_MIDDLE, index: number, text: ByteText): ByteText {
  return concat(WRITTEN_HEAD, ofCharacters(String(index)), WRITTEN_MIDDLE[kind], text, WRITTEN_TAIL)
}

export function blockStop(index: number): string {
  return event('content_block_stop', `{"type":"content_block_stop","index":${index}}`)
}

export function messageEnd(stopReason: StopReason, usage: TokenUsage): string {
  const end = {
    type: 'message_delta',
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage: writeUsage(usage),
  }
  return event('message_delta', JSON.stringify(end)) + event('message_stop', '{"type":"message_stop"}')
}

function delta(index: number, deltaJson: string): string {
  return event('content_block_delta', `{"type":"content_block_delta","index":${index},"delta":${deltaJson}}`)
}

function event(name: string, data: string): string {
  return `event: ${name}\ndata: ${data}\n\n`
}
