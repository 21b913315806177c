/** Writes replies in the responses format: non-streamed, or as the events of a stream. */

import { tokenPieces } from '../../lib/tokens.ts'
import { newId } from '../ids.ts'
import { isObject, type Json, type JsonObject, listOf } from '../json.ts'
import type { ModelFacts, ReplyPlan, StreamStep } from '../model.ts'
import { seal } from './seal.ts'

export interface ResponsesReplyOptions {
  readonly body: JsonObject
  readonly id: string
  /** Creation time of the response, in seconds since 1970. */
  readonly createdSeconds: number
}

/** The output items of a finished reply: reasoning, message, tool calls. */
export function outputItems(plan: ReplyPlan, body: JsonObject, { reasoningItems }: ModelFacts): JsonObject[] {
  const status = plan.stop === 'length' ? 'incomplete' : 'completed'
  const items: JsonObject[] = []
  if (plan.reasoning !== '' && reasoningItems === 'text') {
    const content = [{ type: 'reasoning_text', text: plan.reasoning }]
    items.push({ id: newId('rs_'), type: 'reasoning', status: 'completed', summary: [], content })
  } else if (plan.reasoning !== '') {
    const reasoning = isObject(body.reasoning) ? body.reasoning : {}
    const isShown = typeof reasoning.summary === 'string'
    items.push({
      id: newId('rs_'),
      type: 'reasoning',
      summary: isShown ? [{ type: 'summary_text', text: plan.reasoning }] : [],
      ...(listOf(body.include).includes('reasoning.encrypted_content')
        ? { encrypted_content: seal(plan.reasoning, newId('')) }
        : {}),
    })
  }
  if (plan.text !== '') {
    const part: JsonObject =
      plan.stop === 'refusal'
        ? { type: 'refusal', refusal: plan.text }
        : { type: 'output_text', text: plan.text, annotations: [], logprobs: [] }
    items.push({ id: newId('msg_'), type: 'message', status, role: 'assistant', content: [part] })
  }
  for (const call of plan.calls) {
    if (call.freeform) {
      const { name, argumentsText: input } = call
      items.push({
        id: newId('ctc_'),
        type: 'custom_tool_call',
        status: 'completed',
        call_id: newId('call_'),
        name,
        input,
      })
      continue
    }
    items.push({
      id: newId('fc_'),
      type: 'function_call',
      status: call.complete ? 'completed' : 'incomplete',
      arguments: call.argumentsText,
      call_id: newId('call_'),
      name: call.name,
    })
  }
  return items
}

export function responsesReply(
  plan: ReplyPlan,
  output: readonly JsonObject[],
  options: ResponsesReplyOptions,
): JsonObject {
  const isShort = plan.stop === 'length'
  return {
    ...openResponse(options),
    status: isShort ? 'incomplete' : 'completed',
    incomplete_details: isShort ? { reason: 'max_output_tokens' } : null,
    output: [...output],
    usage: plan.reportsUsage ? usageOf(plan) : null,
  }
}

/** The response object before any output. */
function openResponse({ body, id, createdSeconds }: ResponsesReplyOptions): JsonObject {
  const given = (key: string, otherwise: Json): Json => body[key] ?? otherwise
  return {
    id,
    object: 'response',
    created_at: createdSeconds,
    status: 'in_progress',
    background: false,
    access_programs: null,
    error: null,
    incomplete_details: null,
    instructions: given('instructions', null),
    max_output_tokens: given('max_output_tokens', null),
    model: given('model', ''),
    output: [],
    parallel_tool_calls: given('parallel_tool_calls', true),
    previous_response_id: given('previous_response_id', null),
    reasoning: given('reasoning', { effort: null, summary: null }),
    service_tier: 'default',
    store: given('store', true),
    temperature: given('temperature', 1),
    text: given('text', { format: { type: 'text' } }),
    tool_choice: given('tool_choice', 'auto'),
    tools: given('tools', []),
    top_p: given('top_p', 1),
    truncation: given('truncation', 'disabled'),
    usage: null,
    user: given('user', null),
    metadata: given('metadata', {}),
  }
}

type Emit = (type: string, data: JsonObject, tokens?: number) => StreamStep

