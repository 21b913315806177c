/** One shape for the reply streams that the relay drives, whether they pass through or are converted. */

import type { GatewayError } from '../errors.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { UsageReport } from './usage.ts'

export interface ReplyStream {
  /** Client text for one upstream event; never what ends the reply. Throws GatewayError on an upstream error event. */
  push(event: SseEvent): ByteText
  /**
   * The fast lane: client text for the events from `at` on in an upstream's bytes that are like ones before and need no
   * closer look. An event begins at `at`, and no line of `all` ends with CR. `skimmedTo` then says how far that went; it is
   * `at` when the first event has to be pushed.
   */
  skim?(all: ByteText, at: number): ByteText
  readonly skimmedTo?: number
  /** What ends the reply. Throws GatewayError(`upstream_failed`) when the upstream did not end well. */
  end(): ByteText
  /** The upstream has said that nothing more will come. */
  readonly finished: boolean
  /** What the upstream has said of its tokens so far. */
  readonly usage: UsageReport
  /** Output tokens counted from what `push` returned so far. */
  countOutputTokens(): number
  /** The same, roughly, and cheap enough to be asked again and again. */
  estimateOutputTokens(): number
  /** How a fault ends a stream that has begun: a complete event. Absent or null: the form that other formats have in common. */
  failureEvent?(error: GatewayError): string | null
}
