/** One chat call from its body to its usage row; run-accounted.ts sees to it that every hold ends. */

import type { UpstreamTarget } from '../generated/types.ts'
import { SHORT_BYTES } from '../lib/json-parse.ts'
import { inTurn } from '../lib/loop-turns.ts'
import type { ChatFormat } from '../translate/translator.ts'
import { readBetas } from './betas.ts'
import type { Call, ClientChannel, Services } from './call.ts'
import { readChoices } from './choices.ts'
import { chooseEntry, chooseExtras } from './choose-entry.ts'
import { countInputTokens as countInput } from './count-tokens.ts'
import { estimateInput, lowestCap } from './estimate.ts'
import type { CallExtras } from './extras.ts'
import { type Funded, type Funding, fund, holdOfStream } from './fund.ts'
import { withInlineImages } from './inline-images.ts'
import type { Pinger } from './pinger.ts'
import { prepare } from './prepare.ts'
import type { PreparedCall } from './prepared-call.ts'
import { type ChatBody, readChatBody } from './receive.ts'
import { readWholeReply } from './relay-reply.ts'
import { relayStream } from './relay-stream.ts'
import { asStream } from './replay.ts'
import { type CallScope, runAccounted } from './run-accounted.ts'
import { holdStream, sendCall, sendWhole } from './send-call.ts'
import { resultOf, usedBy } from './stream-result.ts'

const PINGS: Readonly<Record<ChatFormat, string>> = {
  messages: 'event: ping\ndata: {"type":"ping"}\n\n',
  chat_completions: ': ping\n\n',
}

/** A call that has been admitted, with all that its relay needs. */
interface OpenCall extends CallScope {
  readonly format: ChatFormat
  readonly body: ChatBody
  readonly funding: Funding
  readonly funded: Funded
  readonly countInputTokens: () => number
  readonly extras: CallExtras
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
    const body = await readChatBody(raw, services.limits, format)
    scope.account.requested(body.requestedName, body.streamed)
    const resolution = chooseEntry(scope, body.requestedName)
    const input = estimateInput(body, services.limits.holdTokensPerImage)
    const { entry } = resolution
    const choices = readChoices(body.json, entry)
    const extras = chooseExtras(scope, entry, body.json)
    const outputTokensMin = lowestCap(body.json)
    const funding = { resolution, input, body, choices, outputTokensMin, extras }
    const funded = await fund(scope, funding)
    let counted: number | null = null
    const countInputTokens = (): number => {
      counted ??= countInput(body, format, entry)
      return counted
    }
    const open: OpenCall = { ...scope, format, body, funding, funded, countInputTokens, extras }
    await (body.streamed ? relayStreamed(open, pinger) : relayWhole(open))
  })
}

/** The body for one target, and how its reply is read. */
function prepareFor(open: OpenCall, target: UpstreamTarget): PreparedCall | Promise<PreparedCall> {
  const { services, client, format, extras } = open
  const body = extras.bodyFor(open.body, target)
  if (target.dialect.imageUrl !== 'inline') return prepareInTurn(open, body, target)
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
  const { call, funding, funded, format, countInputTokens, extras } = open
  const { resolution, input } = funding
  const { entry } = resolution
  const { outputTokensAfforded } = funded
  const betas = extras.betasFor(readBetas(call.header), target)
  const shared = { body, entry, target, format, betas, inputTokensEstimate: input.tokens, countInputTokens }
  return prepare({ ...shared, outputTokensAfforded })
}

async function relayWhole(open: OpenCall): Promise<void> {
  const { services, funding, countInputTokens } = open
  const reply = await sendCall(open, {
    entry: funding.resolution.entry,
    prepare: target => prepareFor(open, target),
    receive: (upstream, attempt) =>
      readWholeReply(upstream, attempt, services.limits.replyBytesMax, bytes => open.extras.countIn(bytes)),
    streamed: false,
  })
  const used = usedBy(reply.usage, { countInputTokens, countOutputTokens: () => reply.countOutputTokens() })
  await sendWhole(open, used, reply.body)
}

async function relayStreamed(open: OpenCall, pinger: Pinger): Promise<void> {
  const { services, client, account, headers, format, funding, funded, countInputTokens } = open
  const { upstream, stream } = await sendCall(open, {
    entry: funding.resolution.entry,
    prepare: target => prepareFor(open, target),
    async receive(reply, { target, prepared }) {
      const events = await asStream(reply, target, services.limits.replyBytesMax)
      return { upstream: await holdStream(open, events), stream: open.extras.listen(prepared.openStream()) }
    },
    streamed: true,
  })
  await relayStream({
    upstream,
    client,
    stream,
    headers,
    limits: services.limits,
    pinger,
    hold: holdOfStream(open, { funding, funded, stream, countInputTokens }),
    ping: PINGS[format],
    settle: end => account.close(resultOf({ stream, end, countInputTokens })),
  })
}
