/** Estimates the usage that the client sees if the upstream reports none. The billed usage is counted separately. */

import type { TokenUsage } from '../conversation/usage.ts'
import type { TranslationContext } from './translator.ts'

const CHARACTERS_PER_TOKEN = 4

export function estimatedUsage(context: TranslationContext, outputCharacters: number): TokenUsage {
  return {
    inputTokens: context.countInputTokens(),
    cachedInputTokens: 0,
    cacheWriteTokens: 0,
    outputTokens: Math.ceil(outputCharacters / CHARACTERS_PER_TOKEN),
    reasoningTokens: 0,
  }
}
