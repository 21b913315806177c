/** For upstreams that answer a streamed request with JSON: converts the reply to the SSE stream that the client expects. */

import { dataOf } from '../conversation/stream-event.ts'
import { GatewayError } from '../errors.ts'
import { FORMATS } from '../formats/index.ts'
import type { UpstreamTarget } from '../generated/types.ts'
import { toBuffer } from '../lib/byte-text.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import { isObject } from '../lib/json.ts'
import { wireOf } from '../translate/wired.ts'
import { UpstreamReply } from '../upstream/reply.ts'
import type { PipelineLimits } from './call.ts'
import { shortReply } from './long-reply.ts'
import { readWhole, unreadable, type WholeBounds } from './relay-reply.ts'

const NO_SOURCE = { pause: () => {}, resume: () => {}, abort: () => {} }

/**
 * Returns the reply unchanged if it is not JSON. Throws GatewayError `upstream_failed` if the JSON is cut off or is not an
 * object.
 */
export async function asStream(
  reply: UpstreamReply,
  target: UpstreamTarget,
  { limits, ...bounds }: WholeBounds & { readonly limits: Pick<PipelineLimits, 'replyValuesMax'> },
): Promise<UpstreamReply> {
  if (!reply.header('content-type').includes('application/json')) return reply
  const { bytes, restore } = await shortReply(await readWhole(reply, bounds), limits).catch((error: unknown) => {
    throw unreadable(error)
  })
  const json = parseExactJson(bytes.toString('utf8'))
  if (!isObject(json)) throw new GatewayError('upstream_failed', { cause: 'the reply is not a JSON object' })
  const text = FORMATS[wireOf(target)]
    .replay(json)
    .map(event => `${event.name === '' ? '' : `event: ${event.name}\n`}data: ${dataOf(event)}\n\n`)
    .join('')
  const stream = new UpstreamReply(NO_SOURCE, reply.status, { 'content-type': 'text/event-stream' }, reply.secrets)
  const events = restore(Buffer.from(text, 'utf8'))
  stream.receive(Buffer.isBuffer(events) ? events : toBuffer(events))
  stream.finish(null)
  return stream
}
