/** The common shape of every wire format's usage figures. */

import { atPointer, type JsonObject, type JsonValue } from '../lib/json.ts'

/** Token counts of one call; whole numbers, never negative. */
export interface TokenUsage {
  /** All input tokens: uncached, cache reads and cache writes. */
  inputTokens: number
  /** Part of the input that was read from the provider's cache. */
  cachedInputTokens: number
  /** Part of the input that was written to the provider's cache. */
  cacheWriteTokens: number
  /** All output tokens, reasoning included. */
  outputTokens: number
  /** Part of the output that was reasoning. */
  reasoningTokens: number
}

/**
 * A provider's report of a call's tokens so far. `missing`: nothing yet. `running`: the reply goes on and the output
 * figure will still grow. `final`: complete. `pipeline/stream-result.ts` decides what is billed for each.
 */
export interface UsageReport {
  readonly state: 'missing' | 'running' | 'final'
  /** All zeros until something is reported. */
  readonly usage: TokenUsage
  /** The part of a running output that is final: completed passes whose output the client never sees. */
  readonly hiddenOutputTokens: number
  /**
   * A count of 0 is real. Normally it means that the provider did not count, but a reply with nothing but calls from a
   * program that runs at the provider costs nothing by itself; its tokens are reported with the reply that ends the
   * program.
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

/** The report for a parsed usage object, which is null if none was sent. */
export function usageReport(
  usage: TokenUsage | null,
  { final, hiddenOutputTokens = 0, zeroIsTrue = false }: ReportFacts,
): UsageReport {
  if (usage === null) return NO_USAGE
  return { state: final ? 'final' : 'running', usage, hiddenOutputTokens, zeroIsTrue }
}

/** What the dialect says about an upstream's usage object; `usage` of a resolved dialect has this shape. */
export interface UsageFacts {
  /** JSON pointers into the reply; they take precedence over the usual places. */
  readonly input?: readonly string[] | null
  readonly output?: readonly string[] | null
  readonly cached?: readonly string[] | null
  readonly reasoning?: readonly string[] | null
  /**
   * without_reasoning: `completion_tokens` excludes reasoning, so the output is `total_tokens` minus `prompt_tokens`.
   */
  readonly outputCounts?: 'all' | 'without_reasoning'
}

/** Counts at the places that a dialect names; null where there is none. */
export interface NamedCounts {
  readonly input: number | null
  readonly output: number | null
  readonly cached: number | null
  readonly reasoning: number | null
}

/** Whether the dialect names any place for counts. */
export function namesPlaces({ input, output, cached, reasoning }: UsageFacts): boolean {
  return Boolean(input || output || cached || reasoning)
}

/** Reads the counts of a reply, or of a chunk of its stream, at the dialect's places. */
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

/** No call uses more. A larger figure is an error of the provider and is ignored. */
const COUNT_MAX = 100_000_000

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && value >= 0 && value <= COUNT_MAX
}

/** A token count as a whole number; 0 for null, text, NaN, negative and implausible numbers. */
export function tokenCount(value: JsonValue | undefined): number {
  return isCount(value) ? Math.floor(value) : 0
}

/** The first valid count among the values, as a whole number; null if there is none. */
export function firstCount(...values: (JsonValue | undefined)[]): number | null {
  for (const value of values) {
    if (isCount(value)) return Math.floor(value)
  }
  return null
}
