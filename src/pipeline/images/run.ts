/** One image call, a generation or an edit, from its body to its usage row. */

import { GatewayError } from '../../errors.ts'
import { readUsage } from '../../formats/responses/usage.ts'
import type { ModelEntry, UpstreamTarget } from '../../generated/types.ts'
import { arrayOrEmpty, isObject, textOrNull } from '../../lib/json.ts'
import { type MicroVnd, vndToMicro } from '../../lib/money.ts'
import { ImagesPassThrough } from '../../translate/pass-through/images.ts'
import type { UpstreamReply } from '../../upstream/reply.ts'
import { admit } from '../admit.ts'
import { costHeaders } from '../billing-headers.ts'
import type { Call, ClientChannel, Services } from '../call.ts'
import { chooseEntry, markSimulated } from '../choose-entry.ts'
import { type Attempt, dispatch, type PreparedBody } from '../dispatch.ts'
import { holdAmount } from '../estimate.ts'
import { holdFirstEvent } from '../first-event.ts'
import { type Metered, meteredTokens, NOTHING_USED } from '../meter.ts'
import type { Pinger } from '../pinger.ts'
import { readReply, renamed, type WholeReply } from '../relay-reply.ts'
import { relayStream, type StreamEnd } from '../relay-stream.ts'
import type { Resolution } from '../resolve.ts'
import { type CallScope, CLIENT_GONE, runAccounted } from '../run-accounted.ts'
import type { CallResult } from '../settle.ts'
import { upstreamBody } from '../upstream-body.ts'
import { checkCount, type Edit, type Generation, readEdit, readGeneration } from './receive.ts'
import { imageOf } from './reference.ts'
import { upstreamForm } from './upstream-form.ts'

const PING = ': ping\n\n'

interface OpenCall extends CallScope {
  readonly wish: Generation | Edit
  readonly resolution: Resolution
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
    const resolution = chooseEntry(scope, wish.requestedName)
    const { entry, mappedFrom } = resolution
    checkCount(wish, entry.imagesMax)
    const wantMicroVnd = holdFor(entry, wish.count, raw.length)
    await admit(services, call, { entry, mappedFrom, wantMicroVnd, signal: client.gone })
    const open = { ...scope, wish, resolution }
    // Only a call that was admitted makes the gateway fetch anything.
    const bodyFor = await bodyMaker(open)
    await (wish.streamed ? relayStreamed(open, bodyFor, pinger) : relayWhole(open, bodyFor))
  })
}

/** Every image that was asked for, at its price. */
function holdFor(entry: ModelEntry, count: number, bodyBytes: number): MicroVnd {
  if (entry.price.per === 'image') return vndToMicro(entry.price.vnd * count)
  return holdAmount(entry, Math.ceil(bodyBytes / 3), null)
}

type BodyFor = (target: UpstreamTarget) => PreparedBody | Promise<PreparedBody>

/** Fetches what the client only named, once, and says how the body for a target is made. */
async function bodyMaker({ services, client, wish, call }: OpenCall): Promise<BodyFor> {
  if (wish.kind === 'generation') {
    return target => {
      const edits =
        wish.requestedName === target.model ? [] : [{ op: 'set', path: '/model', value: target.model } as const]
      return { body: upstreamBody(wish.text, edits, target, call.endpoint), contentType: 'application/json' }
    }
  }
  const fetched = await Promise.all(
    [...wish.references, ...(wish.mask === null ? [] : [wish.mask])].map(reference =>
      imageOf(reference, services.images, client.gone),
    ),
  )
  const references = fetched.slice(0, wish.references.length)
  const mask = fetched[references.length] ?? null
  return target => upstreamForm({ fields: wish.fields, references, mask }, target)
}

async function send<Received>(
  open: OpenCall,
  bodyFor: BodyFor,
  signal: AbortSignal,
  receive: (reply: UpstreamReply, attempt: Attempt<PreparedBody>) => Promise<Received>,
): Promise<Received> {
  const { services, call, resolution, wish } = open
  const dispatched = await dispatch(services, call, {
    targets: resolution.entry.upstreams,
    prepare(target) {
      markSimulated(open, target)
      return bodyFor(target)
    },
    receive,
    streamed: wish.streamed,
    signal,
  })
  return dispatched.received
}

async function relayWhole(open: OpenCall, bodyFor: BodyFor): Promise<void> {
  const { services, client, account, headers, resolution, wish } = open
  // The client may leave: a non-streamed call is finished and billed all the same.
  const { whole, used } = await send(open, bodyFor, new AbortController().signal, async reply => {
    const read = await readReply(reply, services.limits.replyBytesMax)
    return { whole: read, used: usedBy(read, wish.count) }
  })
  await account.close({ used, charged: true, status: client.gone.aborted ? CLIENT_GONE : 200 })
  const cost = costHeaders(services.catalogue.settings.service, used, account.costMicroVnd)
  client.send({ ...headers, ...cost, 'content-type': 'application/json' }, renamed(whole, resolution.entry.id))
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

async function relayStreamed(open: OpenCall, bodyFor: BodyFor, pinger: Pinger): Promise<void> {
  const { services, client, account, headers, resolution, wish } = open
  const { eventBytesMax, pingAfterMs: holdMs } = services.limits
  const upstream = await send(open, bodyFor, client.gone, (reply, { upstream: { credentials } }) =>
    holdFirstEvent(reply, { eventBytesMax, holdMs, signal: client.gone, secrets: credentials.secrets }),
  )
  const stream = new ImagesPassThrough({ clientModel: resolution.entry.id, count: wish.count })
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
