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
   * The fast path, for runs of upstream events that repeat the pattern of earlier events and need no parsing. Returns the
   * client's events for the run that starts at `at`. An upstream event must begin there, and `all` must not contain CR. The run
   * ends before its output would exceed `outputBytesMax` bytes.
   * Afterwards, `skimmedTo` is the end of the run. If it equals `at`, there is no run, and the event must be given to `push`.
   * `skimmedBytes` is the number of bytes of output in the run, or more: those that may be output.
   */
  skim?(all: ByteText, at: number, outputBytesMax: number): ByteText
  readonly skimmedTo?: number
  readonly skimmedBytes?: number
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
  /** Returns the complete event that ends a failed stream. If absent or null, the client gets an ordinary error event. */
  failureEvent?(error: GatewayError): string | null
}
