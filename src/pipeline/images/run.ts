/** One image call, a generation or an edit, from its body to its usage row. */

import { GatewayError } from '../../errors.ts'
import { readUsage } from '../../formats/responses/usage.ts'
import type { ModelEntry, UpstreamTarget } from '../../generated/types.ts'
import { arrayOrEmpty, isObject, textOrNull } from '../../lib/json.ts'
import { type MicroVnd, vndToMicro } from '../../lib/money.ts'
import { ImagesPassThrough } from '../../translate/pass-through/images.ts'
import { admit } from '../admit.ts'
import type { CallResult } from '../bill.ts'
import type { Call, ClientChannel, Services } from '../call.ts'
import { chooseEntry, chooseExtras } from '../choose-entry.ts'
import type { PreparedBody } from '../dispatch.ts'
import { holdAmount } from '../estimate.ts'
import type { CallExtras } from '../extras.ts'
import { fetchTogether } from '../fetch-images.ts'
import { type Metered, meteredTokens, NOTHING_USED } from '../meter.ts'
import type { Pinger } from '../pinger.ts'
import { readReply, renamed, type WholeReply } from '../relay-reply.ts'
import { relayStream, type StreamEnd } from '../relay-stream.ts'
import type { Resolution } from '../resolve.ts'
import { type CallScope, CLIENT_GONE, runBilled } from '../run-billed.ts'
import { holdStream, sendCall, sendWhole } from '../send-call.ts'
import { reportedBy } from '../stream-result.ts'
import { bodyFor, withBody } from '../upstream-body.ts'
import { checkCount, type Edit, type Generation, readEdit, readGeneration } from './receive.ts'
import { imageOf } from './reference.ts'
import { upstreamForm } from './upstream-form.ts'

const PING = ': ping\n\n'

interface OpenCall extends CallScope {
  readonly wish: Generation | Edit
  readonly resolution: Resolution
  readonly extras: CallExtras
}

/** Runs a call. Never rejects: what goes wrong is told to the client and written to the usage row. */
export function runImageCall(
  services: Services,
  call: Call,
  client: ClientChannel,
  { pinger }: { pinger: Pinger },
): Promise<void> {
  return runBilled(services, call, client, async scope => {
    const raw = call.takeBody()
    const wish =
      call.endpoint === 'images_edits'
        ? await readEdit(raw, call.header('content-type'), services.limits)
        : await readGeneration(raw, services.limits)
    scope.bill.requested(wish.requestedName, wish.streamed)
    const resolution = chooseEntry(scope, wish.requestedName)
    const { entry, mappedFrom } = resolution
    checkCount(wish, entry.imagesMax)
    const extras = chooseExtras(scope, entry, wish.kind === 'edit' ? wish.fields : wish.json)
    const wantMicroVnd = holdFor(entry, wish.count, raw.length)
    await admit(services, call, { entry, mappedFrom, wantMicroVnd, signal: client.gone })
    const open = { ...scope, wish, resolution, extras }
    // Only a call that was admitted makes the gateway fetch anything.
    const prepare = await bodyMaker(open)
    await (wish.streamed ? relayStreamed(open, prepare, pinger) : relayWhole(open, prepare))
  })
}

/** Every image that was asked for, at its price. */
function holdFor(entry: ModelEntry, count: number, bodyBytes: number): MicroVnd {
  if (entry.price.per === 'image') return vndToMicro(entry.price.vnd * count)
  return holdAmount(entry, Math.ceil(bodyBytes / 3), null)
}

type BodyMaker = (target: UpstreamTarget) => PreparedBody | Promise<PreparedBody>

/** Fetches what the client only named, once, and says how the body for a target is made. */
async function bodyMaker({ services, client, wish, call, extras }: OpenCall): Promise<BodyMaker> {
  if (wish.kind === 'generation') {
    return target =>
      withBody(bodyFor(extras.bodyFor(wish, target), target, call.endpoint), body => ({
        body,
        contentType: 'application/json',
      }))
  }
  const wanted = [...wish.references, ...(wish.mask === null ? [] : [wish.mask])]
  const bounds = { bytesMax: services.limits.bodyBytesMax, signal: client.gone }
  const fetched = await fetchTogether(wanted, bounds, (reference, fetching) =>
    imageOf(reference, services.images, fetching),
  )
  const references = fetched.slice(0, wish.references.length)
  const mask = fetched[references.length] ?? null
  return target => upstreamForm({ fields: extras.fieldsFor(wish.fields, target), references, mask }, target)
}

async function relayWhole(open: OpenCall, prepare: BodyMaker): Promise<void> {
  const { services, resolution, wish } = open
  const { whole, used } = await sendCall(open, {
    entry: resolution.entry,
    prepare,
    async receive(reply) {
      const read = await readReply(reply, services.limits.replyBytesMax)
      return { whole: read, used: usedBy(read, wish.count) }
    },
    streamed: false,
  })
  await sendWhole(open, used, renamed(whole, resolution.clientModel))
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

async function relayStreamed(open: OpenCall, prepare: BodyMaker, pinger: Pinger): Promise<void> {
  const { services, client, bill, headers, resolution, wish } = open
  const upstream = await sendCall(open, {
    entry: resolution.entry,
    prepare,
    receive: reply => holdStream(open, reply),
    streamed: true,
  })
  const stream = new ImagesPassThrough({ clientModel: resolution.clientModel, count: wish.count })
  await relayStream({
    upstream,
    client,
    stream,
    headers,
    limits: services.limits,
    pinger,
    hold: null,
    ping: PING,
    settle: end => bill.settle(resultOf(stream, end)),
  })
}

function resultOf(stream: ImagesPassThrough, end: StreamEnd): CallResult {
  if (end === 'unheard') return { used: NOTHING_USED, charged: false, status: CLIENT_GONE }
  const tokens = reportedBy(stream.usage)
  if (end === 'complete') return { used: { ...tokens, images: stream.imagesReceived }, charged: true, status: 200 }
  return { used: { ...tokens, images: stream.imagesSent, estimated: true }, charged: true, status: CLIENT_GONE }
}
