/** Writes replies in the messages format, streamed or not. */

import { tokenPieces } from '../../lib/tokens.ts'
import { newId } from '../ids.ts'
import type { Json, JsonObject } from '../json.ts'
import type { PlannedCall, ReplyPlan, StopCause, StreamStep } from '../model.ts'
import { signThinking } from './signature.ts'

export interface MessagesReplyOptions {
  readonly model: string
  /** False for `display: omitted`: thinking blocks then have a signature but no text. */
  readonly thinkingShown: boolean
}

const STOP_REASONS: Readonly<Record<StopCause, string>> = {
  end: 'end_turn',
  length: 'max_tokens',
  stop_sequence: 'stop_sequence',
  tool_calls: 'tool_use',
  refusal: 'refusal',
}

export function messagesReply(plan: ReplyPlan, options: MessagesReplyOptions): JsonObject {
  const content: Json[] = []
  if (plan.reasoning !== '') {
    const thinking = options.thinkingShown ? plan.reasoning : ''
    content.push({ type: 'thinking', thinking, signature: signThinking(plan.reasoning) })
  }
  if (plan.text !== '') content.push({ type: 'text', text: plan.text })
  for (const call of plan.calls) {
    if (call.complete) content.push({ ...newToolUse(call), input: call.input })
  }
  return {
    id: newId('msg_'),
    type: 'message',
    role: 'assistant',
    model: options.model,
    content,
    ...stopOf(plan),
    container: null,
    diagnostics: null,
    ...(plan.reportsUsage ? { usage: usageOf(plan) } : {}),
  }
}

export interface MessagesEvent {
  readonly data: JsonObject
  readonly tokens: number
}

/** A complete stream as server-sent events. */
export function* messagesStream(plan: ReplyPlan, options: MessagesReplyOptions): Generator<StreamStep> {
  for (const { data, tokens } of messagesEvents(plan, options)) {
    yield { wire: `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`, tokens }
  }
}

/** Every event of a complete stream in order: start, one block after another, a ping, the final delta, stop. */
export function* messagesEvents(plan: ReplyPlan, options: MessagesReplyOptions): Generator<MessagesEvent> {
  yield event('message_start', { message: startMessage(plan, options) })
  let index = 0
  const ping = event('ping', {})
  if (plan.reasoning !== '') {
    yield startBlock(index, { type: 'thinking', thinking: '', signature: '' })
    yield ping
    for (const piece of options.thinkingShown ? tokenPieces(plan.reasoning) : []) {
      yield delta(index, { type: 'thinking_delta', thinking: piece.text }, piece.tokens)
    }
    yield delta(index, { type: 'signature_delta', signature: signThinking(plan.reasoning) }, 0)
    yield event('content_block_stop', { index })
    index += 1
  }
  if (plan.text !== '') {
    yield startBlock(index, { type: 'text', text: '' })
    if (index === 0) yield ping
    for (const piece of tokenPieces(plan.text))
      yield delta(index, { type: 'text_delta', text: piece.text }, piece.tokens)
    yield event('content_block_stop', { index })
    index += 1
  }
  for (const call of plan.calls) {
    yield* callEvents(call, index)
    index += 1
  }
  yield event('message_delta', {
    delta: { ...stopOf(plan), container: null },
    ...(plan.reportsUsage ? { usage: deltaUsage(plan) } : {}),
  })
  yield event('message_stop', {})
}

function* callEvents(call: PlannedCall, index: number): Generator<MessagesEvent> {
  yield startBlock(index, { ...newToolUse(call), input: {} })
  yield delta(index, { type: 'input_json_delta', partial_json: '' }, 0)
  for (const piece of tokenPieces(call.argumentsText)) {
    yield delta(index, { type: 'input_json_delta', partial_json: piece.text }, piece.tokens)
  }
  yield event('content_block_stop', { index })
}

function startMessage(plan: ReplyPlan, options: MessagesReplyOptions): JsonObject {
  return {
    id: newId('msg_'),
    type: 'message',
    role: 'assistant',
    model: options.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    ...(plan.reportsUsage ? { usage: { ...usageOf(plan), output_tokens: 1, output_tokens_details: null } } : {}),
  }
}

function startBlock(index: number, block: JsonObject): MessagesEvent {
  return event('content_block_start', { index, content_block: block })
}

function delta(index: number, change: JsonObject, tokens: number): MessagesEvent {
  return event('content_block_delta', { index, delta: change }, tokens)
}

function event(type: string, data: JsonObject, tokens = 0): MessagesEvent {
  return { data: { type, ...data }, tokens }
}

function inputUsage(plan: ReplyPlan): JsonObject {
  return {
    input_tokens: plan.usage.inputTokens - plan.usage.cachedTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: plan.usage.cachedTokens,
  }
}

/** The usage that a stream reports in its final `message_delta`. */
function deltaUsage(plan: ReplyPlan): JsonObject {
  return {
    ...inputUsage(plan),
    output_tokens: plan.usage.outputTokens,
    output_tokens_details: { thinking_tokens: plan.usage.reasoningTokens },
    server_tool_use: null,
  }
}

function usageOf(plan: ReplyPlan): JsonObject {
  return {
    ...deltaUsage(plan),
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    inference_geo: null,
    service_tier: 'standard',
    speed: 'standard',
  }
}

function stopOf(plan: ReplyPlan): JsonObject {
  const refusal = { type: 'refusal', category: null, explanation: null }
  return {
    stop_reason: STOP_REASONS[plan.stop],
    stop_sequence: plan.stopSequence,
    stop_details: plan.stop === 'refusal' ? refusal : null,
  }
}

function newToolUse(call: PlannedCall): JsonObject {
  return { type: 'tool_use', id: newId('toolu_'), name: call.name, caller: { type: 'direct' } }
}

/** The event that the provider sends when it fails in the middle of a stream. */
export function messagesErrorEvent(): string {
  return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })}\n\n`
}
