/** Fetches images by URL, guarded against SSRF, and inlines them for upstream models that cannot fetch them. */

import { GatewayError } from '../errors.ts'
import type { UpstreamTarget, WireName } from '../generated/types.ts'
import { decodeText } from '../lib/byte-text.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import type { JsonObject } from '../lib/json.ts'
import { editJson, membersOf } from '../lib/json-text.ts'
import { imageUrlsToFetch, inlineImages } from '../translate/image-urls.ts'
import type { Call, Services } from './call.ts'
import { fetchTogether } from './fetch-images.ts'
import type { ChatBody } from './receive.ts'

export interface InlineOptions {
  readonly call: Pick<Call, 'caller' | 'reserve'>
  readonly body: ChatBody
  readonly target: UpstreamTarget
  readonly format: WireName
  readonly signal: Cancellation
}

/**
 * Returns the body with its images inlined, or the same body if there is nothing to fetch. Throws GatewayError
 * `invalid_request` for a URL that does not lead to an image, and for more URLs than `limits.imageUrlsMax`.
 */
export async function withInlineImages(services: Services, options: InlineOptions): Promise<ChatBody> {
  const { call, body, target, format, signal } = options
  // Only plain conversations, which have no images, leave values unparsed (see `read-outline.ts`).
  if (target.dialect.content.imageUrl !== 'inline' || body.unread !== null) return body
  const { json } = body
  const urls = imageUrlsToFetch(format, json)
  if (urls.length === 0) return body
  const { imageUrlsMax } = services.limits
  const field = format === 'responses' ? 'input' : 'messages'
  if (urls.length > imageUrlsMax) {
    const message = `${field}: at most ${imageUrlsMax} image URLs are fetched for this model; send the others as base64.`
    throw new GatewayError('invalid_request', { message })
  }
  const bytesMax = services.limits.bodyBytesMax
  const fetched = await fetchTogether(urls, { call, bytesMax, signal }, async (url, fetching) => {
    const { mediaType, bytes } = await services.images.fetch(url, { field, ...fetching })
    return [url, { mediaType, data: bytes.toString('base64') }] as const
  })
  const text = editJson(body.text, inlineImages(format, json, new Map(fetched)))
  const edited = parseExactJson(decodeText(text)) as JsonObject
  return { ...body, text, raw: null, members: membersOf(text), json: edited, outline: edited }
}
