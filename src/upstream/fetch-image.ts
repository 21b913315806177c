/**
 * Fetches images from client-supplied URLs without giving clients access to internal networks (SSRF). Addresses are checked at
 * the moment of connecting, redirects are followed one by one with the same checks, and bytes, time and concurrency are
 * limited.
 */

import { type Dispatcher, request } from 'undici'
import { GatewayError } from '../errors.ts'
import type { QueueLoad } from '../lib/batcher.ts'
import { GatheredChunks } from '../lib/gathered-chunks.ts'
import { type PictureType, pictureType } from '../lib/picture.ts'
import { AddressGuard } from './address-guard.ts'
import type { Resolve } from './addresses.ts'
import { fewInterim } from './interim.ts'
import { OwnAgents } from './own-agents.ts'

export interface ImageFetchOptions {
  /** Size limit of an image, in bytes. */
  readonly bytesMax: number
  /** Time limit of a fetch, from the first DNS lookup to the last byte, redirects included, in ms. */
  readonly timeoutMs: number
  readonly redirectsMax: number
  /** Maximum number of concurrent fetches in this process. One account may have half of them, so that slow hosts keep out no others. */
  readonly parallelMax: number
  readonly ports: readonly number[]
  /** Decides which addresses may be connected to; replaced only in tests. */
  readonly isAllowed?: (address: string) => boolean
  /** Replaced only in tests. */
  readonly resolve?: Resolve
}

export interface FetchedImage {
  readonly bytes: Buffer
  readonly mediaType: PictureType
}

export interface ImageCall {
  readonly field: string
  readonly accountId: number
  readonly signal: AbortSignal
  /** How many more bytes the images of one call may have in total. All fetches of the call share this object. */
  readonly budget: { bytesLeft: number }
  /** Called as bytes arrive, to reserve memory for them. A GatewayError that it throws ends the fetch, and is passed on. */
  readonly reserve: (bytes: number) => void
}

export interface ImageFetcher {
  /**
   * Fetches one image. Error messages name the request's `field` instead of the URL, and reveal nothing about the internal
   * network. Rejects with GatewayError `invalid_request`, `request_too_large` or `rate_limited`.
   */
  fetch(url: string, call: ImageCall): Promise<FetchedImage>
  readonly queue: QueueLoad
  close(): Promise<void>
}

/** Why the gateway refused to fetch an image; the text is for the client. */
class Refusal extends Error {
  readonly code: 'invalid_request' | 'request_too_large'

  constructor(reason: string, code: 'invalid_request' | 'request_too_large' = 'invalid_request') {
    super(reason)
    this.code = code
  }
}

/** Longest URL that is fetched, in characters. Parsing one of 20 MB, as fits into a body, takes 0.2 s. */
const URL_LENGTH_MAX = 8_000
const NOT_PUBLIC = 'the address is not public; give a public http(s) URL, or the image itself as base64'
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

export function createImageFetcher(options: ImageFetchOptions): ImageFetcher {
  const { isAllowed, resolve } = options
  const guard = new AddressGuard({ isAllowed, resolve, refusal: () => new Refusal(NOT_PUBLIC) })
  const agents = new OwnAgents({ lookup: guard.lookup, timeoutMs: options.timeoutMs })
  let running = 0
  const perAccountMax = Math.ceil(options.parallelMax / 2)
  const byAccount = new Map<number, number>()
  return {
    async fetch(url, { field, accountId, signal, budget, reserve }) {
      const own = byAccount.get(accountId) ?? 0
      if (running >= options.parallelMax || own >= perAccountMax) {
        throw new GatewayError('rate_limited', {
          message: 'Too many images are being fetched at the moment; send the image itself as base64, or try again.',
          retryAfterSeconds: 2,
        })
      }
      running++
      byAccount.set(accountId, own + 1)
      const timeout = AbortSignal.timeout(options.timeoutMs)
      const agent = agents.open()
      try {
        const bounded = AbortSignal.any([signal, timeout])
        const bytes = await follow(url, { agent, guard, options, budget, reserve, signal: bounded })
        const mediaType = pictureType(bytes)
        if (mediaType === null) throw new Refusal('the URL does not lead to a PNG, JPEG, WebP or GIF image')
        return { bytes, mediaType }
      } catch (error) {
        if (error instanceof GatewayError) throw error
        const late = timeout.aborted
          ? new Refusal(`the image did not arrive within ${options.timeoutMs / 1000} s`)
          : null
        throw gatewayErrorOf(late ?? error, field)
      } finally {
        void agents.close(agent)
        running--
        const left = (byAccount.get(accountId) as number) - 1
        if (left === 0) byAccount.delete(accountId)
        else byAccount.set(accountId, left)
      }
    },
    get queue() {
      return { name: 'image fetches', items: running, itemsMax: options.parallelMax }
    },
    close: () => agents.closeAll(),
  }
}

