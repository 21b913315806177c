/** Reads a whole reply and prepares it for the client while another upstream can still be tried. */

import { maskSecrets } from '../conversation/mask.ts'
import { readReplyError } from '../conversation/reply-error.ts'
import { gatewayErrorOf } from '../conversation/upstream-error.ts'
import { GatewayError } from '../errors.ts'
import { parseJson } from '../lib/json.ts'
import { NestingError } from '../lib/json-text.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import type { PreparedCall, ReadReply } from './prepared-call.ts'

/**
 * `onRead` gets the bytes of a good reply. Throws GatewayError `upstream_…` when the reply breaks, is not a reply, or
 * reports an error under status 200.
 */
export async function readWholeReply(
  reply: UpstreamReply,
  prepared: Pick<PreparedCall, 'readReply'>,
  bytesMax: number,
  onRead: (bytes: Buffer) => void,
): Promise<ReadReply> {
  const bytes = await reply.readBody(bytesMax).catch((error: unknown) => {
    throw new GatewayError('upstream_failed', { cause: UpstreamFault.from(error) })
  })
  try {
    const read = prepared.readReply(bytes)
    onRead(bytes)
    return read
  } catch (error) {
    // The format's own parsing of the provider's error is more informative.
    if (error instanceof GatewayError && error.code !== 'upstream_failed') throw withoutSecrets(error, reply.secrets)
    const value = parseJson(bytes.toString('utf8'))
    const reported = value === undefined ? null : readReplyError(value, { secrets: reply.secrets })
    throw reported === null ? unreadable(error) : gatewayErrorOf(reported)
  }
}

/** A reply nested too deeply to be edited or written is the provider's fault, not ours. */
export function unreadable(error: unknown): unknown {
  const isTooDeep = error instanceof NestingError || error instanceof RangeError
  return isTooDeep ? new GatewayError('upstream_failed', { cause: 'the reply is nested too deeply' }) : error
}

/** The client may see an error's text, but never the credentials in it. */
export function withoutSecrets(error: unknown, secrets: readonly string[]): unknown {
  if (!(error instanceof GatewayError) || error.details.message === undefined) return error
  return new GatewayError(error.code, { ...error.details, message: maskSecrets(error.details.message, secrets) })
}
