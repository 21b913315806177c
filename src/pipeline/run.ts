/** One chat call from its body to its usage row. The one `finally` here sees to it that every hold ends. */

import { GatewayError } from '../errors.ts'
import { readUsage as readChatUsage } from '../formats/chat/usage.ts'
import { readUsage as readMessagesUsage } from '../formats/messages/usage.ts'
import { gatewayErrorOf, readUpstreamErrorValue } from '../formats/upstream-error.ts'
import type { TokenUsage, UsageFacts } from '../formats/usage.ts'
import type { UpstreamTarget } from '../generated/types.ts'
import { countTokens } from '../lib/tokens.ts'
import { ChatPassThrough } from '../translate/pass-through/chat.ts'
import { MessagesPassThrough } from '../translate/pass-through/messages.ts'
import type { ReplyStream } from '../translate/reply-stream.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import { admit } from './admit.ts'
import { costHeaders, modelHeaders } from './billing-headers.ts'
import type { Call, ClientChannel, HeaderMap, Services } from './call.ts'
import { type Attempt, type Dispatched, dispatch } from './dispatch.ts'
import { estimateInputTokens, holdAmount } from './estimate.ts'
import { holdFirstEvent } from './first-event.ts'
import { type Metered, NOTHING_USED } from './meter.ts'
import type { Pinger } from './pinger.ts'
import { type ChatFormat, type PreparedCall, prepare } from './prepare.ts'
import { type ChatBody, readChatBody } from './receive.ts'
import { outputTextOf, readReply, renamed, type WholeReply } from './relay-reply.ts'
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
    const inputTokensEstimate = estimateInputTokens(body, services.limits.holdTokensPerImage)
    const wantMicroVnd = holdAmount(resolution.entry, inputTokensEstimate, body.outputTokensMax)
    const { entry, mappedFrom } = resolution
    await admit(services, call, { entry, mappedFrom, wantMicroVnd, signal: client.gone })
    const open = { services, call, client, account, body, resolution, inputTokensEstimate, headers }
    await (body.streamed ? relayStreamed(open, format, pinger) : relayWhole(open, format))
  } catch (error) {
    await fail(services, call, client, account, headers, error)
  } finally {
    if (!account.closed) await account.release(500)
  }
}

/** Sends the call to a target of its entry; `receive` says what makes a reply a good one. */
function send<Received>(
  open: OpenCall,
  format: ChatFormat,
  options: {
    signal: AbortSignal
    receive: (reply: UpstreamReply, attempt: Attempt<PreparedCall>) => Promise<Received>
  },
): Promise<Dispatched<PreparedCall, Received>> {
  const { services, call, body, resolution, headers } = open
  const { entry } = resolution
  const simulated = `x-${services.catalogue.settings.service}-simulated`
  return dispatch(services, call, {
    targets: entry.upstreams,
    prepare(target) {
      if (services.upstreams.find(target.via)?.sandbox) headers[simulated] = 'true'
      else delete headers[simulated]
      return prepare(body, entry, target, format)
    },
    streamed: body.streamed,
    ...options,
  })
}

async function relayWhole(open: OpenCall, format: ChatFormat): Promise<void> {
  const { services, client, account, resolution, headers } = open
  // The client may leave: a non-streamed call is finished and billed all the same.
  const signal = new AbortController().signal
  const receive = (reply: UpstreamReply, { upstream }: Attempt<PreparedCall>) =>
    readWhole(reply, format, { bytesMax: services.limits.replyBytesMax, secrets: upstream.credentials.secrets })
  const { received: whole, target } = await send(open, format, { signal, receive })
  const usage =
    format === 'messages' ? readMessagesUsage(whole.json.usage) : readChatUsage(whole.json.usage, usageFactsOf(target))
  const used = usage
    ? metered(usage)
    : estimated(open, countTokens(outputTextOf(JSON.parse(Buffer.from(whole.text, 'latin1').toString('utf8')))))
  const status = client.gone.aborted ? CLIENT_GONE : 200
  await account.close({ used, charged: true, status })
  client.send(
    {
      ...headers,
      ...costHeaders(services.catalogue.settings.service, used, account.costMicroVnd),
      'content-type': 'application/json',
    },
    renamed(whole, resolution.entry.id),
  )
}

interface WholeOptions {
  readonly bytesMax: number
  /** Texts that must never be shown. */
  readonly secrets: readonly string[]
}

async function readWhole(
  reply: UpstreamReply,
  format: ChatFormat,
  { bytesMax, secrets }: WholeOptions,
): Promise<WholeReply> {
  const whole = await readReply(reply, bytesMax)
  const isReply = format === 'messages' ? whole.json.type === 'message' : Array.isArray(whole.json.choices)
  if (isReply && !whole.json.error) return whole
  const error = readUpstreamErrorValue(whole.json, secrets)
  if (error !== null) throw gatewayErrorOf(error)
  throw new GatewayError('upstream_failed', { cause: 'the reply is not one of this format' })
}

function usageFactsOf(target: UpstreamTarget): UsageFacts {
  return { usage_cached_paths: target.dialect.usageCachedPaths }
}

async function relayStreamed(open: OpenCall, format: ChatFormat, pinger: Pinger): Promise<void> {
  const { services, client, account, headers } = open
  const { eventBytesMax, pingAfterMs: holdMs } = services.limits
  const receive = (reply: UpstreamReply, { upstream }: Attempt<PreparedCall>) =>
    holdFirstEvent(reply, { eventBytesMax, holdMs, signal: client.gone, secrets: upstream.credentials.secrets })
  const { received: upstream, target } = await send(open, format, { signal: client.gone, receive })
  const stream = passThrough(open, target, format)
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

function passThrough(open: OpenCall, target: UpstreamTarget, format: ChatFormat): ReplyStream {
  const clientModel = open.resolution.entry.id
  if (format === 'messages') return new MessagesPassThrough({ clientModel, countTokens })
  return new ChatPassThrough({
    clientModel,
    countTokens,
    wantsUsage: open.body.wantsUsage,
    usageFacts: usageFactsOf(target),
  })
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
