/** One chat call from its body to its usage row; run-accounted.ts sees to it that every hold ends. */

import type { ChatFormat } from '../translate/translator.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import { admit } from './admit.ts'
import { costHeaders } from './billing-headers.ts'
import type { Call, ClientChannel, Services } from './call.ts'
import { chooseEntry, markSimulated } from './choose-entry.ts'
import { countInputTokens as countInput } from './count-tokens.ts'
import { type Attempt, dispatch } from './dispatch.ts'
import { estimateInputTokens, holdAmount } from './estimate.ts'
import { holdFirstEvent } from './first-event.ts'
import { withInlineImages } from './inline-images.ts'
import type { Pinger } from './pinger.ts'
import { prepare } from './prepare.ts'
import type { PreparedCall } from './prepared-call.ts'
import { type ChatBody, readChatBody } from './receive.ts'
import { readWholeReply } from './relay-reply.ts'
import { relayStream } from './relay-stream.ts'
import { asStream } from './replay.ts'
import type { Resolution } from './resolve.ts'
import { type CallScope, CLIENT_GONE, runAccounted } from './run-accounted.ts'
import { resultOf, usedBy } from './stream-result.ts'

const PINGS: Readonly<Record<ChatFormat, string>> = {
  messages: 'event: ping\ndata: {"type":"ping"}\n\n',
  chat_completions: ': ping\n\n',
}

/** A call that has been admitted, with all that its relay needs. */
interface OpenCall extends CallScope {
  readonly format: ChatFormat
  readonly body: ChatBody
  readonly resolution: Resolution
  readonly inputTokensEstimate: number
  readonly countInputTokens: () => number
}

/** Runs a chat call. Never rejects: what goes wrong is told to the client and written to the usage row. */
export function runChatCall(
  services: Services,
  call: Call,
  raw: Buffer,
  client: ClientChannel,
  { format, pinger }: { format: ChatFormat; pinger: Pinger },
): Promise<void> {
  return runAccounted(services, call, client, async scope => {
    const body = readChatBody(raw)
    scope.account.requested(body.requestedName, body.streamed)
    const resolution = chooseEntry(scope, body.requestedName)
    const inputTokensEstimate = estimateInputTokens(body, services.limits.holdTokensPerImage)
    const { entry, mappedFrom } = resolution
    const wantMicroVnd = holdAmount(entry, inputTokensEstimate, body.outputTokensMax)
    await admit(services, call, { entry, mappedFrom, wantMicroVnd, signal: client.gone })
    const countInputTokens = () => countInput(body, format, entry)
    const open: OpenCall = { ...scope, format, body, resolution, inputTokensEstimate, countInputTokens }
    await (body.streamed ? relayStreamed(open, pinger) : relayWhole(open))
  })
}

/** Sends the call to a target of its entry; `receive` reads as much of the reply as shows that it is a good one. */
async function send<Received>(
  open: OpenCall,
  signal: AbortSignal,
  receive: (reply: UpstreamReply, attempt: Attempt<PreparedCall>) => Promise<Received>,
): Promise<Received> {
  const { services, call, body, resolution, format, inputTokensEstimate, countInputTokens } = open
  const { entry } = resolution
  const dispatched = await dispatch(services, call, {
    targets: entry.upstreams,
    async prepare(target): Promise<PreparedCall> {
      markSimulated(open, target)
      const inlined = await withInlineImages(services, { body, target, format, signal: open.client.gone })
      const { header } = call
      return prepare({ body: inlined, entry, target, format, header, inputTokensEstimate, countInputTokens })
    },
    receive,
    streamed: body.streamed,
    signal,
  })
  return dispatched.received
}

async function relayWhole(open: OpenCall): Promise<void> {
  const { services, client, account, headers } = open
  // The client may leave: a non-streamed call is finished and billed all the same.
  const signal = new AbortController().signal
  const { replyBytesMax } = services.limits
  const reply = await send(open, signal, (upstream, attempt) => readWholeReply(upstream, attempt, replyBytesMax))
  const { countInputTokens } = open
  const used = usedBy(reply.usage, { countInputTokens, countOutputTokens: () => reply.countOutputTokens() })
  await account.close({ used, charged: true, status: client.gone.aborted ? CLIENT_GONE : 200 })
  const cost = costHeaders(services.catalogue.settings.service, used, account.costMicroVnd)
  client.send({ ...headers, ...cost, 'content-type': 'application/json' }, reply.body)
}

async function relayStreamed(open: OpenCall, pinger: Pinger): Promise<void> {
  const { services, client, account, headers, format, countInputTokens } = open
  const { eventBytesMax, replyBytesMax, pingAfterMs: holdMs } = services.limits
  const { upstream, stream } = await send(open, client.gone, async (reply, attempt) => {
    const events = await asStream(reply, attempt.target, replyBytesMax)
    await holdFirstEvent(events, { eventBytesMax, holdMs, signal: client.gone, secrets: events.secrets })
    return { upstream: events, stream: attempt.prepared.openStream() }
  })
  await relayStream({
    upstream,
    client,
    stream,
    headers,
    limits: services.limits,
    pinger,
    ping: PINGS[format],
    settle: end => account.close(resultOf({ stream, end, started: client.started, countInputTokens })),
  })
}
