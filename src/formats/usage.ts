/** The one shape into which every wire format's usage is read. */

import type { JsonValue } from '../lib/json.ts'

/** Token counts of one call; whole numbers, never negative. */
export interface TokenUsage {
  /** All input tokens: uncached, cache reads and cache writes. */
  inputTokens: number
  /** Part of the input that came from the provider's cache. */
  cachedInputTokens: number
  /** Part of the input that was written into the provider's cache. */
  cacheWriteTokens: number
  /** All output tokens, reasoning included. */
  outputTokens: number
  /** Part of the output that was reasoning. */
  reasoningTokens: number
}

/** What the dialect says about an upstream's usage object; a resolved dialect fits. */
export interface UsageFacts {
  /** Further pointers into `usage` that hold cached input tokens. */
  readonly usageCachedPaths?: readonly string[]
  /** total_less_prompt: `completion_tokens` leaves reasoning out; the output is `total_tokens` less `prompt_tokens`. */
  readonly usageOutput?: 'completion' | 'total_less_prompt'
}

/** No call uses more: a larger figure is a fault of the provider, and is not believed. */
const COUNT_MAX = 100_000_000

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= COUNT_MAX
}

/** A token count as a whole number; 0 for null, text, NaN, negative numbers and figures that cannot be. */
export function tokenCount(value: JsonValue | undefined): number {
  return isCount(value) ? Math.floor(value) : 0
}

/** The first of the values that is a count, as a whole number; null when none is. */
export function firstCount(...values: (JsonValue | undefined)[]): number | null {
  for (const value of values) {
    if (isCount(value)) return Math.floor(value)
  }
  return null
}
