/** One image call, a generation or an edit, from its body to its usage row. */

import { GatewayError } from '../../errors.ts'
import { readUsage } from '../../formats/responses/usage.ts'
import type { ModelEntry } from '../../generated/types.ts'
import { arrayOrEmpty, isObject, textOrNull } from '../../lib/json.ts'
import { type MicroVnd, vndToMicro } from '../../lib/money.ts'
import { ImagesPassThrough } from '../../translate/pass-through/images.ts'
import { admit } from '../admit.ts'
import { costHeaders } from '../billing-headers.ts'
import type { Call, ClientChannel, Services } from '../call.ts'
import { type Chosen, chooseTarget } from '../choose-target.ts'
import { dispatch } from '../dispatch.ts'
import { holdAmount } from '../estimate.ts'
import { type Metered, meteredTokens, NOTHING_USED } from '../meter.ts'
import type { Pinger } from '../pinger.ts'
import { readReply, renamed, type WholeReply } from '../relay-reply.ts'
import { refuseUnlessEventStream, relayStream, type StreamEnd } from '../relay-stream.ts'
import { type CallScope, CLIENT_GONE, runAccounted } from '../run-accounted.ts'
import type { CallResult } from '../settle.ts'
import { upstreamBody } from '../upstream-body.ts'
import { checkCount, type Edit, type Generation, readEdit, readGeneration } from './receive.ts'
import { imageOf } from './reference.ts'
import { upstreamForm } from './upstream-form.ts'

const PING = ': ping\n\n'

interface OpenCall extends CallScope {
  readonly wish: Generation | Edit
  readonly chosen: Chosen
}

interface UpstreamBody {
  readonly body: Buffer
  readonly contentType: string
}

/** Runs a call. Never rejects: what goes wrong is told to the client and written to the usage row. */
export function runImageCall(
  services: Services,
  call: Call,
  raw: Buffer,
  client: ClientChannel,
  { pinger }: { pinger: Pinger },
): Promise<void> {
  return runAccounted(services, call, client, async scope => {
    const wish =
      call.endpoint === 'images_edits'
        ? await readEdit(raw, call.header('content-type'), services.limits)
        : readGeneration(raw)
    scope.account.requested(wish.requestedName, wish.streamed)
    const chosen = chooseTarget(scope, wish.requestedName)
    const { entry, resolution } = chosen
    checkCount(wish, entry.imagesMax)
    const wantMicroVnd = holdFor(entry, wish.count, raw.length)
    await admit(services, call, { entry, mappedFrom: resolution.mappedFrom, wantMicroVnd, signal: client.gone })
    const open = { ...scope, wish, chosen }
    // Only a call that was admitted makes the gateway fetch anything.
    const body = await bodyOf(open)
    await (wish.streamed ? relayStreamed(open, body, pinger) : relayWhole(open, body))
  })
}

/** Every image that was asked for, at its price. */
function holdFor(entry: ModelEntry, count: number, bodyBytes: number): MicroVnd {
  if (entry.price.per === 'image') return vndToMicro(entry.price.vnd * count)
  return holdAmount(entry, Math.ceil(bodyBytes / 3), null)
}

async function bodyOf({ services, client, wish, chosen }: OpenCall): Promise<UpstreamBody> {
  const { target } = chosen
  if (wish.kind === 'generation') {
    const edits =
      wish.requestedName === target.model ? [] : [{ op: 'set', path: '/model', value: target.model } as const]
    const body = upstreamBody(wish.text, edits, target, 'images_generations')
    return { body, contentType: 'application/json' }
  }
  const fetched = await Promise.all(
    [...wish.references, ...(wish.mask === null ? [] : [wish.mask])].map(reference =>
      imageOf(reference, services.images, client.gone),
    ),
  )
  const references = fetched.slice(0, wish.references.length)
  return upstreamForm({ fields: wish.fields, references, mask: fetched[references.length] ?? null }, target)
}

function send({ services, call, chosen, wish }: OpenCall, { body, contentType }: UpstreamBody, signal: AbortSignal) {
  const { target } = chosen
  const { endpoint } = call
  return dispatch(services, call, { target, body }, { streamed: wish.streamed, signal, endpoint, contentType })
}

async function relayWhole(open: OpenCall, body: UpstreamBody): Promise<void> {
  const { services, client, account, headers, chosen, wish } = open
  // The client may leave: a non-streamed call is finished and billed all the same.
  const reply = await send(open, body, new AbortController().signal)
  const whole = await readReply(reply, services.limits.replyBytesMax)
  const used = usedBy(whole, wish.count)
  await account.close({ used, charged: true, status: client.gone.aborted ? CLIENT_GONE : 200 })
  const cost = costHeaders(services.catalogue.settings.service, used, account.costMicroVnd)
  client.send({ ...headers, ...cost, 'content-type': 'application/json' }, renamed(whole, chosen.entry.id))
}

/** Throws GatewayError for a reply without a list of images. Images that nobody asked for are not billed. */
function usedBy({ json }: WholeReply, count: number): Metered {
  if (json.error || !Array.isArray(json.data)) {
    throw new GatewayError('upstream_failed', { cause: 'the reply holds no images' })
  }
  const images = arrayOrEmpty(json.data).filter(
    item => isObject(item) && (textOrNull(item.b64_json) ?? textOrNull(item.url)) !== null,
  )
  const usage = readUsage(json.usage)
  return { ...(usage ? meteredTokens(usage) : NOTHING_USED), images: Math.min(images.length, count) }
}

async function relayStreamed(open: OpenCall, body: UpstreamBody, pinger: Pinger): Promise<void> {
  const { services, client, account, headers, chosen, wish } = open
  const upstream = await send(open, body, client.gone)
  refuseUnlessEventStream(upstream)
  const stream = new ImagesPassThrough({ clientModel: chosen.entry.id, count: wish.count })
  await relayStream({
    upstream,
    client,
    stream,
    headers,
    limits: services.limits,
    pinger,
    ping: PING,
    settle: end => account.close(resultOf(stream, end, client.started)),
  })
}

function resultOf(stream: ImagesPassThrough, end: StreamEnd, started: boolean): CallResult {
  if (end === 'abandoned' && !started) return { used: NOTHING_USED, charged: false, status: CLIENT_GONE }
  const tokens = stream.usage ? meteredTokens(stream.usage) : NOTHING_USED
  if (end === 'complete') return { used: { ...tokens, images: stream.imagesReceived }, charged: true, status: 200 }
  return { used: { ...tokens, images: stream.imagesSent, estimated: true }, charged: true, status: CLIENT_GONE }
}
