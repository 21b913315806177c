/** One chat call from its body to its usage row; run-accounted.ts sees to it that every hold ends. */

import { GatewayError } from '../errors.ts'
import type { ReplyStream } from '../translate/reply-stream.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import { admit } from './admit.ts'
import { costHeaders, modelHeaders } from './billing-headers.ts'
import type { Call, ClientChannel, HeaderMap, Services } from './call.ts'
import { dispatch, findUpstream } from './dispatch.ts'
import { estimateInputTokens, holdAmount } from './estimate.ts'
import { type Metered, meteredTokens, NOTHING_USED } from './meter.ts'
import type { Pinger } from './pinger.ts'
import { type ChatFormat, type PreparedCall, prepare } from './prepare.ts'
import { type ChatBody, readChatBody } from './receive.ts'
import { refuseUnlessEventStream, relayStream, type StreamEnd } from './relay-stream.ts'
import { type Resolution, resolve } from './resolve.ts'
import { CLIENT_GONE, runAccounted } from './run-accounted.ts'
import type { CallAccount } from './settle.ts'

const PINGS: Readonly<Record<ChatFormat, string>> = {
  messages: 'event: ping\ndata: {"type":"ping"}\n\n',
  chat_completions: ': ping\n\n',
}

/** A call that has been admitted, with all that its relay needs. */
interface OpenCall {
  readonly services: Services
  readonly call: Call
  readonly client: ClientChannel
  readonly account: CallAccount
  readonly body: ChatBody
  readonly resolution: Resolution
  readonly prepared: PreparedCall
  readonly inputTokensEstimate: number
  readonly headers: HeaderMap
}

/** Runs a chat call. Never rejects: what goes wrong is told to the client and written to the usage row. */
export function runChatCall(
  services: Services,
  call: Call,
  raw: Buffer,
  client: ClientChannel,
  { format, pinger }: { format: ChatFormat; pinger: Pinger },
): Promise<void> {
  return runAccounted(services, call, client, async ({ account, headers }) => {
    const body = readChatBody(raw)
    account.requested(body.requestedName, body.streamed)
    const resolution = resolve(services.catalogue, body.requestedName, call.endpoint)
    account.resolved(resolution)
    Object.assign(headers, modelHeaders(services.catalogue.settings.service, resolution))
    const target = resolution.entry.upstreams[0]
    if (target === undefined) throw new GatewayError('internal', { cause: `${resolution.entry.id} has no upstream` })
    const prepared = prepare({ body, entry: resolution.entry, target, format })
    if (findUpstream(services, prepared).sandbox) headers[`x-${services.catalogue.settings.service}-simulated`] = 'true'
    const inputTokensEstimate = estimateInputTokens(body, services.limits.holdTokensPerImage)
    const wantMicroVnd = holdAmount(resolution.entry, inputTokensEstimate, body.outputTokensMax)
    const { entry, mappedFrom } = resolution
    await admit(services, call, { entry, mappedFrom, wantMicroVnd, signal: client.gone })
    const open = { services, call, client, account, body, resolution, prepared, inputTokensEstimate, headers }
    await (body.streamed ? relayStreamed(open, format, pinger) : relayWhole(open))
  })
}

async function relayWhole(open: OpenCall): Promise<void> {
  const { services, call, client, account, prepared, headers } = open
  // The client may leave: a non-streamed call is finished and billed all the same.
  const signal = new AbortController().signal
  const upstream = await dispatch(services, call, prepared, { streamed: false, signal })
  const bytes = await upstream.readBody(services.limits.replyBytesMax).catch((error: unknown) => {
    throw new GatewayError('upstream_failed', { cause: UpstreamFault.from(error) })
  })
  const reply = prepared.readReply(bytes)
  const used = reply.usage ? meteredTokens(reply.usage) : estimated(open, reply.countOutputTokens())
  await account.close({ used, charged: true, status: client.gone.aborted ? CLIENT_GONE : 200 })
  const cost = costHeaders(services.catalogue.settings.service, used, account.costMicroVnd)
  client.send({ ...headers, ...cost, 'content-type': 'application/json' }, reply.body)
}

async function relayStreamed(open: OpenCall, format: ChatFormat, pinger: Pinger): Promise<void> {
  const { services, call, client, account, prepared, headers } = open
  const upstream = await dispatch(services, call, prepared, { streamed: true, signal: client.gone })
  refuseUnlessEventStream(upstream)
  const stream = prepared.openStream()
  await relayStream({
    upstream,
    client,
    stream,
    headers,
    limits: services.limits,
    pinger,
    ping: PINGS[format],
    settle: end => account.close(resultOf(open, stream, end)),
  })
}

function resultOf(open: OpenCall, stream: ReplyStream, end: StreamEnd) {
  const { client } = open
  if (end === 'abandoned' && !client.started) return { used: NOTHING_USED, charged: false, status: CLIENT_GONE }
  const status = end === 'complete' ? 200 : CLIENT_GONE
  if (stream.usage !== null && stream.usageFinal) {
    return { used: meteredTokens(stream.usage), charged: true, status }
  }
  const counted = estimated(open, stream.countOutputTokens())
  const used =
    stream.usage === null
      ? counted
      : { ...meteredTokens(stream.usage), outputTokens: counted.outputTokens, estimated: true }
  return { used, charged: true, status }
}

function estimated(open: OpenCall, outputTokens: number): Metered {
  return { ...NOTHING_USED, inputTokens: open.inputTokensEstimate, outputTokens, estimated: true }
}
