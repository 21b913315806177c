/** Types for preparing a call for one target: what goes in, and what comes out. */

import type { EnvelopeSigner } from '../conversation/envelope.ts'
import type { ReplyStream } from '../conversation/reply-stream.ts'
import type { UsageReport } from '../conversation/usage.ts'
import type { ModelEntry, UpstreamTarget, WireName } from '../generated/types.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { PipelineLimits } from './call.ts'
import type { PreparedBody } from './dispatch.ts'
import type { ChatBody } from './receive.ts'

/** A non-streamed reply, as sent to the client. */
export interface ReadReply {
  readonly body: Buffer | ByteText
  readonly usage: UsageReport
  /** The provider's reply without its log probabilities; absent if they have not been set aside. */
  readonly shortened?: Buffer
  /** Number of images in the reply. Default: 0. */
  readonly images?: number
  /** Counts the output tokens in the reply's text. */
  countOutputTokens(): number
}

export interface PreparedCall extends PreparedBody {
  /** Reads the body of a 2xx reply. Throws or rejects with GatewayError `upstream_failed` if it is not a valid reply. */
  readReply(bytes: Buffer): ReadReply | Promise<ReadReply>
  openStream(): ReplyStream
}

export interface Preparation<Format extends WireName = WireName> {
  readonly envelopeSigner: EnvelopeSigner
  readonly body: ChatBody
  readonly entry: ModelEntry
  /** The model name to use in the reply. */
  readonly clientModel: string
  readonly target: UpstreamTarget
  /** The format in which the client reads the reply. */
  readonly format: Format
  /** Beta flags that the client sent (messages format only), in order. */
  readonly betas: readonly string[]
  /** Rough estimate, to find out how much of the context is left for output. */
  readonly inputTokensEstimate: number
  /** Lowered output cap that the wallet can pay for; null if it can pay for the cap that applies otherwise. */
  readonly outputTokensAfforded: number | null
  /** Counts the input tokens: for the usage in a stream's first event, and for the bill if the provider reports no count. */
  readonly countInputTokens: () => number
  /** Larger token counts in the reply are not believed (see `stream-result.ts`). */
  readonly reportedTokensMax: number
  readonly limits: Pick<PipelineLimits, 'replyValuesMax'>
}
