/** Reads and decodes a request body as it arrives, within size limits and under a permit, which reserves memory for it. */

import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { GatewayError } from '../errors.ts'
import { GatheredChunks } from '../lib/gathered-chunks.ts'
import type { BodyPermit } from './body-permits.ts'
import { INTAKE } from './intake.ts'

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

export interface BodyBounds {
  /** Largest body after decoding, in bytes. */
  readonly bytesMax: number
  /** How many times larger than its compressed form a decoded body may be. */
  readonly ratioMax: number
  /** How long the client may send nothing, in ms. Limited so that a stalled upload does not keep its permit. */
  readonly idleMs: number
}

/** First permit of a body of unknown length, in bytes. The permit doubles each time the body outgrows it. */
const FIRST_STEP_BYTES = 256 * 1024
/** Decompressed output up to this size never counts as a bomb: this early, the ratio is meaningless. */
const RATIO_FREE_BYTES = 1024 * 1024
const CLOSED = 'the connection was closed'

/**
 * Returns the whole body, decoded. Rejects with GatewayError `unsupported_encoding` for unknown or chained codings,
 * `request_too_large`, `rate_limited` if it gets no permit in time, `request_timeout` if the client stops sending,
 * `malformed_json` for a damaged or truncated body. The rest of the body is then ignored.
 */
export async function readBody(request: IncomingMessage, bounds: BodyBounds, permit: BodyPermit): Promise<Buffer> {
  // A destroyed request emits no more events.
  if (request.destroyed) throw damaged(CLOSED)
  const declared = declaredBytes(request)
  refuseTooLarge(request, bounds.bytesMax)
  const decoder = decoderOf(request)
  const isKnown = decoder === null && declared !== null
  permit.growing = !isKnown && bounds.bytesMax > FIRST_STEP_BYTES
  const wanted = isKnown ? declared : Math.min(FIRST_STEP_BYTES, bounds.bytesMax)
  const waiting = permit.growTo(wanted)
  const read = () => new BodyReader(request, decoder, { declared, bounds, permit }).read()
  return waiting === null ? read() : waitPresent(request, permit, waiting).then(read)
}

/** Throws GatewayError `request_too_large` if the declared length exceeds `bytesMax`. */
export function refuseTooLarge(request: IncomingMessage, bytesMax: number): void {
  if ((declaredBytes(request) ?? 0) > bytesMax) throw tooLarge(bytesMax)
}

/** The length declared in the headers, in bytes; null if there is none. */
export function declaredBytes({ headers }: IncomingMessage): number | null {
  const length = headers['content-length']
  return length === undefined ? null : Number(length)
}

function decoderOf(request: IncomingMessage): Transform | null {
  const coding = request.headers['content-encoding']?.trim().toLowerCase()
  if (coding === undefined || coding === '' || coding === 'identity') return null
  const create = DECODERS[coding]
  if (create !== undefined) return create()
  throw new GatewayError('unsupported_encoding', {
    message: `content-encoding: ${coding.slice(0, 40)} is not supported; send the body plain or as gzip, deflate, br or zstd.`,
  })
}

/** Waits for the permit. A client that disconnects gives up its place in line. */
function waitPresent(request: IncomingMessage, permit: BodyPermit, waiting: Promise<void>): Promise<void> {
  const leave = () => {
    // `close` also fires for a body that has fully arrived but is still being decoded.
    if (!request.readableEnded) permit.release()
  }
  request.once('close', leave)
  return waiting.finally(() => request.off('close', leave))
}

interface Reading {
  /** The declared length in bytes; null if there is none. */
  readonly declared: number | null
  readonly bounds: BodyBounds
  readonly permit: BodyPermit
}

class BodyReader {
  readonly #request: IncomingMessage
  readonly #decoder: Transform | null
  readonly #bounds: BodyBounds
  readonly #permit: BodyPermit
  /** Where a body of known length is assembled as it arrives; null if the length is unknown. */
  readonly #whole: Buffer | null
  readonly #chunks = new GatheredChunks()
  readonly #done = Promise.withResolvers<Buffer>()
  readonly #idle: NodeJS.Timeout
  #waiting = false
  #encodedBytes = 0
  #bytes = 0
  #ended = false

