/** Sends the prepared call to its upstream; whatever is not a 2xx reply becomes the error that the client may see. */

import { GatewayError } from '../errors.ts'
import { gatewayErrorOf, readUpstreamFailure } from '../formats/upstream-error.ts'
import type { Endpoint, UpstreamTarget } from '../generated/types.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import { upstreamHeaders } from '../upstream/headers.ts'
import type { ReachableUpstream } from '../upstream/registry.ts'
import { send, type UpstreamReply } from '../upstream/send.ts'
import type { Call, HeaderMap, Services } from './call.ts'

/** Largest error body that is read, in bytes. */
const ERROR_BODY_BYTES_MAX = 256 * 1024

/** What goes to a target. */
export interface OutgoingCall {
  readonly target: UpstreamTarget
  readonly body: Buffer
  /** Headers that the call needs beside those of the upstream. */
  readonly headers: HeaderMap
}

export interface DispatchOptions {
  readonly streamed: boolean
  readonly signal: AbortSignal
  /** Endpoint of the upstream; absent: the chat endpoint that the target's standard names. */
  readonly endpoint?: Endpoint
  /** Absent: JSON. */
  readonly contentType?: string
  /** Absent: JSON, or an event stream for a streamed call. */
  readonly accept?: string
}

/** Throws GatewayError `upstream_misconfigured` when nothing serves the target in this process. */
export function findUpstream(services: Services, outgoing: OutgoingCall): ReachableUpstream {
  const upstream = services.upstreams.find(outgoing.target.via)
  if (upstream) return upstream
  throw new GatewayError('upstream_misconfigured', { cause: `no credentials for the upstream ${outgoing.target.via}` })
}

/** Resolves with a 2xx reply whose body has not been read. Throws GatewayError in all other cases. */
export async function dispatch(
  services: Services,
  call: Call,
  outgoing: OutgoingCall,
  options: DispatchOptions,
): Promise<UpstreamReply> {
  const upstream = findUpstream(services, outgoing)
  const chatEndpoint = outgoing.target.standard === 'messages' ? 'messages' : 'chat_completions'
  const path = upstream.path(options.endpoint ?? chatEndpoint)
  if (path === null)
    throw new GatewayError('upstream_misconfigured', { cause: `${outgoing.target.via} lacks the path` })
  const reply = await send({
    dispatcher: upstream.pool,
    path,
    headers: {
      ...upstreamHeaders({
        upstream,
        callerId: call.caller.keyId,
        streamed: options.streamed,
        contentType: options.contentType,
        accept: options.accept,
        clientHeader: call.header,
      }),
      ...outgoing.headers,
    },
    body: outgoing.body,
    firstByteTimeoutMs: upstream.facts.firstByteTimeoutMs,
    idleTimeoutMs: upstream.facts.idleTimeoutMs,
    totalTimeoutMs: upstream.facts.totalTimeoutMs,
    signal: options.signal,
  }).catch((error: unknown) => {
    throw new GatewayError('upstream_failed', { cause: UpstreamFault.from(error) })
  })
  if (reply.status >= 200 && reply.status < 300) return reply
  const body = await reply.readBody(ERROR_BODY_BYTES_MAX).catch(() => Buffer.alloc(0))
  throw gatewayErrorOf(
    readUpstreamFailure({
      status: reply.status,
      body: body.toString('utf8'),
      headers: reply.headers,
      nowMs: Date.now(),
      secrets: upstream.credentials.secrets,
    }),
  )
}
