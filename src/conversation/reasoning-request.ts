/** Converts the reasoning settings of every format into one common request. */

import { isObject, type JsonValue, numberOrNull } from '../lib/json.ts'
import type { EffortLevel, ReasoningRequest } from './request.ts'

export const EFFORT_LADDER: readonly EffortLevel[] = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

export function isEffortLevel(value: unknown): value is EffortLevel {
  return EFFORT_LADDER.some(level => level === value)
}

export interface Thinking {
  readonly wanted: boolean | null
  readonly budgetTokens: number | null
}

/** Reads `thinking: {type, budget_tokens}`, which clients of several formats send. */
export function readThinking(value: JsonValue | undefined): Thinking {
  if (!isObject(value) || typeof value.type !== 'string') return { wanted: null, budgetTokens: null }
  return { wanted: value.type !== 'disabled', budgetTokens: numberOrNull(value.budget_tokens) }
}

export interface ReasoningFields extends Thinking {
  /** The effort as the client wrote it. Values that are not known levels are ignored. */
  readonly effort: JsonValue | undefined
  /**
   * Whether the client wants to see the reasoning; null if unspecified. Formats that have no such setting omit the field:
   * reasoning is then shown if the client requested any.
   */
  readonly shown?: boolean | null
}

export function reasoningRequest({ wanted, budgetTokens, effort, shown }: ReasoningFields): ReasoningRequest {
  if (wanted === false || effort === 'none') {
    return { wanted: false, effort: null, budgetTokens: null, shown: shown ?? null }
  }
  const level = isEffortLevel(effort) && effort !== 'none' ? effort : null
  const budget = budgetTokens !== null && budgetTokens > 0 ? Math.floor(budgetTokens) : null
  const asked = wanted ?? (level !== null || budget !== null ? true : null)
  return { wanted: asked, effort: level, budgetTokens: budget, shown: shown === undefined ? asked : shown }
}

/** Returns the accepted level nearest to the requested one: the next higher, else the highest. Null if none is accepted. */
export function nearestLevel(wanted: EffortLevel, accepted: readonly EffortLevel[] | null): EffortLevel | null {
  const ascending = EFFORT_LADDER.filter(level => accepted?.includes(level) === true)
  const rank = EFFORT_LADDER.indexOf(wanted)
  return ascending.find(level => EFFORT_LADDER.indexOf(level) >= rank) ?? ascending.at(-1) ?? null
}
