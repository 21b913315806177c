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
  readonly inputTokensEstimate: number
}

/** Usage as reported where it is the last word; else input as reported or estimated, and output as counted. */
export function resultOf({ stream, end, started, inputTokensEstimate }: StreamFacts): CallResult {
  if (end === 'abandoned' && !started) return { used: NOTHING_USED, charged: false, status: CLIENT_GONE }
  const status = end === 'complete' ? 200 : CLIENT_GONE
  const { usage } = stream
  const reported = usage !== null && !stream.usageFinal ? { ...usage, outputTokens: 0 } : usage
  return { used: usedBy(reported, inputTokensEstimate, () => stream.countOutputTokens()), charged: true, status }
}

/** The provider's figures where they can be true, else what was counted here. */
export function usedBy(
  usage: TokenUsage | null,
  inputTokensEstimate: number,
  countOutputTokens: () => number,
): Metered {
  const reported = usage === null ? NOTHING_USED : meteredTokens(usage)
  const inputTokens = reported.inputTokens || inputTokensEstimate
  const outputTokens = reported.outputTokens || countOutputTokens()
  const estimated = inputTokens !== reported.inputTokens || outputTokens !== reported.outputTokens
  return { ...reported, inputTokens, outputTokens, estimated }
}
