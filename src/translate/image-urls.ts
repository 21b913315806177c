/** Replaces the image URLs in a request with fetched images, for upstreams that do not fetch images themselves. */

import { dataUrl, isHttpUrl } from '../conversation/images.ts'
import type { WireName } from '../generated/types.ts'
import type { BodyEdit } from '../lib/edit-tree.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue } from '../lib/json.ts'

export interface FetchedImage {
  /** One of the four supported image types. */
  readonly mediaType: string
  /** Base64, without a data URL's prefix. */
  readonly data: string
}

interface ImageReference {
  readonly url: string
  /** JSON pointer to the value that holds the URL. */
  readonly path: string
}

/** Returns the http(s) image URLs of a request, without duplicates, in order. The caller limits how many it fetches. */
export function imageUrlsToFetch(format: WireName, body: JsonObject): string[] {
  return [...new Set(imageReferences(format, body).map(reference => reference.url))]
}

/** Returns the edits that replace URLs with fetched images. URLs that were not fetched stay. */
export function inlineImages(
  format: WireName,
  body: JsonObject,
  images: ReadonlyMap<string, FetchedImage>,
): BodyEdit[] {
  return imageReferences(format, body).flatMap(({ url, path }): BodyEdit[] => {
    const image = images.get(url)
    if (image === undefined) return []
    const { mediaType, data } = image
    const value = format === 'messages' ? { type: 'base64', media_type: mediaType, data } : dataUrl(mediaType, data)
    return [{ op: 'set', path, value }]
  })
}

function imageReferences(format: WireName, body: JsonObject): ImageReference[] {
  if (format === 'responses') return itemReferences(body.input, '/input')
  const find = format === 'messages' ? messagesReferences : chatReferences
  return arrayOrEmpty(body.messages).flatMap((message, index) =>
    isObject(message) ? find(message.content, `/messages/${index}/content`) : [],
  )
}

/** Finds the image references in messages and tool outputs. */
function itemReferences(items: JsonValue | undefined, path: string): ImageReference[] {
  return arrayOrEmpty(items).flatMap((item, index) => {
    if (!isObject(item)) return []
    const key = Array.isArray(item.content) ? 'content' : 'output'
    return arrayOrEmpty(item[key]).flatMap((part, place) =>
      isObject(part) && part.type === 'input_image'
        ? reference(part.image_url, `${path}/${index}/${key}/${place}/image_url`)
        : [],
    )
  })
}

function chatReferences(content: JsonValue | undefined, path: string): ImageReference[] {
  return arrayOrEmpty(content).flatMap((part, index) => {
    if (!isObject(part) || part.type !== 'image_url') return []
    const place = `${path}/${index}/image_url`
    const image = part.image_url
    if (typeof image === 'string') return reference(image, place)
    return isObject(image) ? reference(image.url, `${place}/url`) : []
  })
}

function messagesReferences(content: JsonValue | undefined, path: string): ImageReference[] {
  return arrayOrEmpty(content).flatMap((block, index) => {
    if (!isObject(block)) return []
    const place = `${path}/${index}`
    if (block.type === 'tool_result') return messagesReferences(block.content, `${place}/content`)
    if (block.type !== 'image' || !isObject(block.source) || block.source.type !== 'url') return []
    return reference(block.source.url, `${place}/source`)
  })
}

function reference(url: JsonValue | undefined, path: string): ImageReference[] {
  return typeof url === 'string' && isHttpUrl(url) ? [{ url, path }] : []
}
