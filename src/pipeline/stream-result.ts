/** What a streamed call is charged, by how its stream ended. */

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

/** Usage as reported when it is the last word; else input as reported or estimated, and output as counted. */
export function resultOf({ stream, end, started, inputTokensEstimate }: StreamFacts): CallResult {
  if (end === 'abandoned' && !started) return { used: NOTHING_USED, charged: false, status: CLIENT_GONE }
  const status = end === 'complete' ? 200 : CLIENT_GONE
  if (stream.usage !== null && (end === 'complete' || stream.usageFinal)) {
    return { used: meteredTokens(stream.usage), charged: true, status }
  }
  const counted = estimatedTokens(inputTokensEstimate, stream.countOutputTokens())
  const used =
    stream.usage === null
      ? counted
      : { ...meteredTokens(stream.usage), outputTokens: counted.outputTokens, estimated: true }
  return { used, charged: true, status }
}

export function estimatedTokens(inputTokens: number, outputTokens: number): Metered {
  return { ...NOTHING_USED, inputTokens, outputTokens, estimated: true }
}
