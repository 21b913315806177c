/** Makes the call that goes to one target, and says how its reply is to be read: same format or through a translator. */

import { GatewayError } from '../errors.ts'
import type { TokenUsage } from '../formats/usage.ts'
import type { ApiStandard, ModelEntry, UpstreamTarget } from '../generated/types.ts'
import type { ReplyStream } from '../translate/reply-stream.ts'
import type { PreparedBody } from './dispatch.ts'
import { prepareSameFormat } from './prepare-same-format.ts'
import type { ChatBody } from './receive.ts'
import { ENDPOINT_PATHS } from './resolve.ts'

export type ChatFormat = Extract<ApiStandard, 'messages' | 'chat_completions'>

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
}

/** The one place where a translator between two chat formats stands. */
function prepareConverted({ entry, target, format }: Preparation): PreparedCall {
  const served = target.standard as ChatFormat
  throw new GatewayError('conversion_unavailable', {
    message: `model: ${entry.id} speaks the ${served} format only; call POST ${ENDPOINT_PATHS[served]} instead of ${ENDPOINT_PATHS[format]}.`,
  })
}

/** Throws GatewayError where the body cannot be carried over to the target. */
export function prepare(preparation: Preparation): PreparedCall {
  return preparation.target.standard === preparation.format
    ? prepareSameFormat(preparation)
    : prepareConverted(preparation)
}
