/** What a call is before and after it is made ready for one target. */

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
  /** Images in it; absent: none. */
  readonly images?: number
  /** Output tokens counted from the reply itself. */
  countOutputTokens(): number
}

export interface PreparedCall extends PreparedBody {
  /** Reads the body of a 2xx reply. Throws GatewayError `upstream_failed` when it is no reply. */
  readReply(bytes: Buffer): ReadReply
  openStream(): ReplyStream
}

export interface Preparation<Format extends WireName = WireName> {
  /** Of the caller's account. */
  readonly sealer: Sealer
  readonly body: ChatBody
  readonly entry: ModelEntry
  /** What the reply calls the model. */
  readonly clientModel: string
  readonly target: UpstreamTarget
  /** The client's format. */
  readonly format: Format
  /** Beta flags of the client (messages format), in order. */
  readonly betas: readonly string[]
  /** Rough: how much room the output has. */
  readonly inputTokensEstimate: number
  /** Lower than the cap that would be sent: what the wallet affords. */
  readonly outputTokensAfforded: number | null
  /** For the bill, where the provider does not report its count, and for clients before it has. */
  readonly countInputTokens: () => number
}
