/** Reads and writes usage figures of the chat format, whose `prompt_tokens` include cached tokens. */

import {
  firstCount,
  namedCounts,
  namesPlaces,
  type TokenUsage,
  tokenCount,
  type UsageFacts,
} from '../../conversation/usage.ts'
import { isObject, type JsonObject, objectOrNull } from '../../lib/json.ts'

/**
 * Reads the usage of a non-streamed reply or of one chunk; null if it has no counts. Providers put counts in different places:
 * this function knows the common ones, and the dialect names any others.
 */
export function readUsage(reply: JsonObject, facts: UsageFacts = {}): TokenUsage | null {
  // Most chunks of a stream report nothing.
  if (!isObject(reply.usage) && !namesPlaces(facts)) return null
  const usage = objectOrNull(reply.usage) ?? {}
  const named = namedCounts(reply, facts)
  const total = firstCount(usage.total_tokens)
  const completion = named.output ?? firstCount(usage.completion_tokens, usage.output_tokens)
  const prompt = named.input ?? firstCount(usage.prompt_tokens, usage.input_tokens)
  if (prompt === null && completion === null && total === null) return null
  const inputTokens = prompt ?? Math.max(0, (total ?? 0) - (completion ?? 0))
  const promptDetails = objectOrNull(usage.prompt_tokens_details)
  const completionDetails = objectOrNull(usage.completion_tokens_details)
  const reasoning = named.reasoning ?? firstCount(completionDetails?.reasoning_tokens, usage.reasoning_tokens) ?? 0
  const outputTokens = outputOf({ completion, inputTokens, total, reasoning }, facts)
  const cached =
    named.cached ??
    Math.max(
      tokenCount(promptDetails?.cached_tokens),
      tokenCount(usage.prompt_cache_hit_tokens),
      tokenCount(usage.cached_tokens),
    )
  const written = firstCount(
    promptDetails?.cache_write_tokens,
    promptDetails?.cache_creation_input_tokens,
    usage.cache_creation_input_tokens,
  )
  const cachedInputTokens = Math.min(cached, inputTokens)
  return {
    inputTokens,
    cachedInputTokens,
    cacheWriteTokens: Math.min(written ?? 0, inputTokens - cachedInputTokens),
    outputTokens,
    reasoningTokens: Math.min(reasoning, outputTokens),
  }
}

interface OutputCounts {
  readonly completion: number | null
  readonly inputTokens: number
  readonly total: number | null
  readonly reasoning: number
}

/**
 * Returns the output tokens including reasoning. `completion_tokens` exclude reasoning if the dialect says so, or if input,
 * completion and reasoning add up to the total.
 */
function outputOf({ completion, inputTokens, total, reasoning }: OutputCounts, facts: UsageFacts): number {
  const rest = total === null ? 0 : Math.max(0, total - inputTokens)
  if (completion === null) return rest
  if (facts.outputCounts === 'without_reasoning')
    return Math.max(completion, total === null ? completion + reasoning : rest)
  return reasoning > 0 && rest === completion + reasoning ? rest : completion
}

export function writeUsage(usage: TokenUsage): JsonObject {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedInputTokens,
      ...(usage.cacheWriteTokens > 0 && { cache_write_tokens: usage.cacheWriteTokens }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  }
}
