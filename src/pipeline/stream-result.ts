/** What a call is charged, by what its provider reported and how its stream ended. */

import type { TokenUsage } from '../formats/usage.ts'
import type { ReplyStream } from '../translate/reply-stream.ts'
import { type Metered, meteredTokens, NOTHING_USED } from './meter.ts'
import type { StreamEnd } from './relay-stream.ts'
import { CLIENT_GONE } from './run-accounted.ts'
import type { CallResult } from './settle.ts'

export interface StreamFacts {
  readonly stream: ReplyStream
  readonly end: StreamEnd
  /** Something was sent to the client. */
  readonly started: boolean
  readonly countInputTokens: () => number
}

/** Counts of this gateway, taken only where the provider reported nothing. */
export interface OwnCounts {
  readonly countInputTokens: () => number
  readonly countOutputTokens: () => number
}

/** Usage as reported where it is the last word; else input as reported or counted, and output as counted. */
export function resultOf({ stream, end, started, countInputTokens }: StreamFacts): CallResult {
  if (end === 'abandoned' && !started) return { used: NOTHING_USED, charged: false, status: CLIENT_GONE }
  const status = end === 'complete' ? 200 : CLIENT_GONE
  return { used: usedByStream(stream, countInputTokens), charged: true, status }
}

/** What a stream used so far. A running figure of the output does not count. */
export function usedByStream(
  stream: Pick<ReplyStream, 'usage' | 'usageFinal' | 'countOutputTokens'>,
  countInputTokens: () => number,
): Metered {
  const { usage } = stream
  const reported = usage !== null && !stream.usageFinal ? { ...usage, outputTokens: 0 } : usage
  return usedBy(reported, { countInputTokens, countOutputTokens: () => stream.countOutputTokens() })
}

/** The provider's figures where they can be true, else what was counted here. */
export function usedBy(usage: TokenUsage | null, { countInputTokens, countOutputTokens }: OwnCounts): Metered {
  const reported = usage === null ? NOTHING_USED : meteredTokens(usage)
  const inputTokens = reported.inputTokens || countInputTokens()
  const outputTokens = reported.outputTokens || countOutputTokens()
  const estimated = inputTokens !== reported.inputTokens || outputTokens !== reported.outputTokens
  return { ...reported, inputTokens, outputTokens, estimated }
}
