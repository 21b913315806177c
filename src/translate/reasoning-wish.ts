/** What a client wants of the model's reasoning, read from either format and from the spellings in common use. */

import { isObject, type JsonObject, type JsonValue, numberOrNull, objectOrNull } from '../lib/json.ts'
import type { EffortLevel } from './dialect.ts'

export interface ReasoningRequest {
  /** null: the request does not say whether to reason. */
  readonly wanted: boolean | null
  /** Never `none`: that is `wanted: false`. */
  readonly effort: Exclude<EffortLevel, 'none'> | null
  readonly budgetTokens: number | null
}

export const EFFORT_LADDER: readonly EffortLevel[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

export function isEffortLevel(value: unknown): value is EffortLevel {
  return EFFORT_LADDER.some(level => level === value)
}

/** From `thinking` and `output_config` of a messages request. */
export function readMessagesReasoning(body: JsonObject): ReasoningRequest {
  const thinking = readThinking(body.thinking)
  const effort = objectOrNull(body.output_config)?.effort
  return combine(thinking, effort)
}

/**
 * From a chat request: `reasoning_effort`, and what clients send to models of other makers: `reasoning: {effort}`,
 * `thinking: {type}`, `enable_thinking` with `thinking_budget`.
 */
export function readChatReasoning(body: JsonObject): ReasoningRequest {
  const reasoning = objectOrNull(body.reasoning)
  const thinking = readThinking(body.thinking)
  const flag = [body.enable_thinking, reasoning?.enabled].find(value => typeof value === 'boolean')
  const budgetTokens =
    thinking.budgetTokens ?? numberOrNull(body.thinking_budget) ?? numberOrNull(reasoning?.max_tokens)
  const wanted = thinking.wanted ?? (typeof flag === 'boolean' ? flag : null)
  return combine({ wanted, budgetTokens }, body.reasoning_effort ?? reasoning?.effort)
}

interface Thinking {
  readonly wanted: boolean | null
  readonly budgetTokens: number | null
}

function readThinking(value: JsonValue | undefined): Thinking {
  if (!isObject(value) || typeof value.type !== 'string') return { wanted: null, budgetTokens: null }
  return { wanted: value.type !== 'disabled', budgetTokens: numberOrNull(value.budget_tokens) }
}

function combine({ wanted, budgetTokens }: Thinking, effort: JsonValue | undefined): ReasoningRequest {
  if (wanted === false || effort === 'none') return { wanted: false, effort: null, budgetTokens: null }
  const level = isEffortLevel(effort) && effort !== 'none' ? effort : null
  const budget = budgetTokens !== null && budgetTokens > 0 ? Math.floor(budgetTokens) : null
  return { wanted: wanted ?? (level !== null || budget !== null ? true : null), effort: level, budgetTokens: budget }
}

/** The accepted level nearest to the one wanted: upwards first, then the top. Null when none is accepted. */
export function nearestLevel(wanted: EffortLevel, accepted: readonly EffortLevel[] | null): EffortLevel | null {
  const ascending = EFFORT_LADDER.filter(level => accepted?.includes(level) === true)
  const rank = EFFORT_LADDER.indexOf(wanted)
  return ascending.find(level => EFFORT_LADDER.indexOf(level) >= rank) ?? ascending.at(-1) ?? null
}
