/** Usage of the responses format: cached tokens stand inside `input_tokens`. */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull } from '../../lib/json.ts'
import { onlyProgramCalls } from '../program-calls.ts'
import { firstCount, type TokenUsage, tokenCount, type UsageReport, usageReport } from '../usage.ts'

/** Reads a `usage` object; null when it holds no count at all. */
export function readUsage(usage: JsonValue | undefined): TokenUsage | null {
  if (!isObject(usage)) return null
  const input = firstCount(usage.input_tokens)
  const output = firstCount(usage.output_tokens)
  const total = firstCount(usage.total_tokens)
  if (input === null && output === null && total === null) return null
  const inputTokens = input ?? Math.max(0, (total ?? 0) - (output ?? 0))
  const outputTokens = output ?? Math.max(0, (total ?? 0) - inputTokens)
  const inputDetails = objectOrNull(usage.input_tokens_details)
  const cachedInputTokens = Math.min(tokenCount(inputDetails?.cached_tokens), inputTokens)
  const reasoning = tokenCount(objectOrNull(usage.output_tokens_details)?.reasoning_tokens)
  return {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens: Math.min(tokenCount(inputDetails?.cache_write_tokens), inputTokens - cachedInputTokens),
    outputTokens,
    reasoningTokens: Math.min(reasoning, outputTokens),
  }
}

/** What a finished response says of its tokens. */
export function reportOf(response: JsonObject): UsageReport {
  const zeroIsTrue = onlyProgramCalls(arrayOrEmpty(response.output))
  return usageReport(readUsage(response.usage), { final: true, zeroIsTrue })
}
