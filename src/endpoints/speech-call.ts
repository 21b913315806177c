/** Runs a speech call: audio is relayed as it arrives, at a fixed price per call. */

import { GatewayError } from '../errors.ts'
import { SpeechRelay } from '../formats/speech/relay.ts'
import { ascii } from '../lib/byte-text.ts'
import { admit } from '../pipeline/admit.ts'
import { type CallResult, CLIENT_GONE } from '../pipeline/bill.ts'
import type { AdmittedCall, CallKind, EventsCall, OpenedCall, RequestBody } from '../pipeline/call-kind.ts'
import type { PreparedBody } from '../pipeline/dispatch.ts'
import { holdAmount } from '../pipeline/estimate.ts'
import { type Metered, NOTHING_USED } from '../pipeline/meter.ts'
import { type BodyLimits, type ObjectBody, parseObject, requestedNameOf } from '../pipeline/receive.ts'
import type { StreamEnd } from '../pipeline/relay-stream.ts'
import { reportedBy } from '../pipeline/stream-result.ts'
import { bodyFor, withBody } from '../pipeline/upstream-body.ts'
import type { UpstreamReply } from '../upstream/reply.ts'

const PING = ascii(': ping\n\n')
/** Content types that are audio, or that may be audio because they say nothing about the content. */
const AUDIO = /^(audio\/|application\/octet-stream|application\/ogg|video\/mp4)/

interface SpeechBody extends ObjectBody, RequestBody {
  /** Length of the body as received, in bytes. */
  readonly bytes: number
  /** Whether the client asks for events instead of audio bytes. */
  readonly streamed: boolean
}

export function speechCall(): CallKind<SpeechBody> {
  return {
    read: (call, limits) => readSpeechBody(call.takeBody(), limits),
    async admit(opened) {
      const { services, call, client, resolution, body } = opened
      const { entry, mappedFrom } = resolution
      const wantMicroVnd = holdAmount(entry, Math.ceil(body.bytes / 3), null)
      await admit(services, call, { entry, mappedFrom, holdMinMicroVnd: wantMicroVnd, signal: client.gone })
      return admitted(opened)
    },
  }
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
    throw invalid('input: Input should be a non-empty string, the text to speak')
  if (voice === undefined || voice === null || voice === '') throw invalid('voice: Field required')
  if (typeof voice !== 'string' && (typeof voice !== 'object' || Array.isArray(voice)))
    throw invalid('voice: Input should be the name of a voice')
  if (streamFormat !== undefined && streamFormat !== null && streamFormat !== 'sse' && streamFormat !== 'audio')
    throw invalid('stream_format: Input should be audio or sse')
  return { ...body, bytes: raw.length, requestedName, streamed: streamFormat === 'sse' }
}

function admitted({ call, client, body, extras }: OpenedCall<SpeechBody>): AdmittedCall {
  const make = (target: Parameters<AdmittedCall['prepare']>[0], accept: string): PreparedBody | Promise<PreparedBody> =>
    withBody(bodyFor(extras.bodyFor(body, target), target, call.endpoint), written => ({ body: written, accept }))
  if (!body.streamed) {
    return {
      reply: 'bytes',
      prepare: target => make(target, '*/*'),
      used: NOTHING_USED,
      refuse: refuseUnlessAudio,
      resultOf: end => resultOf(NOTHING_USED, end, client.started),
    }
  }
  const events: EventsCall<SpeechRelay> = {
    reply: 'events',
    prepare: async target => ({
      ...(await make(target, 'text/event-stream')),
      openStream: () => new SpeechRelay(),
    }),
    ping: PING,
    begun() {},
    holdOf: () => null,
    resultOf: (stream, end) => resultOf(reportedBy(stream.usage), end, client.started),
  }
  return events
}

function refuseUnlessAudio(reply: UpstreamReply): void {
  if (AUDIO.test(reply.header('content-type'))) return
  reply.abort()
  throw new GatewayError('upstream_failed', { cause: 'the reply is not audio' })
}

/** Charges the fixed price if the reply was complete, or if the client received part of it before disconnecting. */
function resultOf(used: Metered, end: StreamEnd, started: boolean): CallResult {
  if (end === 'complete') return { used, charged: true, status: 200 }
  return { used, charged: started && end !== 'unsent', status: CLIENT_GONE }
}
