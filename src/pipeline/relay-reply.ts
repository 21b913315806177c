/** A whole reply: read and made ready for the client while another upstream can still be tried. */

import { GatewayError } from '../errors.ts'
import { gatewayErrorOf, readUpstreamErrorValue } from '../formats/upstream-error.ts'
import { parseJson } from '../lib/json.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import type { Attempt } from './dispatch.ts'
import type { PreparedCall, ReadReply } from './prepared-call.ts'

/** Throws GatewayError `upstream_…` for a reply that breaks off, is none, or tells of an error under status 200. */
export async function readWholeReply(
  reply: UpstreamReply,
  { prepared, upstream }: Attempt<PreparedCall>,
  bytesMax: number,
): Promise<ReadReply> {
  const bytes = await reply.readBody(bytesMax).catch((error: unknown) => {
    throw new GatewayError('upstream_failed', { cause: UpstreamFault.from(error) })
  })
  try {
    return prepared.readReply(bytes)
  } catch (error) {
    const value = parseJson(bytes.toString('utf8'))
    const told = value === undefined ? null : readUpstreamErrorValue(value, upstream.credentials.secrets)
    throw told === null ? error : gatewayErrorOf(told)
  }
}