  constructor(request: IncomingMessage, decoder: Transform | null, { declared, bounds, permit }: Reading) {
    this.#request = request
    this.#whole = decoder === null && declared !== null ? Buffer.allocUnsafe(declared) : null
    this.#decoder = decoder
    this.#bounds = bounds
    this.#permit = permit
    this.#idle = setTimeout(this.#onIdle, bounds.idleMs)
  }

  read(): Promise<Buffer> {
    const source = this.#source
    source.on('data', this.#onData)
    source.on('end', this.#onEnd)
    this.#request.on('error', this.#onDamage)
    this.#request.on('close', this.#onClose)
    if (this.#decoder !== null) {
      this.#decoder.on('error', this.#onDamage)
      this.#request.on('data', this.#onEncoded)
      this.#request.pipe(this.#decoder)
    }
    return this.#done.promise
  }

  get #source(): Readable {
    return this.#decoder ?? this.#request
  }

  readonly #onEncoded = (chunk: Buffer): void => {
    this.#encodedBytes += chunk.length
    this.#idle.refresh()
  }

  readonly #onIdle = (): void => {
    // The client is not to blame while the body waits for its permit, or has fully arrived and is being decoded.
    if (this.#waiting || this.#request.complete) this.#idle.refresh()
    else this.#fail(new GatewayError('request_timeout'))
  }

  readonly #onData = (chunk: Buffer): void => {
    const { bytesMax, ratioMax } = this.#bounds
    this.#bytes += chunk.length
    this.#idle.refresh()
    if (this.#bytes > bytesMax) {
      this.#fail(tooLarge(bytesMax))
      return
    }
    if (this.#decoder !== null && this.#bytes > RATIO_FREE_BYTES && this.#bytes > this.#encodedBytes * ratioMax) {
      this.#fail(tooDense(ratioMax))
      return
    }
    if (this.#whole === null) this.#chunks.add(chunk)
    else chunk.copy(this.#whole, this.#bytes - chunk.length)
    const waiting = this.#grown()
    if (waiting === null) {
      if (this.#bytes !== this.#whole?.length) INTAKE.count(this.#source)
      return
    }
    this.#source.pause()
    this.#waiting = true
    waitPresent(this.#request, this.#permit, waiting).then(
      () => {
        this.#waiting = false
        this.#idle.refresh()
        this.#source.resume()
      },
      error => this.#fail(error),
    )
  }

  /** Enlarges the permit if the body has outgrown it. Returns null if there is no need to wait. */
  #grown(): Promise<void> | null {
    const { bytes } = this.#permit
    if (this.#bytes <= bytes) return null
    return this.#permit.growTo(Math.min(this.#bounds.bytesMax, Math.max(this.#bytes, bytes * 2)))
  }

  readonly #onEnd = (): void => {
    if (this.#ended) return
    this.#leave()
    this.#permit.settle(this.#bytes)
    this.#done.resolve(this.#whole ?? this.#chunks.take())
  }

  readonly #onDamage = (cause: unknown): void => this.#fail(damaged(cause))

  readonly #onClose = (): void => {
    if (!this.#request.readableEnded) this.#fail(damaged(CLOSED))
  }

  #fail(error: unknown): void {
    if (this.#ended) return
    this.#leave()
    // Discards whatever still arrives.
    this.#request.resume()
    this.#chunks.clear()
    this.#done.reject(error)
  }

  #leave(): void {
    this.#ended = true
    clearTimeout(this.#idle)
    const source = this.#source
    source.off('data', this.#onData)
    source.off('end', this.#onEnd)
    this.#request.off('close', this.#onClose)
    this.#request.off('data', this.#onEncoded)
    // The request lives as long as its reply and must not keep the body in memory. Later errors are ignored.
    this.#request.off('error', this.#onDamage)
    this.#request.on('error', () => {})
    if (this.#decoder === null) return
    this.#request.unpipe(this.#decoder)
    this.#decoder.destroy()
  }
}

export function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('request_too_large', {
    message: `The request body exceeds ${bytesMax / 1024 / 1024} MB (after decoding). Send less, or smaller images.`,
  })
}

function tooDense(ratioMax: number): GatewayError {
  return new GatewayError('request_too_large', {
    message: `The request body grows to more than ${ratioMax} times its size when decoded. Send it uncompressed.`,
  })
}

function damaged(cause: unknown): GatewayError {
  return new GatewayError('malformed_json', {
    message: 'The request body is damaged or incomplete; send it again.',
    cause,
  })
}
