/** Sends a call to one of its targets; whatever is not a usable 2xx reply becomes the error that the client may see. */

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

/** A call's body for one target. What else a stage needs to know of it later may stand beside these. */
export interface PreparedBody {
  readonly body: Buffer
  /** Headers that the call needs beside those of the upstream. */
  readonly headers?: HeaderMap
  /** Absent: JSON. */
  readonly contentType?: string
  /** What may come back; absent: JSON, or an event stream for a streamed call. */
  readonly accept?: string
}

/** One try of a call at one target. */
export interface Attempt<Prepared extends PreparedBody> {
  readonly target: UpstreamTarget
  readonly prepared: Prepared
  readonly upstream: ReachableUpstream
}

export interface DispatchPlan<Prepared extends PreparedBody, Received> {
  /** Where the call may go: the entry's list. */
  readonly targets: readonly UpstreamTarget[]
  /** The body for one target, made when the target's turn comes. A GatewayError of it ends the call. */
  readonly prepare: (target: UpstreamTarget) => Prepared
  /**
   * Reads as much of a 2xx reply as shows that it is a good one, before the client is told anything. A GatewayError of it
   * that blames the upstream (`upstream_…`) sends the call to the next target.
   */
  readonly receive: (reply: UpstreamReply, attempt: Attempt<Prepared>) => Promise<Received>
  /** The reply is asked for as an event stream. */
  readonly streamed: boolean
  /** Aborts the call while it waits for a reply. */
  readonly signal: AbortSignal
}

export interface Dispatched<Prepared extends PreparedBody, Received> extends Attempt<Prepared> {
  readonly received: Received
}

/** The endpoint of the upstream that serves a call: chat calls go to the one of the target's own format. */
export function upstreamEndpoint(endpoint: Endpoint, target: UpstreamTarget): Endpoint {
  if (endpoint !== 'messages' && endpoint !== 'chat_completions') return endpoint
  return target.standard === 'messages' ? 'messages' : 'chat_completions'
}

/** Throws GatewayError when no target gave a good reply; nothing has been told to the client by then. */
export async function dispatch<Prepared extends PreparedBody, Received>(
  services: Services,
  call: Call,
  plan: DispatchPlan<Prepared, Received>,
): Promise<Dispatched<Prepared, Received>> {
  const target = plan.targets[0]
  if (target === undefined) throw new GatewayError('internal', { cause: 'the entry has no upstream' })
  const prepared = plan.prepare(target)
  const upstream = services.upstreams.find(target.via)
  if (upstream === null)
    throw new GatewayError('upstream_misconfigured', { cause: `no credentials for the upstream ${target.via}` })
  const attempt = { target, prepared, upstream }
  const reply = await sendTo(call, attempt, plan)
  return { ...attempt, received: await plan.receive(reply, attempt) }
}

async function sendTo<Prepared extends PreparedBody, Received>(
  call: Call,
  { target, prepared, upstream }: Attempt<Prepared>,
  plan: DispatchPlan<Prepared, Received>,
): Promise<UpstreamReply> {
  const path = upstream.path(upstreamEndpoint(call.endpoint, target))
  if (path === null) throw new GatewayError('upstream_misconfigured', { cause: `${target.via} lacks the path` })
  const headers = upstreamHeaders({
    upstream,
    callerId: call.caller.keyId,
    streamed: plan.streamed,
    contentType: prepared.contentType,
    accept: prepared.accept,
    clientHeader: call.header,
  })
  const reply = await send({
    dispatcher: upstream.pool,
    path,
    headers: { ...headers, ...prepared.headers },
    body: prepared.body,
    firstByteTimeoutMs: upstream.facts.firstByteTimeoutMs,
    idleTimeoutMs: upstream.facts.idleTimeoutMs,
    totalTimeoutMs: upstream.facts.totalTimeoutMs,
    signal: plan.signal,
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
