/**
 * Runs a call to any endpoint, from reading the body to writing the usage row. `run-billed.ts` makes sure that no hold is left
 * behind.
 */

import { formatVnd } from '../lib/money.ts'
import type { Call, ClientChannel, Services } from './call.ts'
import type { AdmittedCall, BytesCall, CallKind, EventsCall, RequestBody, WholeCall } from './call-kind.ts'
import { chooseEntry, chooseExtras } from './choose-entry.ts'
import { gatewayErrorFor } from './dispatch.ts'
import { costOf } from './meter.ts'
import type { Pinger } from './pinger.ts'
import { relayBytes } from './relay-bytes.ts'
import { readWholeReply } from './relay-reply.ts'
import { relayStream, type StreamEnd } from './relay-stream.ts'
import type { Resolution } from './resolve.ts'
import { type CallScope, runBilled } from './run-billed.ts'
import { awaitStream, sendCall, sendWhole } from './send-call.ts'

interface Admitted extends CallScope {
  readonly resolution: Resolution
  readonly admitted: AdmittedCall
}

/** Runs a call. Never rejects: errors go to the client and into the usage row. */
export function runCall<Body extends RequestBody>(
  services: Services,
  call: Call,
  client: ClientChannel,
  { kind, pinger }: { kind: CallKind<Body>; pinger: Pinger },
): Promise<void> {
  return runBilled(services, call, client, async scope => relay(await admitCall(scope, kind), pinger))
}

/**
 * Reads the body and places the hold. The result refers to the body only through the functions in `admitted`, so that the
 * endpoint decides how long the body stays in memory.
 */
async function admitCall<Body extends RequestBody>(scope: CallScope, kind: CallKind<Body>): Promise<Admitted> {
  const { services, call, bill } = scope
  const body = await kind.read(call, services.limits)
  bill.requested(body.requestedName, body.streamed)
  const chosen = chooseEntry(scope, body.requestedName)
  const resolution = kind.entryFor === undefined ? chosen : { ...chosen, entry: kind.entryFor(chosen.entry, body) }
  const extras = chooseExtras(scope, resolution.entry, body.outline ?? body.json)
  return { ...scope, resolution, admitted: await kind.admit({ ...scope, body, resolution, extras }) }
}

function relay(open: Admitted, pinger: Pinger): Promise<void> {
  const { admitted } = open
  switch (admitted.reply) {
    case 'whole':
      return relayWhole(open, admitted)
    case 'events':
      return relayEvents(open, admitted, pinger)
    case 'bytes':
      return relayAsBytes(open, admitted)
  }
}

async function relayWhole(open: Admitted, whole: WholeCall): Promise<void> {
  const { services, call, bill, resolution } = open
  const bounds = { bytesMax: services.limits.replyBytesMax, room: call.replyRoom }
  const reply = await sendCall(open, {
    entry: resolution.entry,
    prepare: whole.prepare,
    receive: (upstream, prepared) => readWholeReply(upstream, prepared, bounds, bytes => bill.extras?.countIn(bytes)),
    streamed: false,
  })
  call.attempts.at(-1)?.complete()
  await sendWhole(open, whole.usedBy(reply), reply.body)
}

async function relayEvents(open: Admitted, events: EventsCall, pinger: Pinger): Promise<void> {
  const { services, call, client, bill, headers, resolution } = open
  const { upstream, stream } = await sendCall(open, {
    entry: resolution.entry,
    prepare: events.prepare,
    async receive(reply, prepared, target) {
      const asEvents = events.asEvents === undefined ? reply : await events.asEvents(reply, target)
      return { upstream: await awaitStream(open, asEvents), stream: prepared.openStream() }
    },
    streamed: true,
  })
  events.begun(stream)
  if (stream.failureEvent !== undefined) client.failureEvent = error => stream.failureEvent?.(error) ?? null
  const relaying = relayStream({
    upstream,
    client,
    stream: bill.extras?.listen(stream) ?? stream,
    headers,
    limits: services.limits,
    pinger,
    room: call.replyRoom,
    hold: events.holdOf(stream),
    ping: events.ping,
    settle: end => bill.settle(events.resultOf(stream, end)),
  })
  await judged(open, relaying)
}

async function relayAsBytes(open: Admitted, bytes: BytesCall): Promise<void> {
  const { services, client, bill, headers, resolution } = open
  const { entry } = resolution
  const upstream = await sendCall(open, {
    entry,
    prepare: bytes.prepare,
    async receive(reply) {
      bytes.refuse(reply)
      return reply
    },
    streamed: false,
    signal: client.gone,
  })
  // The price is fixed, so the header can be sent before the first byte. A reply that fails midway costs nothing and is cut off.
  const cost = { [`x-${services.catalogue.settings.service}-cost-vnd`]: formatVnd(costOf(entry, bytes.used)) }
  const relaying = relayBytes({
    upstream,
    client,
    headers: { ...headers, ...cost, 'content-type': upstream.header('content-type') },
    bytesMax: services.limits.replyBytesMax,
    settle: end => bill.settle(bytes.resultOf(end)),
  })
  await judged(open, relaying)
}

/** Waits until a reply has been relayed. The way it ends also says how well its upstream works. */
async function judged({ services, call }: CallScope, relaying: Promise<StreamEnd>): Promise<void> {
  const attempt = call.attempts.at(-1)
  try {
    if ((await relaying) === 'complete') attempt?.complete()
  } catch (error) {
    attempt?.fail(gatewayErrorFor(error), services.nowMs())
    throw error
  }
}