/** Yields all events of a complete stream, with sequence numbers. */
export function* responsesStream(
  plan: ReplyPlan,
  output: readonly JsonObject[],
  options: ResponsesReplyOptions,
): Generator<StreamStep> {
  let sequence = 0
  const emit: Emit = (type, data, tokens = 0) => {
    const wire = `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...data })}\n\n`
    sequence += 1
    return { wire, tokens }
  }
  yield emit('response.created', { response: openResponse(options) })
  yield emit('response.in_progress', { response: openResponse(options) })
  for (const [index, item] of output.entries()) {
    yield emit('response.output_item.added', { output_index: index, item: emptied(item) })
    yield* itemEvents(item, index, emit)
    yield emit('response.output_item.done', { output_index: index, item })
  }
  const response = responsesReply(plan, output, options)
  yield emit(plan.stop === 'length' ? 'response.incomplete' : 'response.completed', { response })
}

/** An item as `output_item.added` announces it, without its text. */
function emptied(item: JsonObject): JsonObject {
  if (item.type === 'message') return { ...item, status: 'in_progress', content: [] }
  if (item.type === 'function_call') return { ...item, status: 'in_progress', arguments: '' }
  if (item.type === 'custom_tool_call') return { ...item, status: 'in_progress', input: '' }
  const isSealed = typeof item.encrypted_content === 'string'
  return {
    ...item,
    summary: [],
    ...('content' in item && { content: [] }),
    // The item has no reasoning yet, so this is empty reasoning in encrypted form.
    ...(isSealed && { encrypted_content: seal('', newId('')) }),
  }
}

function* itemEvents(item: JsonObject, outputIndex: number, emit: Emit): Generator<StreamStep> {
  const at = { item_id: item.id!, output_index: outputIndex }
  if (item.type === 'function_call') {
    const whole = String(item.arguments)
    for (const { text, tokens } of tokenPieces(whole)) {
      yield emit('response.function_call_arguments.delta', { ...at, delta: text }, tokens)
    }
    yield emit('response.function_call_arguments.done', { ...at, name: item.name!, arguments: whole })
    return
  }
  if (item.type === 'custom_tool_call') {
    const whole = String(item.input)
    for (const { text, tokens } of tokenPieces(whole)) {
      yield emit('response.custom_tool_call_input.delta', { ...at, delta: text }, tokens)
    }
    yield emit('response.custom_tool_call_input.done', { ...at, input: whole })
    return
  }
  for (const [list, place] of [
    ['summary', 'summary_index'],
    ['content', 'content_index'],
  ] as const) {
    for (const [index, part] of listOf(item[list]).filter(isObject).entries()) {
      yield* partEvents(part, { ...at, [place]: index }, emit)
    }
  }
}

function* partEvents(part: JsonObject, at: JsonObject, emit: Emit): Generator<StreamStep> {
  const kinds: Readonly<Record<string, readonly [frame: string, text: string, field: string]>> = {
    output_text: ['response.content_part', 'response.output_text', 'text'],
    refusal: ['response.content_part', 'response.refusal', 'refusal'],
    reasoning_text: ['response.content_part', 'response.reasoning_text', 'text'],
    summary_text: ['response.reasoning_summary_part', 'response.reasoning_summary_text', 'text'],
  }
  const [frame, name, field] = kinds[String(part.type)]!
  const extra: JsonObject = part.type === 'output_text' ? { logprobs: [] } : {}
  const whole = String(part[field])
  yield emit(`${frame}.added`, { ...at, part: { ...part, [field]: '' } })
  for (const { text, tokens } of tokenPieces(whole))
    yield emit(`${name}.delta`, { ...at, delta: text, ...extra }, tokens)
  yield emit(`${name}.done`, { ...at, [field]: whole, ...extra })
  yield emit(`${frame}.done`, { ...at, part })
}

function usageOf(plan: ReplyPlan): JsonObject {
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens } = plan.usage
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  }
}

/** The event that the provider sends when it fails in the middle of a stream. */
export function responsesErrorEvent(): string {
  const message = 'The server had an error while processing your request.'
  const event = { type: 'error', sequence_number: 0, code: 'server_error', message, param: null }
  return `event: error\ndata: ${JSON.stringify(event)}\n\n`
}
