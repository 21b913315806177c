/** Computes costs as usage times price, in integers: tokens × (VND per 1M tokens) is exactly µVND. */

import type { TokenUsage } from '../conversation/usage.ts'
import type { ModelEntry } from '../generated/types.ts'
import { type MicroVnd, microVnd, vndToMicro, ZERO_MICRO_VND } from '../lib/money.ts'

/** What a call used, in the form needed for billing. */
export interface Metered {
  /** All input tokens, including cache reads and cache writes. */
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly cacheWriteTokens: number
  /** All output tokens, including reasoning. */
  readonly outputTokens: number
  readonly reasoningTokens: number
  readonly images: number
  /** Whether the gateway counted the tokens, because the provider reported none. */
  readonly estimated: boolean
}

export const NOTHING_USED: Metered = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  images: 0,
  estimated: false,
}

/** Converts token usage as reported by the provider. */
export function meteredTokens(usage: TokenUsage): Metered {
  return {
    inputTokens: usage.inputTokens,
    cachedInputTokens: usage.cachedInputTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    outputTokens: usage.outputTokens,
    reasoningTokens: usage.reasoningTokens,
    images: 0,
    estimated: false,
  }
}

/** Returns what the customer pays for a call, in µVND, if the call is charged. */
export function costOf(entry: ModelEntry, used: Metered): MicroVnd {
  switch (entry.price.per) {
    case 'mtok':
      return microVnd(BigInt(used.inputTokens + used.outputTokens) * BigInt(entry.price.vnd))
    case 'request':
      return vndToMicro(entry.price.vnd)
    case 'image':
      return used.images === 0 ? ZERO_MICRO_VND : vndToMicro(entry.price.vnd * used.images)
  }
}
