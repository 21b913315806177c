/** One chat call from its body to its usage row; run-billed.ts sees to it that every hold ends. */

import assert from 'node:assert/strict'
import type { ReplyStream } from '../conversation/reply-stream.ts'
import type { UpstreamTarget } from '../generated/types.ts'
import { SHORT_BYTES } from '../lib/json-parse.ts'
import { inTurn } from '../lib/loop-turns.ts'
import type { ChatFormat } from '../translate/translator.ts'
import { readBetas } from './betas.ts'
import type { Call, ClientChannel, Services } from './call.ts'
import { readChoices } from './choices.ts'
import { chooseEntry, chooseExtras } from './choose-entry.ts'
import { estimateInput, lowestCap, raisedCap } from './estimate.ts'
import type { CallExtras } from './extras.ts'
import { type Funded, type Funding, fund, holdOfStream } from './fund.ts'
import { withInlineImages } from './inline-images.ts'
import { InputCount } from './input-count.ts'
import type { Pinger } from './pinger.ts'
import { prepare } from './prepare.ts'
import type { PreparedCall } from './prepared-call.ts'
import { type ChatBody, readChatBody } from './receive.ts'
import { readWholeReply } from './relay-reply.ts'
import { relayStream } from './relay-stream.ts'
import { asStream } from './replay.ts'
import { type CallScope, runBilled } from './run-billed.ts'
import { holdStream, sendCall, sendWhole } from './send-call.ts'
import { resultOf, usedBy } from './stream-result.ts'

const PINGS: Readonly<Record<ChatFormat, string>> = {
  messages: 'event: ping\ndata: {"type":"ping"}\n\n',
  chat_completions: ': ping\n\n',
}

/** A call that has been admitted, with all that its relay needs. */
interface OpenCall extends CallScope {
  readonly format: ChatFormat
  /** Null when nobody needs it any more. */
  body: ChatBody | null
  readonly funding: Funding
  readonly funded: Funded
  readonly input: InputCount
  readonly extras: CallExtras
}

/** Runs a chat call. Never rejects: what goes wrong is told to the client and written to the usage row. */
export function runChatCall(
  services: Services,
  call: Call,
  client: ClientChannel,
  { format, pinger }: { format: ChatFormat; pinger: Pinger },
): Promise<void> {
  return runBilled(services, call, client, async scope => {
    const open = await openCall(scope, format)
    await (open.body?.streamed ? relayStreamed(open, pinger) : relayWhole(open))
  })
}

/** Reads the body and sets money aside. Nothing of the body is kept but in what it returns. */
async function openCall(scope: CallScope, format: ChatFormat): Promise<OpenCall> {
  const { services, call, bill } = scope
  const body = await readChatBody(call.takeBody(), services.limits, format)
  const { streamed, outputTokensMax } = body
  bill.requested(body.requestedName, streamed)
  const resolution = chooseEntry(scope, body.requestedName)
  const estimate = estimateInput(body, services.limits.holdTokensPerImage)
  const { entry } = resolution
  const choices = readChoices(body.json, entry)
  const extras = chooseExtras(scope, entry, body.json)
  const outputTokensMin = lowestCap(body.json, entry)
  const caps = { streamed, outputTokensMax: raisedCap(outputTokensMax, entry) }
  const funding = { resolution, input: estimate, body: caps, choices, outputTokensMin, extras }
  const funded = await fund(scope, funding)
  const input = new InputCount({ body, format, entry, inputTokensEstimate: estimate.tokens })
  return { ...scope, format, body, funding, funded, input, extras }
}

/** A stream has begun: no other target will be tried, and its body need not wait in memory for its end. */
function letBodyGo(open: OpenCall, stream: ReplyStream): void {
  open.body = null
  const letGo = inTurn(() => open.input.letGo(stream))
  // What cannot be counted fails where the count is asked for.
  void letGo.catch(() => {}).then(open.call.bodyDone)
}

/** The body for one target, and how its reply is read. */
function prepareFor(open: OpenCall, target: UpstreamTarget): PreparedCall | Promise<PreparedCall> {
  const { services, client, format, extras } = open
  assert(open.body)
  const body = extras.bodyFor(open.body, target)
  if (target.dialect.content.imageUrl !== 'inline') return prepareInTurn(open, body, target)
  return withInlineImages(services, { body, target, format, signal: client.gone }).then(inlined =>
    prepareInTurn(open, inlined, target),
  )
}

/** A large body has a turn of the event loop for itself. */
function prepareInTurn(open: OpenCall, body: ChatBody, target: UpstreamTarget): PreparedCall | Promise<PreparedCall> {
  if (body.text.length <= SHORT_BYTES) return prepareBody(open, body, target)
  return inTurn(() => prepareBody(open, body, target))
}

function prepareBody(open: OpenCall, body: ChatBody, target: UpstreamTarget): PreparedCall | Promise<PreparedCall> {
  const { call, funding, funded, format, extras } = open
  const countInputTokens = open.input.tokens
  const { resolution, input } = funding
  const { entry, clientModel } = resolution
  const { outputTokensAfforded } = funded
  const betas = extras.betasFor(readBetas(call.header), target)
  const shared = { body, entry, clientModel, target, format, betas, countInputTokens }
  return prepare({ ...shared, inputTokensEstimate: input.tokens, outputTokensAfforded })
}

async function relayWhole(open: OpenCall): Promise<void> {
  const { services, funding, input } = open
  const reply = await sendCall(open, {
    entry: funding.resolution.entry,
    prepare: target => prepareFor(open, target),
    receive: (upstream, prepared) =>
      readWholeReply(upstream, prepared, services.limits.replyBytesMax, bytes => open.extras.countIn(bytes)),
    streamed: false,
  })
  const used = usedBy(reply.usage, {
    countInputTokens: input.tokens,
    countOutputTokens: () => reply.countOutputTokens(),
  })
  await sendWhole(open, used, reply.body)
}

async function relayStreamed(open: OpenCall, pinger: Pinger): Promise<void> {
  const { services, client, bill, headers, format, funding, funded } = open
  const countInputTokens = open.input.tokens
  const { upstream, stream } = await sendCall(open, {
    entry: funding.resolution.entry,
    prepare: target => prepareFor(open, target),
    async receive(reply, prepared, target) {
      const events = await asStream(reply, target, services.limits.replyBytesMax)
      return { upstream: await holdStream(open, events), stream: open.extras.listen(prepared.openStream()) }
    },
    streamed: true,
  })
  letBodyGo(open, stream)
  await relayStream({
    upstream,
    client,
    stream,
    headers,
    limits: services.limits,
    pinger,
    hold: holdOfStream(open, { funding, funded, stream, countInputTokens }),
    ping: PINGS[format],
    settle: end => bill.settle(resultOf({ stream, end, countInputTokens })),
  })
}
