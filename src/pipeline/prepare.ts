/** Makes the call that goes to one target, and says how its reply is to be read: same format or through a translator. */

import { GatewayError } from '../errors.ts'
import type { TokenUsage } from '../formats/usage.ts'
import type { ModelEntry, UpstreamTarget } from '../generated/types.ts'
import { translatorFor } from '../translate/index.ts'
import type { ReplyStream } from '../translate/reply-stream.ts'
import type { ChatFormat } from '../translate/translator.ts'
import type { PreparedBody } from './dispatch.ts'
import { prepareConverted } from './prepare-converted.ts'
import { prepareSameFormat } from './prepare-same-format.ts'
import type { ChatBody } from './receive.ts'

export type { ChatFormat }

/** A whole reply as the client gets it. */
export interface ReadReply {
  readonly body: Buffer
  /** Null when the provider reported none. */
  readonly usage: TokenUsage | null
  /** Output tokens counted from the reply itself. */
  countOutputTokens(): number
}

export interface PreparedCall extends PreparedBody {
  /** Reads the body of a 2xx reply. Throws GatewayError `upstream_failed` when it is no reply. */
  readReply(bytes: Buffer): ReadReply
  openStream(): ReplyStream
}

export interface Preparation {
  readonly body: ChatBody
  readonly entry: ModelEntry
  readonly target: UpstreamTarget
  /** The client's format. */
  readonly format: ChatFormat
  /** A client header by lower-case name. */
  readonly header: (name: string) => string | undefined
  readonly inputTokensEstimate: number
}

/** Throws GatewayError where the body cannot be carried over to the target. */
export function prepare(preparation: Preparation): PreparedCall {
  const { target, format } = preparation
  if (target.standard === format) return prepareSameFormat(preparation)
  const translator = translatorFor(format, target.standard)
  if (translator === null) throw new GatewayError('internal', { cause: `no translator to ${target.standard}` })
  return prepareConverted(preparation, translator)
}
