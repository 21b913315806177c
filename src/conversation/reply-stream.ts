/** The interface through which the relay drives reply streams, whether they pass through or are converted. */

import type { GatewayError } from '../errors.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { UsageReport } from './usage.ts'

export interface ReplyStream {
  /**
   * Client text for one upstream event, without what ends the reply. Throws GatewayError on an upstream error event.
   */
  push(event: SseEvent): ByteText
  /**
   * The fast path: client text for events from `at` on that repeat the pattern of earlier ones and need no parsing. An
   * event begins at `at`, and no line of `all` ends with CR. Afterwards `skimmedTo` is the offset reached; it equals
   * `at` if the first event must be pushed.
   */
  skim?(all: ByteText, at: number): ByteText
  readonly skimmedTo?: number
  /** The events that end the reply. Throws GatewayError(`upstream_failed`) if the upstream did not end properly. */
  end(): ByteText
  /** The upstream has announced the end of its stream. */
  readonly finished: boolean
  /** The upstream's usage report so far. */
  readonly usage: UsageReport
  /** Output tokens, counted from what `push` has returned so far. */
  countOutputTokens(): number
  /** A rough estimate of the output tokens, cheap enough to read often. */
  estimateOutputTokens(): number
  /** The complete event that ends a failed stream. Absent or null: use the error event that all formats know. */
  failureEvent?(error: GatewayError): string | null
}
