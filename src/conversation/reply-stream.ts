/** The interface through which the relay drives reply streams, whether they pass through or are converted. */

import type { GatewayError } from '../errors.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { SseEvent } from '../lib/sse.ts'
import type { UsageReport } from './usage.ts'

export interface ReplyStream {
  /**
   * Returns the client's events for one upstream event, except those that end the reply. Throws GatewayError on an upstream error
   * event.
   */
  push(event: SseEvent): ByteText
  /**
   * The fast path, for upstream events that repeat the pattern of earlier ones and need no parsing. Returns the client's events
   * for those that follow each other from `at` on. An event must begin at `at`, and `all` must not contain CR. Afterwards,
   * `skimmedTo` is the offset reached; if it equals `at`, the first event must be given to `push` instead.
   */
  skim?(all: ByteText, at: number): ByteText
  readonly skimmedTo?: number
  /** Returns the events that end the reply. Throws GatewayError `upstream_failed` if the upstream did not end properly. */
  end(): ByteText
  /** Whether the upstream has announced the end of its stream. */
  readonly finished: boolean
  /** The usage that the upstream has reported so far. */
  readonly usage: UsageReport
  /** Counts the output tokens in everything that `push` has returned so far. */
  countOutputTokens(): number
  /** Estimates the output tokens, cheaply enough to be called often. */
  estimateOutputTokens(): number
  /** Returns the complete event that ends a failed stream. Absent or null: use the error event that all formats know. */
  failureEvent?(error: GatewayError): string | null
}
