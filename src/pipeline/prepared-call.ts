/** A call before and after it is prepared for one target. */

import type { ReplyStream } from '../conversation/reply-stream.ts'
import type { Sealer } from '../conversation/seal.ts'
import type { UsageReport } from '../conversation/usage.ts'
import type { ModelEntry, UpstreamTarget, WireName } from '../generated/types.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { PreparedBody } from './dispatch.ts'
import type { ChatBody } from './receive.ts'

/** A whole reply as the client gets it. */
export interface ReadReply {
  readonly body: Buffer | ByteText
  readonly usage: UsageReport
  /** Number of images in the reply; absent: none. */
  readonly images?: number
  /** Output tokens counted from the reply itself. */
  countOutputTokens(): number
}

export interface PreparedCall extends PreparedBody {
  /** Reads the body of a 2xx reply. Throws GatewayError `upstream_failed` when it is not a reply. */
  readReply(bytes: Buffer): ReadReply
  openStream(): ReplyStream
}

export interface Preparation<Format extends WireName = WireName> {
  /** The sealer of the caller's account. */
  readonly sealer: Sealer
  readonly body: ChatBody
  readonly entry: ModelEntry
  /** The model's name in the reply. */
  readonly clientModel: string
  readonly target: UpstreamTarget
  /** The client's format. */
  readonly format: Format
  /** Beta flags that the client sent (messages format), in order. */
  readonly betas: readonly string[]
  /** A rough estimate, for finding out how much room is left for the output. */
  readonly inputTokensEstimate: number
  /** The output cap that the wallet affords, if it is lower than the one that would be sent; else null. */
  readonly outputTokensAfforded: number | null
  /** Counts the input: for the bill if the provider reports no count, and for the start of a stream, before it has. */
  readonly countInputTokens: () => number
}
