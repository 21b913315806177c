/** Determines what a call is charged, from the provider's usage report and the way its stream ended. */

import type { ReplyStream } from '../conversation/reply-stream.ts'
import { COUNT_MAX, type TokenUsage, type UsageReport, withoutImplausible } from '../conversation/usage.ts'
import { ERRORS } from '../errors.ts'
import type { ModelEntry } from '../generated/types.ts'
import { type CallResult, CLIENT_GONE } from './bill.ts'
import { type Metered, meteredTokens, NOTHING_USED } from './meter.ts'
import type { StreamEnd } from './relay-stream.ts'

/** How to bill a call whose provider reports no usage, or usage that cannot be true. */
export interface UsageChecks {
  /** Counts the input tokens; used only if the provider reported no plausible count. */
  readonly countInputTokens: () => number
  /** Larger reported counts are ignored (see `reportedTokensMax`). */
  readonly reportedTokensMax: number
}

export interface StreamFacts extends UsageChecks {
  readonly stream: ReplyStream
  readonly end: StreamEnd
}

/**
 * The charge and status for a stream that has ended. A stream cut off because the wallet ran out is charged, too: the provider
 * has already processed the input.
 */
export function resultOf({ stream, end, ...checks }: StreamFacts): CallResult {
  if (end === 'unsent') return { used: NOTHING_USED, charged: false, status: CLIENT_GONE }
  const used = usedByStream(stream, checks)
  switch (end) {
    case 'complete':
      return { used, charged: true, status: 200 }
    case 'abandoned':
      return { used, charged: true, status: CLIENT_GONE }
    case 'spent':
      return { used, charged: true, status: ERRORS.insufficient_balance.status, code: 'insufficient_balance' }
  }
}

export function usedByStream(stream: Pick<ReplyStream, 'usage' | 'countOutputTokens'>, checks: UsageChecks): Metered {
  return usedBy(stream.usage, () => stream.countOutputTokens(), checks)
}

/**
 * The most input or output tokens per choice that a provider can truthfully report for a call, as it may read and write several
 * context windows, for example between the uses of its tools.
 */
export function reportedTokensMax(
  { contextTokens }: Pick<ModelEntry, 'contextTokens'>,
  choices: number,
  windowsMax: number,
): number {
  return contextTokens === null ? COUNT_MAX : Math.min(COUNT_MAX, contextTokens * windowsMax * choices)
}

/**
 * The usage to bill: the provider's counts where it reported them and they are plausible, otherwise our own. A report that is
 * still `running` may not include all output yet. In that case, the gateway counts the output sent to the client, and adds the
 * reported reasoning that was not sent.
 */
export function usedBy(
  report: UsageReport,
  countOutputTokens: () => number,
  { countInputTokens, reportedTokensMax }: UsageChecks,
): Metered {
  const { state, usage, hiddenOutputTokens, zeroIsTrue } = withoutImplausible(report, reportedTokensMax)
  const isKnown = (count: number): boolean => count > 0 || (zeroIsTrue && state !== 'missing')
  const inputIsKnown = isKnown(usage.inputTokens)
  const outputIsKnown = state === 'running' ? zeroIsTrue : isKnown(usage.outputTokens)
  const inputTokens = inputIsKnown ? usage.inputTokens : countInputTokens()
  const counted = outputIsKnown ? 0 : countOutputTokens()
  const outputTokens = outputIsKnown ? usage.outputTokens : hiddenOutputTokens + counted
  return {
    ...meteredTokens(usage),
    inputTokens,
    outputTokens,
    estimated: (!inputIsKnown && inputTokens > 0) || counted > 0,
  }
}

/** The billed usage as reported to clients. */
export function billedUsage(used: Metered): TokenUsage {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens } = used
  return { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens, reasoningTokens }
}

/** The provider's counts unchanged, for calls whose price does not depend on them. */
export function reportedBy({ usage }: UsageReport): Metered {
  return meteredTokens(usage)
}
