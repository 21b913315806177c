/**
 * Makes one call to one upstream with one credential: builds, signs and sends the request, and decodes the reply to plain JSON
 * or server-sent events.
 */

import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import type { Upstream } from '../generated/types.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import type { PlainFault } from '../lib/fault-text.ts'
import { buildRequest, type Outgoing } from './build.ts'
import type { Credential } from './credentials.ts'
import { decoded, transformed } from './decode.ts'
import { UpstreamFault } from './fault.ts'
import type { ReachableUpstream } from './registry.ts'
import type { UpstreamReply } from './reply.ts'
import { send } from './send.ts'

export interface CallOptions {
  /** Whose call it is. */
  readonly accountId: number
  /** Time left for the call as a whole, in ms; the upstream's own limit applies too. */
  readonly totalTimeoutMs: number
  /** Largest frame of a binary event stream, in bytes. */
  readonly frameBytesMax: number
  readonly signal: Cancellation
}

/** How many times as long the first byte may take if the reply may start only when it is complete. */
const WHOLE_REPLY_PATIENCE = 5

/**
 * The longest wait for a reply's first byte, in ms. A non-streamed reply starts only when it is complete, and a stream without
 * partial images only when the first image is: gpt-image-2 takes 80 to 280 s for one (public reports, read 2026-11).
 */
export function firstByteMsOf(
  { firstByteTimeoutMs }: Pick<Upstream, 'firstByteTimeoutMs'>,
  { endpoint, streamed }: Pick<Outgoing, 'endpoint' | 'streamed'>,
): number {
  const startsEarly = streamed && ENDPOINT_FACTS[endpoint].makes !== 'image'
  return startsEarly ? firstByteTimeoutMs : firstByteTimeoutMs * WHOLE_REPLY_PATIENCE
}

export class EndpointMissingError extends Error implements PlainFault {
  readonly mayBeLogged = true
}

/**
 * Resolves with the reply, whatever its status. Rejects with UpstreamFault when there is no reply, and with EndpointMissingError
 * when the upstream has no path for the endpoint.
 */
export async function callUpstream(
  upstream: ReachableUpstream,
  credential: Credential,
  outgoing: Outgoing,
  options: CallOptions,
): Promise<UpstreamReply> {
  const { facts } = upstream
  const request = buildRequest(upstream, credential, outgoing)
  if (request === null) throw new EndpointMissingError(`${facts.id} has no path for ${outgoing.endpoint}`)
  const { accountId } = options
  upstream.places.enter(accountId)
  let { headers } = request
  if (credential.secret.kind === 'aws') {
    try {
      const sign = await upstream.signerOf(credential, credential.secret)
      headers = await sign({ host: upstream.host, ...request })
    } catch (error) {
      upstream.places.leave(accountId)
      throw UpstreamFault.from(error)
    }
  }
  const totalTimeoutMs = Math.min(facts.totalTimeoutMs, options.totalTimeoutMs)
  const dueMs = performance.now() + totalTimeoutMs
  const reply = await send({
    connections: upstream.connections,
    method: 'POST',
    path: request.path,
    headers,
    body: request.body,
    secrets: upstream.credentials.secrets,
    firstByteTimeoutMs: firstByteMsOf(facts, outgoing),
    idleTimeoutMs: facts.idleTimeoutMs,
    totalTimeoutMs,
    signal: options.signal,
    onClose: () => upstream.places.leave(accountId),
  })
  const plain = decoded(reply, dueMs)
  if (!plain.header('content-type').includes('application/vnd.amazon.eventstream')) return plain
  const { EventStreamDecoder } = await import('./aws/event-stream.ts')
  const decoder = new EventStreamDecoder({ frameBytesMax: options.frameBytesMax })
  return transformed(plain, decoder, { 'content-type': 'text/event-stream' })
}
