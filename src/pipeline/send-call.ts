/** What the endpoints share between admission and the client: sending the request, waiting for a stream's first event, sending a whole reply. */

import type { ModelEntry, UpstreamTarget } from '../generated/types.ts'
import type { ByteText } from '../lib/byte-text.ts'
import { type Cancellation, NEVER_CANCELLED } from '../lib/cancellation.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import { CLIENT_GONE } from './bill.ts'
import { costHeaders } from './billing-headers.ts'
import type { HeaderMap } from './call.ts'
import { type DispatchPlan, dispatch, type PreparedBody } from './dispatch.ts'
import { awaitFirstEvent } from './first-event.ts'
import type { Metered } from './meter.ts'
import type { CallScope } from './run-billed.ts'

export interface SendPlan<Prepared extends PreparedBody, Received>
  extends Omit<DispatchPlan<Prepared, Received>, 'targets' | 'signal'> {
  readonly entry: ModelEntry
  /** Absent: a client that leaves ends a streamed call while it waits, and no other. */
  readonly signal?: Cancellation
}

/**
 * Sends the call to a target of its entry; one that is not streamed is finished and billed although the client leaves.
 * Throws GatewayError when no target gave a good reply.
 */
export async function sendCall<Prepared extends PreparedBody, Received>(
  scope: CallScope,
  { entry, prepare, ...plan }: SendPlan<Prepared, Received>,
): Promise<Received> {
  return dispatch(scope.services, scope.call, {
    ...plan,
    targets: entry.upstreams,
    prepare(target) {
      markSimulated(scope, target)
      markLeftOut(scope, target)
      return prepare(target)
    },
    signal: plan.signal ?? (plan.streamed ? scope.client.gone : NEVER_CANCELLED),
  })
}

/** Tells the client whether the target that is tried now is simulated. */
function markSimulated({ services, headers }: CallScope, target: UpstreamTarget): void {
  const name = `x-${services.catalogue.settings.service}-simulated`
  if (services.upstreams.find(target.via)?.sandbox) headers[name] = 'true'
  else delete headers[name]
}

/** Tells the client what of its call the target that is tried now does not get. */
function markLeftOut({ services, bill, headers }: CallScope, target: UpstreamTarget): void {
  const name = `x-${services.catalogue.settings.service}-left-out`
  const leftOut = bill.extras?.begin(target) ?? []
  if (leftOut.length > 0) headers[name] = leftOut.join(', ')
  else delete headers[name]
}

/** The stream once its first event has come and is a good one. Throws GatewayError `upstream_…` otherwise. */
export function awaitStream({ services, call, client }: CallScope, reply: UpstreamReply): Promise<UpstreamReply> {
  const { eventBytesMax, pingAfterMs: eventWaitMs } = services.limits
  const firstByteMs = call.attempts.at(-1)?.upstream.facts.firstByteTimeoutMs ?? eventWaitMs
  return awaitFirstEvent(reply, {
    eventBytesMax,
    firstByteMs,
    eventWaitMs,
    signal: client.gone,
    secrets: reply.secrets,
  })
}

const JSON_TYPE: HeaderMap = { 'content-type': 'application/json' }

/** Settles a call that is not streamed and then sends its reply, with what it cost. */
export async function sendWhole(scope: CallScope, used: Metered, body: Buffer | ByteText): Promise<void> {
  const { services, client, bill, headers } = scope
  await bill.settle({ used, charged: true, status: client.gone.aborted ? CLIENT_GONE : 200 })
  const cost = costHeaders(services.catalogue.settings.service, used, bill.costMicroVnd)
  client.send(Object.assign(headers, cost, JSON_TYPE), body)
}
