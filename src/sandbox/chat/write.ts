/** Writes replies in the chat completions format: non-streamed, or as the chunks of a stream. */

import { tokenPieces } from '../../lib/tokens.ts'
import { newId } from '../ids.ts'
import type { Json, JsonObject } from '../json.ts'
import type { PlannedCall, ReplyPlan, StopCause, StreamStep } from '../model.ts'

export interface ChatReplyOptions {
  readonly model: string
  /** Creation time of the reply, in seconds since 1970. */
  readonly createdSeconds: number
  /** Number of choices, which are all identical. */
  readonly choices: number
  /** The request's `stream_options.include_usage`. */
  readonly includeUsage: boolean
}

const FINISH_REASONS: Readonly<Record<StopCause, string>> = {
  end: 'stop',
  length: 'length',
  stop_sequence: 'stop',
  tool_calls: 'tool_calls',
  refusal: 'content_filter',
}

export function chatReply(plan: ReplyPlan, options: ChatReplyOptions): JsonObject {
  const message = (): JsonObject => ({
    role: 'assistant',
    content: plan.text === '' && plan.calls.length > 0 ? null : plan.text,
    refusal: null,
    annotations: [],
    ...(plan.reasoning === '' ? {} : { reasoning_content: plan.reasoning }),
    ...(plan.calls.length === 0 ? {} : { tool_calls: plan.calls.map(call => callOf(call, call.argumentsText)) }),
  })
  const choices = Array.from({ length: options.choices }, (_, index) => ({
    index,
    message: message(),
    logprobs: null,
    finish_reason: FINISH_REASONS[plan.stop],
  }))
  return {
    id: newId('chatcmpl-'),
    object: 'chat.completion',
    created: options.createdSeconds,
    model: options.model,
    choices,
    ...(plan.reportsUsage ? { usage: usageOf(plan, options.choices) } : {}),
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  }
}

/** Yields the chunks of a complete stream in order, and `[DONE]`. */
export function* chatStream(plan: ReplyPlan, options: ChatReplyOptions): Generator<StreamStep> {
  const head: JsonObject = {
    id: newId('chatcmpl-'),
    object: 'chat.completion.chunk',
    created: options.createdSeconds,
    model: options.model,
    service_tier: 'default',
    system_fingerprint: 'fp_sandbox',
  }
  const showUsage = options.includeUsage && plan.reportsUsage
  const chunk = (choices: Json[], tokens: number, usage: JsonObject | null = null): StreamStep => ({
    wire: `data: ${JSON.stringify({ ...head, choices, ...(showUsage ? { usage } : {}) })}\n\n`,
    tokens,
  })
  for (let index = 0; index < options.choices; index += 1) {
    for (const { delta, tokens, finish } of deltasOf(plan)) {
      yield chunk([{ index, delta, logprobs: null, finish_reason: finish }], tokens)
    }
  }
  if (showUsage) yield chunk([], 0, usageOf(plan, options.choices))
  yield { wire: 'data: [DONE]\n\n', tokens: 0 }
}

interface Delta {
  readonly delta: JsonObject
  readonly tokens: number
  readonly finish: string | null
}

function* deltasOf(plan: ReplyPlan): Generator<Delta> {
  const onlyCalls = plan.text === '' && plan.calls.length > 0
  yield { delta: { role: 'assistant', content: onlyCalls ? null : '', refusal: null }, tokens: 0, finish: null }
  for (const piece of tokenPieces(plan.reasoning))
    yield { delta: { reasoning_content: piece.text }, tokens: piece.tokens, finish: null }
  for (const piece of tokenPieces(plan.text))
    yield { delta: { content: piece.text }, tokens: piece.tokens, finish: null }
  for (const [index, call] of plan.calls.entries()) {
    yield { delta: { tool_calls: [{ index, ...callOf(call, '') }] }, tokens: 0, finish: null }
    for (const piece of tokenPieces(call.argumentsText)) {
      yield {
        delta: {
          tool_calls: [
            { index, ...(call.freeform ? { custom: { input: piece.text } } : { function: { arguments: piece.text } }) },
          ],
        },
        tokens: piece.tokens,
        finish: null,
      }
    }
  }
  yield { delta: {}, tokens: 0, finish: FINISH_REASONS[plan.stop] }
}

function callOf(call: PlannedCall, argumentsText: string): JsonObject {
  if (call.freeform) return { id: newId('call_'), type: 'custom', custom: { name: call.name, input: argumentsText } }
  return { id: newId('call_'), type: 'function', function: { name: call.name, arguments: argumentsText } }
}

function usageOf(plan: ReplyPlan, choices: number): JsonObject {
  const { inputTokens, cachedTokens, outputTokens, reasoningTokens } = plan.usage
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens * choices,
    total_tokens: inputTokens + outputTokens * choices,
    prompt_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens * choices,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

/** Returns the event that imitates a provider failing in mid-stream. */
export function chatErrorEvent(): string {
  const error = {
    message: 'The server had an error while processing your request.',
    type: 'server_error',
    param: null,
    code: null,
  }
  return `data: ${JSON.stringify({ error })}\n\n`
}
