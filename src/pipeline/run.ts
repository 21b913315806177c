/** One chat call from its body to its usage row. The one `finally` here sees to it that every hold ends. */

import { GatewayError } from '../errors.ts'
import type { TokenUsage } from '../formats/usage.ts'
import type { ReplyStream } from '../translate/reply-stream.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { UpstreamReply } from '../upstream/send.ts'
import { admit } from './admit.ts'
import { costHeaders, modelHeaders } from './billing-headers.ts'
import type { Call, ClientChannel, HeaderMap, Services } from './call.ts'
import { dispatch, findUpstream } from './dispatch.ts'
import { estimateInputTokens, holdAmount } from './estimate.ts'
import { type Metered, NOTHING_USED } from './meter.ts'
import type { Pinger } from './pinger.ts'
import { type ChatFormat, type PreparedCall, prepare } from './prepare.ts'
import { type ChatBody, readChatBody } from './receive.ts'
import { relayStream, type StreamEnd } from './relay-stream.ts'
import { type Resolution, resolve } from './resolve.ts'
import { CallAccount } from './settle.ts'

const CLIENT_GONE = 499

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
export async function runChatCall(
  services: Services,
  call: Call,
  raw: Buffer,
  client: ClientChannel,
  { format, pinger }: { format: ChatFormat; pinger: Pinger },
): Promise<void> {
  const account = new CallAccount(services, call, () => client.firstByteMs)
  let headers: HeaderMap = {}
  try {
    const body = readChatBody(raw)
    account.requested(body.requestedName, body.streamed)
    const resolution = resolve(services.catalogue, body.requestedName, call.endpoint)
    account.resolved(resolution)
    headers = modelHeaders(services.catalogue.settings.service, resolution)
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
  } catch (error) {
    await fail(services, call, client, account, headers, error)
  } finally {
    if (!account.closed) await account.release(500)
  }
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
  const used = reply.usage ? metered(reply.usage) : estimated(open, reply.countOutputTokens())
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

function refuseUnlessEventStream(upstream: UpstreamReply): void {
  if (upstream.header('content-type').includes('text/event-stream')) return
  upstream.abort()
  throw new GatewayError('upstream_failed', { cause: 'the reply to a streamed call is not an event stream' })
}

function resultOf(open: OpenCall, stream: ReplyStream, end: StreamEnd) {
  const { client } = open
  if (end === 'abandoned' && !client.started) return { used: NOTHING_USED, charged: false, status: CLIENT_GONE }
  const status = end === 'complete' ? 200 : CLIENT_GONE
  if (stream.usage !== null && (end === 'complete' || stream.usageFinal)) {
    return { used: metered(stream.usage), charged: true, status }
  }
  const counted = estimated(open, stream.countOutputTokens())
  const used =
    stream.usage === null ? counted : { ...metered(stream.usage), outputTokens: counted.outputTokens, estimated: true }
  return { used, charged: true, status }
}

function metered(usage: TokenUsage): Metered {
  return {
    inputTokens: usage.inputTokens,
    cachedInputTokens: usage.cachedInputTokens,
    outputTokens: usage.outputTokens,
    reasoningTokens: usage.reasoningTokens,
    images: 0,
    estimated: false,
  }
}

function estimated(open: OpenCall, outputTokens: number): Metered {
  return { ...NOTHING_USED, inputTokens: open.inputTokensEstimate, outputTokens, estimated: true }
}

async function fail(
  services: Services,
  call: Call,
  client: ClientChannel,
  account: CallAccount,
  headers: HeaderMap,
  cause: unknown,
): Promise<void> {
  const error = cause instanceof GatewayError ? cause : new GatewayError('internal', { cause })
  const status = client.gone.aborted ? CLIENT_GONE : error.status
  if (error.status >= 500) {
    const reason = error.details.cause instanceof Error ? error.details.cause.stack : error.details.cause
    services.log.error({ requestId: call.requestId, code: error.code, cause: reason }, 'call failed')
  }
  await account.release(status)
  client.fail(error, headers)
}
