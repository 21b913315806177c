/** One speech call from its body to its usage row: audio is relayed as it comes, at a fixed price. */

import { GatewayError } from '../errors.ts'
import type { ModelEntry } from '../generated/types.ts'
import { formatVnd } from '../lib/money.ts'
import { SpeechPassThrough } from '../translate/pass-through/speech.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import { admit } from './admit.ts'
import type { CallResult } from './bill.ts'
import type { Call, ClientChannel, Services } from './call.ts'
import { chooseEntry, chooseExtras } from './choose-entry.ts'
import { holdAmount } from './estimate.ts'
import type { CallExtras } from './extras.ts'
import { costOf, type Metered, NOTHING_USED } from './meter.ts'
import type { Pinger } from './pinger.ts'
import { type BodyLimits, type ObjectBody, parseObject, requestedNameOf } from './receive.ts'
import { relayBytes } from './relay-bytes.ts'
import { relayStream, type StreamEnd } from './relay-stream.ts'
import { type CallScope, CLIENT_GONE, runBilled } from './run-billed.ts'
import { holdStream, sendCall } from './send-call.ts'
import { reportedBy } from './stream-result.ts'
import { bodyFor, withBody } from './upstream-body.ts'

const ENDPOINT = 'audio_speech'
const PING = ': ping\n\n'
/** Reply types that are audio, or bytes whose kind the provider does not tell. */
const AUDIO = /^(audio\/|application\/octet-stream|application\/ogg|video\/mp4)/

interface SpeechBody extends ObjectBody {
  readonly requestedName: string
  /** The client wants events. */
  readonly streamed: boolean
}

interface Speech {
  readonly body: SpeechBody
  readonly extras: CallExtras
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', { message })
}

async function readSpeechBody(raw: Buffer, limits: BodyLimits): Promise<SpeechBody> {
  const body = await parseObject(raw, limits)
  const { json } = body
  const requestedName = requestedNameOf(json)
  const { input, voice, stream_format: streamFormat } = json
  if (input === undefined || input === null) throw invalid('input: Field required')
  if (typeof input !== 'string' || input.trim() === '')
    throw invalid('input: Input should be a non-empty text to speak')
  if (voice === undefined || voice === null || voice === '') throw invalid('voice: Field required')
  if (typeof voice !== 'string' && (typeof voice !== 'object' || Array.isArray(voice)))
    throw invalid('voice: Input should be the name of a voice')
  if (streamFormat !== undefined && streamFormat !== null && streamFormat !== 'sse' && streamFormat !== 'audio')
    throw invalid('stream_format: Input should be audio or sse')
  return { ...body, requestedName, streamed: streamFormat === 'sse' }
}

/** Runs a call. Never rejects: what goes wrong is told to the client and written to the usage row. */
export function runSpeechCall(
  services: Services,
  call: Call,
  client: ClientChannel,
  { pinger }: { pinger: Pinger },
): Promise<void> {
  return runBilled(services, call, client, async scope => {
    const raw = call.takeBody()
    const body = await readSpeechBody(raw, services.limits)
    scope.bill.requested(body.requestedName, body.streamed)
    const { entry, mappedFrom } = chooseEntry(scope, body.requestedName)
    const extras = chooseExtras(scope, entry, body.json)
    const wantMicroVnd = holdAmount(entry, Math.ceil(raw.length / 3), null)
    await admit(services, call, { entry, mappedFrom, wantMicroVnd, signal: client.gone })
    const upstream = await send(scope, entry, { body, extras })
    if (body.streamed) return relayEvents(scope, upstream, pinger)
    // The price is fixed, so it is known before the first byte; a reply that breaks off costs nothing and is cut short.
    const cost = formatVnd(costOf(entry, NOTHING_USED))
    await relayAudio(scope, upstream, { [`x-${services.catalogue.settings.service}-cost-vnd`]: cost })
  })
}

function send(scope: CallScope, entry: ModelEntry, { body, extras }: Speech): Promise<UpstreamReply> {
  const { streamed } = body
  const accept = streamed ? 'text/event-stream' : '*/*'
  return sendCall(scope, {
    entry,
    prepare: target =>
      withBody(bodyFor(extras.bodyFor(body, target), target, ENDPOINT), written => ({ body: written, accept })),
    receive: async reply => (streamed ? holdStream(scope, reply) : refuseUnlessAudio(reply)),
    streamed,
    signal: scope.client.gone,
  })
}

function refuseUnlessAudio(reply: UpstreamReply): UpstreamReply {
  if (AUDIO.test(reply.header('content-type'))) return reply
  reply.abort()
  throw new GatewayError('upstream_failed', { cause: 'the reply is no audio' })
}

async function relayAudio(scope: CallScope, upstream: UpstreamReply, cost: Record<string, string>): Promise<void> {
  const { services, client, bill, headers } = scope
  await relayBytes({
    upstream,
    client,
    headers: { ...headers, ...cost, 'content-type': upstream.header('content-type') },
    bytesMax: services.limits.replyBytesMax,
    settle: end => bill.settle(resultOf(NOTHING_USED, end, client.started)),
  })
}

async function relayEvents(scope: CallScope, upstream: UpstreamReply, pinger: Pinger): Promise<void> {
  const { services, client, bill, headers } = scope
  const stream = new SpeechPassThrough()
  await relayStream({
    upstream,
    client,
    stream,
    headers,
    limits: services.limits,
    pinger,
    hold: null,
    ping: PING,
    settle: end => bill.settle(resultOf(reportedBy(stream.usage), end, client.started)),
  })
}

/** One price for a reply that reached its end, or of which the client had got something when it left. */
function resultOf(used: Metered, end: StreamEnd, started: boolean): CallResult {
  if (end === 'complete') return { used, charged: true, status: 200 }
  return { used, charged: started && end !== 'unheard', status: CLIENT_GONE }
}
