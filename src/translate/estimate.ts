/** Numbers for a client whose upstream reported no usage. What is billed then is counted elsewhere. */

import type { TokenUsage } from '../conversation/usage.ts'
import type { TranslationContext } from './translator.ts'

/** Characters that one token stands for, roughly. */
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
