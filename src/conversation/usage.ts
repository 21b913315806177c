/** The one shape into which every wire format's usage is read. */

import { atPointer, type JsonObject, type JsonValue } from '../lib/json.ts'

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

/**
 * What a provider has said of a call's tokens so far. `missing`: nothing. `running`: the reply goes on, and the output is a
 * figure of the moment. `final`: the last word. Who is billed what for each is decided in `pipeline/stream-result.ts`.
 */
export interface UsageReport {
  readonly state: 'missing' | 'running' | 'final'
  /** All zeros while nothing was reported. */
  readonly usage: TokenUsage
  /** The part of a running output that is over and will not change: passes that the client sees nothing of. */
  readonly hiddenOutputTokens: number
  /**
   * A count of 0 is true. Elsewhere it means that the provider did not count; but a reply that is nothing but calls made by
   * a program that runs at the provider costs nothing by itself, and is reported with the reply that ends the program.
   */
  readonly zeroIsTrue: boolean
}

const NO_TOKENS: TokenUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
}

export const NO_USAGE: UsageReport = { state: 'missing', usage: NO_TOKENS, hiddenOutputTokens: 0, zeroIsTrue: false }

export interface ReportFacts {
  readonly final: boolean
  readonly hiddenOutputTokens?: number
  readonly zeroIsTrue?: boolean
}

/** The report of a usage object as read; null: none was sent. */
export function usageReport(
  usage: TokenUsage | null,
  { final, hiddenOutputTokens = 0, zeroIsTrue = false }: ReportFacts,
): UsageReport {
  if (usage === null) return NO_USAGE
  return { state: final ? 'final' : 'running', usage, hiddenOutputTokens, zeroIsTrue }
}

/** What the dialect says about an upstream's usage object; `usage` of a resolved dialect fits. */
export interface UsageFacts {
  /** Pointers into the reply that go before the places in common use. */
  readonly input?: readonly string[] | null
  readonly output?: readonly string[] | null
  readonly cached?: readonly string[] | null
  readonly reasoning?: readonly string[] | null
  /** without_reasoning: so says `completion_tokens`; the output is `total_tokens` less `prompt_tokens`. */
  readonly outputCounts?: 'all' | 'without_reasoning'
}

/** Counts at the places that a dialect names; null where none of them has one. */
export interface NamedCounts {
  readonly input: number | null
  readonly output: number | null
  readonly cached: number | null
  readonly reasoning: number | null
}

/** The counts of a reply, or of a chunk of its stream, where the dialect says that they stand. */
export function namedCounts(reply: JsonObject, { input, output, cached, reasoning }: UsageFacts): NamedCounts {
  const first = (pointers: readonly string[] | null | undefined) =>
    firstCount(...(pointers ?? []).map(pointer => atPointer(reply, pointer)))
  return { input: first(input), output: first(output), cached: first(cached), reasoning: first(reasoning) }
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
