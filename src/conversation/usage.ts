/** The common shape into which all wire formats' usage figures are read. */

import { atPointer, type JsonObject, type JsonValue } from '../lib/json.ts'

/** Token counts of one call: non-negative whole numbers. */
export interface TokenUsage {
  /** All input tokens: uncached, cache reads and cache writes. */
  inputTokens: number
  /** Input tokens read from the provider's cache. */
  cachedInputTokens: number
  cacheWriteTokens: number
  /** All output tokens, reasoning included. */
  outputTokens: number
  reasoningTokens: number
}

/**
 * A provider's latest report of a call's tokens. `missing`: none yet. `running`: the reply continues and the output figure will
 * still grow. `final`: complete. `pipeline/stream-result.ts` decides what is billed in each case.
 */
export interface UsageReport {
  readonly state: 'missing' | 'running' | 'final'
  /** All zeros until the provider reports usage. */
  readonly usage: TokenUsage
  /**
   * Output tokens of extra passes that the client never sees, such as compacting the conversation. They are final even while
   * `state` is `running`.
   */
  readonly hiddenOutputTokens: number
  /**
   * Whether a count of 0 can be trusted. Usually, 0 means that the provider did not count. But if a reply contains only tool
   * calls made by a program that runs at the provider (see `program-calls.ts`), 0 is correct: the provider reports the tokens
   * with the reply in which the program ends.
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

/** Makes the report for a parsed usage object; null if the provider sent none. */
export function usageReport(
  usage: TokenUsage | null,
  { final, hiddenOutputTokens = 0, zeroIsTrue = false }: ReportFacts,
): UsageReport {
  if (usage === null) return NO_USAGE
  return { state: final ? 'final' : 'running', usage, hiddenOutputTokens, zeroIsTrue }
}

/**
 * Returns the report without counts above `tokensMax`, as if the provider had not counted those tokens: a count that large is
 * the provider's mistake, and could empty a wallet. Returns the same object if there are none.
 */
export function withoutImplausible(report: UsageReport, tokensMax: number): UsageReport {
  const { usage, hiddenOutputTokens } = report
  const isInputPlausible = usage.inputTokens <= tokensMax
  const isOutputPlausible = Math.max(usage.outputTokens, hiddenOutputTokens) <= tokensMax
  if (isInputPlausible && isOutputPlausible) return report
  return {
    state: report.state,
    usage: {
      ...usage,
      ...(isInputPlausible ? {} : { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0 }),
      ...(isOutputPlausible ? {} : { outputTokens: 0, reasoningTokens: 0 }),
    },
    hiddenOutputTokens: isOutputPlausible ? hiddenOutputTokens : 0,
    zeroIsTrue: false,
  }
}

/**
 * Where a provider's replies hold the token counts, and what the counts include. `usage` of a resolved dialect has this shape.
 */
export interface UsageFacts {
  /** JSON pointers into the reply. A count found there takes precedence over the format's own usage fields. */
  readonly input?: readonly string[] | null
  readonly output?: readonly string[] | null
  readonly cached?: readonly string[] | null
  readonly reasoning?: readonly string[] | null
  /** `without_reasoning`: `completion_tokens` excludes reasoning, so the output is `total_tokens` minus `prompt_tokens`. */
  readonly outputCounts?: 'all' | 'without_reasoning'
}

/** Counts found at the dialect's pointers (see UsageFacts); null for each that is missing. */
export interface NamedCounts {
  readonly input: number | null
  readonly output: number | null
  readonly cached: number | null
  readonly reasoning: number | null
}

export function namesPlaces({ input, output, cached, reasoning }: UsageFacts): boolean {
  return Boolean(input || output || cached || reasoning)
}

/** Reads the counts at the dialect's pointers, from a reply or a chunk of its stream. */
export function namedCounts(reply: JsonObject, { input, output, cached, reasoning }: UsageFacts): NamedCounts {
  return {
    input: countAt(reply, input),
    output: countAt(reply, output),
    cached: countAt(reply, cached),
    reasoning: countAt(reply, reasoning),
  }
}

function countAt(reply: JsonObject, pointers: readonly string[] | null | undefined): number | null {
  return pointers ? firstCount(...pointers.map(pointer => atPointer(reply, pointer))) : null
}

/** Largest plausible token count of any model. A larger figure is a provider's error and is ignored. */
export const COUNT_MAX = 100_000_000

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= COUNT_MAX
}

/** Returns a token count as a whole number; 0 for null, text, NaN, negative and implausible numbers. */
export function tokenCount(value: JsonValue | undefined): number {
  return isCount(value) ? Math.floor(value) : 0
}

/** Returns the first valid count among the values, as a whole number; null if there is none. */
export function firstCount(...values: (JsonValue | undefined)[]): number | null {
  for (const value of values) {
    if (isCount(value)) return Math.floor(value)
  }
  return null
}
