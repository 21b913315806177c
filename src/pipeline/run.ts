/** One chat call from its body to its usage row; run-accounted.ts sees to it that every hold ends. */

import { GatewayError } from '../errors.ts'
import { readUsage as readChatUsage } from '../formats/chat/usage.ts'
import { readUsage as readMessagesUsage } from '../formats/messages/usage.ts'
import type { UsageFacts } from '../formats/usage.ts'
import { countTokens } from '../lib/tokens.ts'
import { ChatPassThrough } from '../translate/pass-through/chat.ts'
import { MessagesPassThrough } from '../translate/pass-through/messages.ts'
import type { ReplyStream } from '../translate/reply-stream.ts'
import { admit } from './admit.ts'
import { costHeaders, modelHeaders } from './billing-headers.ts'
import type { Call, ClientChannel, HeaderMap, Services } from './call.ts'
import { dispatch, findUpstream } from './dispatch.ts'
import { estimateInputTokens, holdAmount } from './estimate.ts'
import { meteredTokens } from './meter.ts'
import type { Pinger } from './pinger.ts'
import { type ChatFormat, type PreparedCall, prepare } from './prepare.ts'
import { type ChatBody, readChatBody } from './receive.ts'
import { outputTextOf, readReply, renamed } from './relay-reply.ts'
import { refuseUnlessEventStream, relayStream } from './relay-stream.ts'
import { type Resolution, resolve } from './resolve.ts'
import { CLIENT_GONE, runAccounted } from './run-accounted.ts'
import type { CallAccount } from './settle.ts'
import { estimatedTokens, resultOf } from './stream-result.ts'

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
    const prepared = prepare(body, resolution.entry, target, format)
    if (findUpstream(services, prepared).sandbox) headers[`x-${services.catalogue.settings.service}-simulated`] = 'true'
    const inputTokensEstimate = estimateInputTokens(body, services.limits.holdTokensPerImage)
    const wantMicroVnd = holdAmount(resolution.entry, inputTokensEstimate, body.outputTokensMax)
    const { entry, mappedFrom } = resolution
    await admit(services, call, { entry, mappedFrom, wantMicroVnd, signal: client.gone })
    const open = { services, call, client, account, body, resolution, prepared, inputTokensEstimate, headers }
    await (body.streamed ? relayStreamed(open, format, pinger) : relayWhole(open, format))
  })
}

async function relayWhole(open: OpenCall, format: ChatFormat): Promise<void> {
  const { services, call, client, account, prepared, resolution, headers } = open
  // The client may leave: a non-streamed call is finished and billed all the same.
  const signal = new AbortController().signal
  const reply = await dispatch(services, call, prepared, { streamed: false, signal })
  const whole = await readReply(reply, services.limits.replyBytesMax)
  if (
    whole.json.error ||
    (format === 'messages' ? whole.json.type !== 'message' : !Array.isArray(whole.json.choices))
  ) {
    throw new GatewayError('upstream_failed', { cause: 'the reply is not one of this format' })
  }
  const usage =
    format === 'messages' ? readMessagesUsage(whole.json.usage) : readChatUsage(whole.json.usage, usageFactsOf(open))
  const used = usage
    ? meteredTokens(usage)
    : estimatedTokens(
        open.inputTokensEstimate,
        countTokens(outputTextOf(JSON.parse(Buffer.from(whole.text, 'latin1').toString('utf8')))),
      )
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

function usageFactsOf(open: OpenCall): UsageFacts {
  return { usage_cached_paths: open.prepared.target.dialect.usageCachedPaths }
}

async function relayStreamed(open: OpenCall, format: ChatFormat, pinger: Pinger): Promise<void> {
  const { services, call, client, account, prepared, headers } = open
  const upstream = await dispatch(services, call, prepared, { streamed: true, signal: client.gone })
  refuseUnlessEventStream(upstream)
  const stream = passThrough(open, format)
  await relayStream({
    upstream,
    client,
    stream,
    headers,
    limits: services.limits,
    pinger,
    ping: PINGS[format],
    settle: end =>
      account.close(resultOf({ stream, end, started: client.started, inputTokensEstimate: open.inputTokensEstimate })),
  })
}

function passThrough(open: OpenCall, format: ChatFormat): ReplyStream {
  const clientModel = open.resolution.entry.id
  if (format === 'messages') return new MessagesPassThrough({ clientModel, countTokens })
  return new ChatPassThrough({
    clientModel,
    countTokens,
    wantsUsage: open.body.wantsUsage,
    usageFacts: usageFactsOf(open),
  })
}