function gatewayErrorOf(error: unknown, field: string): GatewayError {
  const refusal = refusalOf(error)
  if (refusal) return new GatewayError(refusal.code, { message: `${field}: ${refusal.message}` })
  return new GatewayError('invalid_request', {
    message: `${field}: the image could not be fetched; check the URL, or send the image itself as base64`,
  })
}

/** Finds the refusal in an error, even if undici wrapped it. */
function refusalOf(error: unknown): Refusal | null {
  for (let depth = 0, at = error; at instanceof Error && depth < 4; depth++, at = at.cause) {
    if (at instanceof Refusal) return at
    const inner = at instanceof AggregateError ? at.errors.find(each => each instanceof Refusal) : undefined
    if (inner instanceof Refusal) return inner
  }
  return null
}

interface Pursuit {
  readonly agent: Dispatcher
  readonly guard: AddressGuard
  readonly options: ImageFetchOptions
  readonly budget: { bytesLeft: number }
  readonly reserve: (bytes: number) => void
  readonly signal: AbortSignal
}

async function follow(first: string, pursuit: Pursuit): Promise<Buffer> {
  let url = parseUrl(first)
  for (let redirects = 0; ; redirects++) {
    checkUrl(url, pursuit)
    const response = await request(url, {
      dispatcher: pursuit.agent,
      method: 'GET',
      headers: { accept: 'image/png, image/jpeg, image/webp, image/gif', 'accept-encoding': 'identity' },
      signal: pursuit.signal,
      onInfo: fewInterim(),
      headersTimeout: pursuit.options.timeoutMs,
      bodyTimeout: pursuit.options.timeoutMs,
    })
    const location = response.headers.location
    if (!REDIRECTS.has(response.statusCode) || typeof location !== 'string') {
      return readImage(response, pursuit)
    }
    discard(response)
    if (redirects >= pursuit.options.redirectsMax) {
      throw new Refusal(`the URL redirects more than ${pursuit.options.redirectsMax} times`)
    }
    url = parseUrl(location, url)
  }
}

function parseUrl(text: string, base?: URL): URL {
  if (text.length > URL_LENGTH_MAX) throw new Refusal(`the URL is longer than ${URL_LENGTH_MAX} characters`)
  const url = URL.parse(text, base)
  if (url === null) throw new Refusal('the URL is invalid')
  return url
}

function checkUrl(url: URL, { guard, options }: Pursuit): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new Refusal('only http and https URLs are fetched')
  if (url.username !== '' || url.password !== '') throw new Refusal('URLs with credentials are not allowed')
  guard.checkLiteral(url.hostname)
  const port = url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port)
  if (!options.ports.includes(port)) throw new Refusal(`only ports ${options.ports.join(' and ')} are allowed`)
}

async function readImage(response: Dispatcher.ResponseData, { options, budget, reserve }: Pursuit): Promise<Buffer> {
  const { bytesMax } = options
  try {
    if (response.statusCode !== 200) throw new Refusal(`the server answered ${response.statusCode}`)
    const coding = response.headers['content-encoding'] ?? 'identity'
    if (coding !== 'identity') throw new Refusal('the server compressed the reply, although it was asked not to')
    const tooLarge = new Refusal(`the image is larger than ${bytesMax / 1024 / 1024} MB`, 'request_too_large')
    if (Number(response.headers['content-length'] ?? 0) > bytesMax) throw tooLarge
    const chunks = new GatheredChunks()
    let size = 0
    for await (const chunk of response.body as AsyncIterable<Buffer>) {
      size += chunk.length
      budget.bytesLeft -= chunk.length
      if (size > bytesMax) throw tooLarge
      if (budget.bytesLeft < 0) throw new Refusal('the images of this call are too large in total', 'request_too_large')
      reserve(chunk.length)
      chunks.add(chunk)
    }
    return chunks.take()
  } catch (error) {
    discard(response)
    throw error
  }
}

/** Closes the connection. Without the listener, the destroyed body's error would crash the process. */
function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => {})
  body.destroy()
}
