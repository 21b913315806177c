/** Usage of the messages format: cached tokens stand beside `input_tokens`, not inside. */

import { isObject, type JsonObject, type JsonValue, objectOrNull } from '../../lib/json.ts'
import { firstCount, type TokenUsage, tokenCount } from '../usage.ts'

/**
 * Reads a `usage` object; null when it holds no count at all. In streams give it the merged object, see `mergeUsage`.
 * An upstream that reports cache writes only by lifetime (`cache_creation`) is understood too.
 */
export function readUsage(usage: JsonValue | undefined): TokenUsage | null {
  if (!isObject(usage)) return null
  const uncached = firstCount(usage.input_tokens)
  const output = firstCount(usage.output_tokens)
  const cached = firstCount(usage.cache_read_input_tokens) ?? 0
  const lifetimes = objectOrNull(usage.cache_creation)
  const written =
    firstCount(usage.cache_creation_input_tokens) ??
    (firstCount(lifetimes?.ephemeral_5m_input_tokens) ?? 0) + (firstCount(lifetimes?.ephemeral_1h_input_tokens) ?? 0)
  if (uncached === null && output === null && cached === 0 && written === 0) return null
  const outputTokens = output ?? 0
  const reasoning = firstCount(objectOrNull(usage.output_tokens_details)?.thinking_tokens) ?? 0
  return {
    inputTokens: (uncached ?? 0) + cached + written,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    outputTokens,
    reasoningTokens: Math.min(reasoning, outputTokens),
  }
}

/**
 * The usage of a stream so far: `message_start` brings the first object and each `message_delta` overwrites the counts
 * that it has. Counts are cumulative, so they are replaced, never added; null leaves the older one, and so does an
 * `input_tokens` of 0 from relays that fill in zeros.
 */
export function mergeUsage(older: JsonObject | null, newer: JsonValue | undefined): JsonObject | null {
  if (!isObject(newer)) return older
  if (older === null) return newer
  const present = Object.entries(newer).filter(([, value]) => value !== null && value !== undefined)
  const merged: JsonObject = { ...older, ...Object.fromEntries(present) }
  const cached = tokenCount(newer.cache_read_input_tokens) + tokenCount(newer.cache_creation_input_tokens)
  const filledIn = newer.input_tokens === 0 && cached === 0 && older.input_tokens !== undefined
  return filledIn ? { ...merged, input_tokens: older.input_tokens } : merged
}

/** The `usage` object of a messages reply. */
export function writeUsage(usage: TokenUsage): JsonObject {
  return {
    input_tokens: Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteTokens),
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedInputTokens,
    output_tokens: usage.outputTokens,
    ...(usage.reasoningTokens > 0 && { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
  }
}
