/**
 * Reads the reasoning settings of a chat request, from `reasoning_effort` or from the fields that other vendors use (`reasoning:
 * {effort}`, `thinking: {type}`, `enable_thinking` with `thinking_budget`).
 */

import { readThinking, reasoningRequest } from '../../conversation/reasoning-request.ts'
import type { ReasoningRequest } from '../../conversation/request.ts'
import { type JsonObject, numberOrNull, objectOrNull } from '../../lib/json.ts'

export function readReasoning(body: JsonObject): ReasoningRequest {
  const reasoning = objectOrNull(body.reasoning)
  const thinking = readThinking(body.thinking)
  const flag = [body.enable_thinking, reasoning?.enabled].find(value => typeof value === 'boolean')
  return reasoningRequest({
    wanted: thinking.wanted ?? (typeof flag === 'boolean' ? flag : null),
    budgetTokens: thinking.budgetTokens ?? numberOrNull(body.thinking_budget) ?? numberOrNull(reasoning?.max_tokens),
    effort: body.reasoning_effort ?? reasoning?.effort,
  })
}
