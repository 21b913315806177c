/** Serves the image generation and edit endpoints, with generated placeholder images. */

import { chatErrors } from '../chat/errors.ts'
import { chatErrorEvent } from '../chat/write.ts'
import { countPicture, countText } from '../count.ts'
import { lookUpModel, type ModelLookup, parseBody, wordsOf } from '../endpoint.ts'
import type { Exchange } from '../exchange.ts'
import { answeredByWords, sendGarbage } from '../faults.ts'
import type { JsonObject } from '../json.ts'
import type { StreamStep } from '../model.ts'
import { EVENT_STREAM, sendStream } from '../stream.ts'
import { type FoundWords, withoutWords, wordNumber } from '../words.ts'
import { encodePicture } from './encode.ts'
import { drawPicture } from './picture.ts'
import { checkImageRequest, type ImageRequest, readJsonImages, readMultipart } from './request.ts'

/** Number of tokens billed for an image of 1024 by 1024 pixels. */
const SQUARE_TOKENS = 1_056

/** Handles one call. Rejects with ProviderError if the request is invalid. */
export async function answerImages(exchange: Exchange, isEdit: boolean, lookUp: ModelLookup): Promise<void> {
  const bytes = await exchange.body()
  const contentType = exchange.header('content-type')
  const isForm = isEdit && contentType.startsWith('multipart/form-data')
  const fields = isForm ? await readMultipart(bytes, contentType) : readJsonImages(parseBody(bytes, chatErrors))
  const facts = lookUpModel(fields.body, 'image', lookUp, chatErrors)
  const request = checkImageRequest(fields, facts, isEdit)
  const words = wordsOf(request.prompt)
  if (await answeredByWords(words, exchange, chatErrors)) return
  if (words.has('garbage')) return sendGarbage(exchange, request.streamed)
  exchange.response.setHeader(chatErrors.requestIdHeader, exchange.requestId)
  const count = Math.min(wordNumber(words, 'images') ?? request.count, request.count)
  await exchange.waitFor(usageOf(request, count).output_tokens)
  const images = await drawAll(request, count)
  if (exchange.signal.aborted) return
  if (!request.streamed) return exchange.json(200, reply(request, images, words))
  const steps = await streamSteps(request, images, { isEdit, words })
  await sendStream(exchange, steps, { words, errorEvent: chatErrorEvent(), contentType: EVENT_STREAM })
}

async function drawAll(request: ImageRequest, count: number): Promise<string[]> {
  const images: string[] = []
  for (let index = 0; index < count; index += 1) {
    images.push(await draw(request, count > 1 ? `Image ${index + 1} of ${count}` : ''))
  }
  return images
}

async function draw(request: ImageRequest, note: string): Promise<string> {
  const { width, height, references } = request
  const from = references.map(info => `Reference ${info.width}x${info.height} ${info.mediaType.slice('image/'.length)}`)
  const mask = request.masked ? ['With a mask'] : []
  const prompt = withoutWords(request.prompt)
  const lines = [`Simulated ${width}x${height}`, note, ...from, ...mask, '-', prompt]
  const picture = await encodePicture(drawPicture({ width, height, prompt, lines }), request)
  return picture.toString('base64')
}

function reply(request: ImageRequest, images: readonly string[], words: FoundWords): JsonObject {
  const data = images.map(image =>
    request.asUrl ? { url: `data:image/${request.format};base64,${image}` } : { b64_json: image },
  )
  return {
    created: Math.floor(Date.now() / 1_000),
    ...describe(request),
    data,
    ...(words.has('no-usage') ? {} : { usage: usageOf(request, images.length) }),
  }
}

function describe({ width, height, format }: ImageRequest): JsonObject {
  return { background: 'opaque', output_format: format, quality: 'medium', size: `${width}x${height}` }
}

/** Builds the events of a streamed reply: the partial images, then the finished ones. The last event carries the usage. */
async function streamSteps(
  request: ImageRequest,
  images: readonly string[],
  { isEdit, words }: { isEdit: boolean; words: FoundWords },
): Promise<StreamStep[]> {
  const kind = isEdit ? 'image_edit' : 'image_generation'
  const step = (type: string, data: JsonObject): StreamStep => {
    const event = { type, created_at: Math.floor(Date.now() / 1_000), ...describe(request), ...data }
    return { wire: `event: ${type}\ndata: ${JSON.stringify(event)}\n\n`, tokens: 10 }
  }
  const steps: StreamStep[] = []
  for (let index = 0; index < request.partialImages; index += 1) {
    const image = await draw(request, `Partial ${index + 1} of ${request.partialImages}`)
    steps.push(step(`${kind}.partial_image`, { b64_json: image, partial_image_index: index }))
  }
  for (const [index, image] of images.entries()) {
    const isLast = index === images.length - 1 && !words.has('no-usage')
    steps.push(
      step(`${kind}.completed`, { b64_json: image, ...(isLast ? { usage: usageOf(request, images.length) } : {}) }),
    )
  }
  return steps
}

function usageOf(request: ImageRequest, count: number) {
  const textTokens = countText(request.prompt)
  let imageTokens = 0
  for (const reference of request.references) imageTokens += countPicture(reference, 'tiles')
  const outputTokens = Math.ceil((count * SQUARE_TOKENS * request.width * request.height) / 1024 ** 2)
  return {
    input_tokens: textTokens + imageTokens,
    input_tokens_details: { text_tokens: textTokens, image_tokens: imageTokens },
    output_tokens: outputTokens,
    total_tokens: textTokens + imageTokens + outputTokens,
  }
}
