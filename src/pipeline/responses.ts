/** One call of the responses format from its body to its usage row: relayed unchanged, metered from its own usage. */

import { GatewayError } from '../errors.ts'
import { readFailure } from '../formats/responses/failure.ts'
import { readUsage } from '../formats/responses/usage.ts'
import { countTokens } from '../lib/tokens.ts'
import { ResponsesPassThrough } from '../translate/pass-through/responses.ts'
import { admit } from './admit.ts'
import { costHeaders } from './billing-headers.ts'
import type { Call, ClientChannel, Services } from './call.ts'
import { type Chosen, chooseTarget } from './choose-target.ts'
import { type DispatchOptions, dispatch } from './dispatch.ts'
import { estimateInputTokens, holdAmount } from './estimate.ts'
import { meteredTokens } from './meter.ts'
import type { Pinger } from './pinger.ts'
import type { PreparedCall } from './prepare.ts'
import { type ResponsesBody, readResponsesBody } from './receive-responses.ts'
import { outputTextOf, readReply, renamed, type WholeReply } from './relay-reply.ts'
import { refuseUnlessEventStream, relayStream } from './relay-stream.ts'
import { type CallScope, CLIENT_GONE, runAccounted } from './run-accounted.ts'
import { estimatedTokens, resultOf } from './stream-result.ts'
import { upstreamBody } from './upstream-body.ts'

const ENDPOINT = 'responses'
const PING = ': ping\n\n'

interface OpenCall extends CallScope {
  readonly body: ResponsesBody
  readonly chosen: Chosen
  readonly prepared: PreparedCall
  readonly inputTokensEstimate: number
}

/** Runs a call. Never rejects: what goes wrong is told to the client and written to the usage row. */
export function runResponsesCall(
  services: Services,
  call: Call,
  raw: Buffer,
  client: ClientChannel,
  { pinger }: { pinger: Pinger },
): Promise<void> {
  return runAccounted(services, call, client, async scope => {
    const body = readResponsesBody(raw)
    scope.account.requested(body.requestedName, body.streamed)
    const chosen = chooseTarget(scope, body.requestedName)
    const { entry, target, resolution } = chosen
    const edits = [{ op: 'set', path: '/model', value: target.model }] as const
    const isNamed = body.requestedName === target.model
    const prepared = { target, body: upstreamBody(body.text, isNamed ? [] : edits, target, ENDPOINT) }
    const inputTokensEstimate = estimateInputTokens(body, services.limits.holdTokensPerImage)
    const wantMicroVnd = holdAmount(entry, inputTokensEstimate, body.outputTokensMax)
    const { mappedFrom } = resolution
    await admit(services, call, { entry, mappedFrom, wantMicroVnd, signal: client.gone })
    const open = { ...scope, body, chosen, prepared, inputTokensEstimate }
    await (body.streamed ? relayStreamed(open, pinger) : relayWhole(open))
  })
}

function send({ services, call, prepared }: OpenCall, options: Omit<DispatchOptions, 'endpoint'>) {
  return dispatch(services, call, prepared, { ...options, endpoint: ENDPOINT })
}

async function relayWhole(open: OpenCall): Promise<void> {
  const { services, client, account, headers, chosen } = open
  // The client may leave: a non-streamed call is finished and billed all the same.
  const reply = await send(open, { streamed: false, signal: new AbortController().signal })
  const whole = await readReply(reply, services.limits.replyBytesMax)
  refuseUnlessFinished(whole)
  const usage = readUsage(whole.json.usage)
  const used = usage ? meteredTokens(usage) : estimatedTokens(open.inputTokensEstimate, countOutput(whole))
  await account.close({ used, charged: true, status: client.gone.aborted ? CLIENT_GONE : 200 })
  const cost = costHeaders(services.catalogue.settings.service, used, account.costMicroVnd)
  client.send({ ...headers, ...cost, 'content-type': 'application/json' }, renamed(whole, chosen.entry.id))
}

/** Throws GatewayError for a response that failed, and for a reply that is none. */
function refuseUnlessFinished({ json }: WholeReply): void {
  if (json.error || json.status === 'failed') throw readFailure(json.error).error
  const isFinished = json.status === undefined || json.status === 'completed' || json.status === 'incomplete'
  if (isFinished && Array.isArray(json.output)) return
  throw new GatewayError('upstream_failed', { cause: 'the reply is not a finished response' })
}

function countOutput({ text }: WholeReply): number {
  const json = JSON.parse(Buffer.from(text, 'latin1').toString('utf8')) as { output?: unknown }
  return countTokens(outputTextOf(json.output))
}

async function relayStreamed(open: OpenCall, pinger: Pinger): Promise<void> {
  const { services, client, account, headers, inputTokensEstimate } = open
  const upstream = await send(open, { streamed: true, signal: client.gone })
  refuseUnlessEventStream(upstream)
  const stream = new ResponsesPassThrough({ clientModel: open.chosen.entry.id, countTokens })
  client.failureEvent = error => stream.failureEvent(error)
  await relayStream({
    upstream,
    client,
    stream,
    headers,
    limits: services.limits,
    pinger,
    ping: PING,
    settle: end => account.close(resultOf({ stream, end, started: client.started, inputTokensEstimate })),
  })
}
