/**
 * The steps between admission and reply that all endpoints share: sending the request, waiting for a stream's first event, and
 * sending non-streamed replies.
 */

import type { ModelEntry, UpstreamTarget } from '../generated/types.ts'
import type { ByteText } from '../lib/byte-text.ts'
import { type Cancellation, NEVER_CANCELLED } from '../lib/cancellation.ts'
import { firstByteMsOf } from '../upstream/call.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import { CLIENT_GONE } from './bill.ts'
import { costHeaders } from './billing-headers.ts'
import type { HeaderMap } from './call.ts'
import { type DispatchPlan, dispatch, type PreparedBody } from './dispatch.ts'
import { awaitFirstEvent } from './first-event.ts'
import type { Metered } from './meter.ts'
import { explainEnd } from './resolve.ts'
import type { CallScope } from './run-billed.ts'

export interface SendPlan<Prepared extends PreparedBody, Received>
  extends Omit<DispatchPlan<Prepared, Received>, 'targets' | 'signal' | 'gone'> {
  readonly entry: ModelEntry
  /** Aborts the call. Without it, only streamed calls are aborted, and only if the client leaves before the reply starts. */
  readonly signal?: Cancellation
}

/**
 * Sends the call to one of its entry's targets. A non-streamed call that has been sent is finished and billed even if the client
 * leaves, but not sent to another target. Throws GatewayError if no target gives a good reply.
 */
export async function sendCall<Prepared extends PreparedBody, Received>(
  scope: CallScope,
  { entry, prepare, ...plan }: SendPlan<Prepared, Received>,
): Promise<Received> {
  const { services, call } = scope
  const received = dispatch(services, call, {
    ...plan,
    targets: entry.upstreams,
    prepare(target) {
      markSimulated(scope, target)
      markLeftOut(scope, target)
      return prepare(target)
    },
    gone: scope.client.gone,
    signal: plan.signal ?? (plan.streamed ? scope.client.gone : NEVER_CANCELLED),
  })
  return received.catch((error: unknown) => {
    throw explainEnd(services.catalogue, entry, call.endpoint, error)
  })
}

/** Sets the header that tells whether the current target is simulated. */
function markSimulated({ services, headers }: CallScope, target: UpstreamTarget): void {
  const name = `x-${services.catalogue.settings.service}-simulated`
  if (services.upstreams.find(target.via)?.sandbox) headers[name] = 'true'
  else if (name in headers) delete headers[name]
}

/** Sets the header that lists the parts of the request that are left out for the current target. */
function markLeftOut({ services, bill, headers }: CallScope, target: UpstreamTarget): void {
  const name = `x-${services.catalogue.settings.service}-left-out`
  const leftOut = bill.extras?.begin(target) ?? []
  if (leftOut.length > 0) headers[name] = leftOut.join(', ')
  else if (name in headers) delete headers[name]
}

/** Resolves once the stream's first event has arrived and is no error. Otherwise, rejects with GatewayError `upstream_…`. */
export function awaitStream({ services, call, client }: CallScope, reply: UpstreamReply): Promise<UpstreamReply> {
  const { eventBytesMax, pingAfterMs: eventWaitMs } = services.limits
  const facts = call.attempts.at(-1)?.upstream.facts
  const firstByteMs =
    facts === undefined ? eventWaitMs : firstByteMsOf(facts, { endpoint: call.endpoint, streamed: true })
  return awaitFirstEvent(reply, {
    eventBytesMax,
    firstByteMs,
    eventWaitMs,
    room: call.replyRoom,
    signal: client.gone,
    secrets: reply.secrets,
  })
}

const JSON_TYPE: HeaderMap = { 'content-type': 'application/json' }

/** Settles a non-streamed call, then sends its reply with the cost headers. */
export async function sendWhole(scope: CallScope, used: Metered, body: Buffer | ByteText): Promise<void> {
  const { services, client, bill, headers } = scope
  const settled = await bill.settle({ used, charged: true, status: client.gone.aborted ? CLIENT_GONE : 200 })
  const { service } = services.catalogue.settings
  const cost = costHeaders(service, used, { cost: bill.costMicroVnd, balance: settled.balanceAfterMicroVnd })
  client.send(Object.assign(headers, cost, JSON_TYPE), body)
}
