/** Runs calls that generate or edit images. */

import { readReplyError } from '../../conversation/reply-error.ts'
import { usageReport } from '../../conversation/usage.ts'
import { GatewayError } from '../../errors.ts'
import { ImagesRelay } from '../../formats/images/relay.ts'
import { readUsage } from '../../formats/responses/usage.ts'
import type { ModelEntry, UpstreamTarget } from '../../generated/types.ts'
import { ascii, byteText } from '../../lib/byte-text.ts'
import { arrayOrEmpty, isObject, type JsonObject, textOrNull } from '../../lib/json.ts'
import { parseShortened } from '../../lib/json-shortened.ts'
import { editJson } from '../../lib/json-text.ts'
import { type MicroVnd, vndToMicro } from '../../lib/money.ts'
import { admit } from '../../pipeline/admit.ts'
import { type CallResult, CLIENT_GONE } from '../../pipeline/bill.ts'
import type { Call, PipelineLimits } from '../../pipeline/call.ts'
import type { AdmittedCall, CallKind, EventsCall, OpenedCall } from '../../pipeline/call-kind.ts'
import type { PreparedBody } from '../../pipeline/dispatch.ts'
import { holdAmount } from '../../pipeline/estimate.ts'
import { fetchTogether } from '../../pipeline/fetch-images.ts'
import { NOTHING_USED } from '../../pipeline/meter.ts'
import type { ReadReply } from '../../pipeline/prepared-call.ts'
import type { StreamEnd } from '../../pipeline/relay-stream.ts'
import { reportedBy } from '../../pipeline/stream-result.ts'
import { bodyFor, withBody } from '../../pipeline/upstream-body.ts'
import { checkCounts, type Edit, type Generation } from './receive.ts'
import { imageOf } from './reference.ts'
import { upstreamForm } from './upstream-form.ts'

const PING = ascii(': ping\n\n')

type Opened = OpenedCall<Generation | Edit>

export function imageCall<Body extends Generation | Edit>(
  read: (call: Call, limits: PipelineLimits) => Promise<Body>,
): CallKind<Body> {
  return {
    read,
    async admit(opened) {
      const { services, call, client, resolution, body } = opened
      const { entry, mappedFrom } = resolution
      checkCounts(body, entry)
      const wantMicroVnd = holdFor(entry, body)
      const wants = { entry, mappedFrom, holdMinMicroVnd: wantMicroVnd, signal: client.gone }
      const { heldMicroVnd } = await admit(services, call, wants)
      refuseUncovered(opened, heldMicroVnd)
      // Images are fetched only now, because the call has been admitted.
      return admitted(opened, await bodyMaker(opened))
    },
  }
}

/** The amount to hold: the price of all requested images or, if the model is not priced per image, that of `holdAmount`. */
function holdFor(entry: ModelEntry, { count, bytes }: Generation | Edit): MicroVnd {
  if (entry.price.per === 'image') return vndToMicro(entry.price.vnd * count)
  return holdAmount(entry, Math.ceil(bytes / 3), null)
}

/**
 * Throws GatewayError `insufficient_balance` if the hold, cut to what the wallet and the key's limit have left, does not reach the
 * last image: the provider makes and bills all of them. So at most part of one image stays unpaid, as for a call for one image.
 */
function refuseUncovered({ services, body: { count }, resolution }: Opened, heldMicroVnd: MicroVnd): void {
  const { price } = resolution.entry
  if (price.per !== 'image') return
  const perImageMicroVnd = vndToMicro(price.vnd)
  const countMax = (heldMicroVnd + perImageMicroVnd - 1n) / perImageMicroVnd
  if (countMax >= count) return
  throw new GatewayError('insufficient_balance', {
    message:
      `The balance, or what is left of this API key's limit, is enough for at most ${countMax} of the ${count} images. ` +
      `Ask for fewer (n), or top up at ${services.topUpUrl}.`,
    param: 'n',
  })
}

type BodyMaker = (target: UpstreamTarget) => PreparedBody | Promise<PreparedBody>

/** Fetches the referenced images once, and returns a function that makes the body for a target. */
async function bodyMaker({ services, client, body, call, extras }: Opened): Promise<BodyMaker> {
  if (body.kind === 'generation') {
    return target =>
      withBody(bodyFor(extras.bodyFor(body, target), target, call.endpoint), written => ({
        body: written,
        contentType: 'application/json',
      }))
  }
  const wanted = [...body.references, ...(body.mask === null ? [] : [body.mask])]
  const bounds = { call, bytesMax: services.limits.bodyBytesMax, signal: client.gone }
  const fetched = await fetchTogether(wanted, bounds, (reference, fetching) =>
    imageOf(reference, services.images, fetching),
  )
  const references = fetched.slice(0, body.references.length)
  const mask = fetched[references.length] ?? null
  return target => upstreamForm({ fields: extras.fieldsFor(body.json, target), references, mask }, target)
}

function admitted({ body, resolution: { clientModel } }: Opened, make: BodyMaker): AdmittedCall {
  const { count } = body
  if (!body.streamed) {
    const readReply = (bytes: Buffer) => readImages(bytes, { clientModel, count })
    return {
      reply: 'whole',
      prepare: async target => ({ ...(await make(target)), readReply }),
      usedBy: ({ usage, images = 0 }) => ({ ...reportedBy(usage), images }),
    }
  }
  const events: EventsCall<ImagesRelay> = {
    reply: 'events',
    prepare: async target => ({
      ...(await make(target)),
      openStream: () => new ImagesRelay({ clientModel, count }),
    }),
    ping: PING,
    begun() {},
    holdOf: () => null,
    resultOf,
  }
  return events
}

/**
 * Reads the images of a reply. Throws GatewayError if it has no list of images. Images beyond the requested number are not
 * billed.
 */
function readImages(bytes: Buffer, { clientModel, count }: { clientModel: string; count: number }): ReadReply {
  const json = parseShortened(bytes)
  if (!isObject(json) || !Array.isArray(json.data) || readReplyError(json) !== null) {
    throw new GatewayError('upstream_failed', { cause: 'the reply contains no images' })
  }
  const isNamed = json.model === undefined || json.model === clientModel
  return {
    body: isNamed ? bytes : editJson(byteText(bytes), [{ op: 'set', path: '/model', value: clientModel }]),
    usage: usageReport(readUsage(json.usage), { final: true }),
    images: Math.min(imagesIn(json), count),
    countOutputTokens: () => 0,
  }
}

function imagesIn({ data }: JsonObject): number {
  return arrayOrEmpty(data).filter(
    item => isObject(item) && (textOrNull(item.b64_json) ?? textOrNull(item.url)) !== null,
  ).length
}

function resultOf(stream: ImagesRelay, end: StreamEnd): CallResult {
  if (end === 'unsent') return { used: NOTHING_USED, charged: false, status: CLIENT_GONE }
  const tokens = reportedBy(stream.usage)
  if (end === 'complete') return { used: { ...tokens, images: stream.imagesReceived }, charged: true, status: 200 }
  return { used: { ...tokens, images: stream.imagesToCharge, estimated: true }, charged: true, status: CLIENT_GONE }
}
