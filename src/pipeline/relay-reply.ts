/**
 * Reads a non-streamed reply and converts it for the client. Nothing has been sent to the client yet, so a bad reply can still
 * fail over to another upstream.
 */

import { maskSecrets } from '../conversation/mask.ts'
import { readReplyError } from '../conversation/reply-error.ts'
import { gatewayErrorOf } from '../conversation/upstream-error.ts'
import { GatewayError } from '../errors.ts'
import { parseJson } from '../lib/json.ts'
import { JsonSizeError } from '../lib/json-scan.ts'
import { NestingError } from '../lib/json-text.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import type { ReplyRoom } from '../upstream/reply-room.ts'
import { LONG_BYTES } from './long-reply.ts'
import type { PreparedCall, ReadReply } from './prepared-call.ts'

export interface WholeBounds {
  readonly bytesMax: number
  readonly room: ReplyRoom
}

/** Reads a reply's body to its end. Rejects with GatewayError `upstream_failed`, or `rate_limited` if there is no room for it. */
export function readWhole(reply: UpstreamReply, { bytesMax, room }: WholeBounds): Promise<Buffer> {
  return reply.readBody(bytesMax, room).catch((error: unknown) => {
    if (error instanceof GatewayError) throw error
    throw new GatewayError('upstream_failed', { cause: UpstreamFault.from(error) })
  })
}

/**
 * Resolves with the reply for the client. Calls `onRead` with the bytes of a valid reply, without long log probabilities. Throws GatewayError `upstream_…` if
 * the reply ends early, is invalid, or reports an error despite its 200 status.
 */
export async function readWholeReply(
  reply: UpstreamReply,
  prepared: Pick<PreparedCall, 'readReply'>,
  bounds: WholeBounds,
  onRead: (bytes: Buffer) => void,
): Promise<ReadReply> {
  const bytes = await readWhole(reply, bounds)
  try {
    const reading = prepared.readReply(bytes)
    const read = reading instanceof Promise ? await reading : reading
    onRead(read.shortened ?? bytes)
    return read
  } catch (error) {
    // Any other code means that the format's reader has already extracted the provider's error from the reply. Its error says
    // more than the errors below.
    if (error instanceof GatewayError && error.code !== 'upstream_failed') throw withoutSecrets(error, reply.secrets)
    const value = bytes.length > LONG_BYTES ? undefined : parseJson(bytes.toString('utf8'))
    const reported = value === undefined ? null : readReplyError(value, { secrets: reply.secrets })
    throw reported === null ? unreadable(error) : gatewayErrorOf(reported)
  }
}

/** Blames the provider if its reply is nested too deeply or has too many values to be processed; returns other errors unchanged. */
export function unreadable(error: unknown): unknown {
  if (error instanceof JsonSizeError) {
    return new GatewayError('upstream_failed', {
      cause: new UpstreamFault('oversized', `the reply has ${error.message}`),
    })
  }
  const isTooDeep = error instanceof NestingError || error instanceof RangeError
  return isTooDeep ? new GatewayError('upstream_failed', { cause: 'the reply is nested too deeply' }) : error
}

/** Masks credentials in an error's text, which may be shown to the client. */
export function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof GatewayError) || error.details.message === undefined) return error
  return new GatewayError(error.code, { ...error.details, message: maskSecrets(error.details.message, secrets) })
}
