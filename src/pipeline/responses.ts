/** One call of the responses format from its body to its usage row: relayed unchanged, metered from its own usage. */

import assert from 'node:assert/strict'
import { readReplyError } from '../conversation/reply-error.ts'
import { gatewayErrorOf } from '../conversation/upstream-error.ts'
import { GatewayError } from '../errors.ts'
import { readFailure } from '../formats/responses/failure.ts'
import { reportOf, writeUsage } from '../formats/responses/usage.ts'
import type { UpstreamTarget } from '../generated/types.ts'
import { isObject, parseJson } from '../lib/json.ts'
import { countTokens } from '../lib/tokens.ts'
import { outputTextOf } from '../translate/pass-through/output-text.ts'
import { ResponsesPassThrough } from '../translate/pass-through/responses.ts'
import type { Call, ClientChannel, Services } from './call.ts'
import { readChoices } from './choices.ts'
import { chooseEntry, chooseExtras } from './choose-entry.ts'
import type { PreparedBody } from './dispatch.ts'
import { estimateInput } from './estimate.ts'
import type { CallExtras } from './extras.ts'
import { type Funded, type Funding, fund, holdOfStream } from './fund.ts'
import type { Pinger } from './pinger.ts'
import { type ResponsesBody, readResponsesBody } from './receive-responses.ts'
import { readReply, renamed, type WholeReply } from './relay-reply.ts'
import { relayStream } from './relay-stream.ts'
import { type CallScope, runBilled } from './run-billed.ts'
import { holdStream, sendCall, sendWhole } from './send-call.ts'
import { resultOf, usedBy } from './stream-result.ts'
import { bodyFor, withBody } from './upstream-body.ts'

const ENDPOINT = 'responses'
const PING = ': ping\n\n'
/** Providers of this format take no lower cap on the output. */
const OUTPUT_TOKENS_MIN = 16

interface OpenCall extends CallScope {
  /** Null when nobody needs it any more. */
  body: ResponsesBody | null
  readonly funding: Funding
  readonly funded: Funded
  readonly extras: CallExtras
}

/** Runs a call. Never rejects: what goes wrong is told to the client and written to the usage row. */
export function runResponsesCall(
  services: Services,
  call: Call,
  client: ClientChannel,
  { pinger }: { pinger: Pinger },
): Promise<void> {
  return runBilled(services, call, client, async scope => {
    const open = await openCall(scope)
    await (open.body?.streamed ? relayStreamed(open, pinger) : relayWhole(open))
  })
}

/** Reads the body and sets money aside. Nothing of the body is kept but in what it returns. */
async function openCall(scope: CallScope): Promise<OpenCall> {
  const { services, call, bill } = scope
  const body = await readResponsesBody(call.takeBody(), services.limits)
  const { streamed, outputTokensMax } = body
  bill.requested(body.requestedName, streamed)
  const resolution = chooseEntry(scope, body.requestedName)
  const input = estimateInput(body, services.limits.holdTokensPerImage)
  const choices = readChoices(body.json, resolution.entry)
  const extras = chooseExtras(scope, resolution.entry, body.json)
  const caps = { streamed, outputTokensMax }
  const funding = { resolution, input, body: caps, choices, outputTokensMin: OUTPUT_TOKENS_MIN, extras }
  return { ...scope, body, funding, funded: await fund(scope, funding), extras }
}

function prepareFor({ body, funded, extras }: OpenCall, target: UpstreamTarget): PreparedBody | Promise<PreparedBody> {
  assert(body)
  const { outputTokensAfforded: value } = funded
  const edits = value === null ? [] : [{ op: 'set', path: '/max_output_tokens', value } as const]
  return withBody(bodyFor(extras.bodyFor(body, target), target, ENDPOINT, edits), written => ({ body: written }))
}

async function relayWhole(open: OpenCall): Promise<void> {
  const { services, funding } = open
  const { entry } = funding.resolution
  const whole = await sendCall(open, {
    entry,
    prepare: target => prepareFor(open, target),
    async receive(reply, _prepared, target) {
      const read = await readReply(reply, services.limits.replyBytesMax)
      refuseUnlessFinished(read, reply.secrets)
      open.extras.countIn(read.text)
      return { ...read, report: reportOf(read.json, target.dialect.usage) }
    },
    streamed: false,
  })
  const used = usedBy(whole.report, {
    countInputTokens: () => funding.input.tokens,
    countOutputTokens: () => countOutput(whole),
  })
  // Figures that stand elsewhere are told where clients look for them.
  const told = whole.report.state !== 'missing' && !isObject(whole.json.usage) ? whole.report.usage : null
  const edits = told === null ? [] : [{ op: 'set', path: '/usage', value: writeUsage(told) } as const]
  await sendWhole(open, used, renamed(whole, funding.resolution.clientModel, edits))
}

/** Throws GatewayError for a response that failed, and for a reply that is none. */
function refuseUnlessFinished({ json }: WholeReply, secrets: readonly string[]): void {
  if (isObject(json.error) || json.status === 'failed') throw readFailure(json.error).error
  const error = readReplyError(json, { secrets })
  if (error !== null) throw gatewayErrorOf(error)
  const isFinished = json.status === undefined || json.status === 'completed' || json.status === 'incomplete'
  if (isFinished && Array.isArray(json.output)) return
  throw new GatewayError('upstream_failed', { cause: 'the reply is not a finished response' })
}

function countOutput({ text }: WholeReply): number {
  const json = parseJson(Buffer.from(text, 'latin1').toString('utf8'))
  return isObject(json) ? countTokens(outputTextOf(json.output)) : 0
}

async function relayStreamed(open: OpenCall, pinger: Pinger): Promise<void> {
  const { services, client, bill, headers, funding, funded } = open
  const { entry } = funding.resolution
  const countInputTokens = () => funding.input.tokens
  const { upstream, usageFacts } = await sendCall(open, {
    entry,
    prepare: target => prepareFor(open, target),
    receive: async (reply, _prepared, target) => ({
      upstream: await holdStream(open, reply),
      usageFacts: target.dialect.usage,
    }),
    streamed: true,
  })
  // No other target will be tried: the body need not wait in memory for the end of the stream.
  open.body = null
  open.call.bodyDone()
  const { clientModel } = funding.resolution
  const stream = new ResponsesPassThrough({ clientModel, countTokens, usageFacts })
  const counted = open.extras.listen(stream)
  client.failureEvent = error => stream.failureEvent(error)
  await relayStream({
    upstream,
    client,
    stream: counted,
    headers,
    limits: services.limits,
    pinger,
    hold: holdOfStream(open, { funding, funded, stream, countInputTokens }),
    ping: PING,
    settle(end) {
      return bill.settle(resultOf({ stream, end, countInputTokens }))
    },
  })
}
