/** The client's side of a call on a hijacked Fastify reply: whole replies, event streams, errors, and disconnects. */

import type { ServerResponse } from 'node:http'
import type { ErrorCode, GatewayError } from '../errors.ts'
import {
  ascii,
  type ByteText,
  characters,
  concat,
  encodeText,
  NO_BYTES,
  ofCharacters,
  toBuffer,
} from '../lib/byte-text.ts'
import { type Cancellation, Canceller } from '../lib/cancellation.ts'
import type { ClientChannel, HeaderMap } from '../pipeline/call.ts'
import { answerHeaders, errorBody, errorEvent, errorHeaders } from './error-body.ts'

/** Largest body, in bytes, that is sent in one string with its headers. */
const ONE_WRITE_MAX = 16_000

export interface ChannelOptions {
  readonly response: ServerResponse
  readonly requestId: string
  /** The service's name as it appears in header names (`x-<service>-…`). */
  readonly service: string
  readonly startedMs: number
  readonly nowMs: () => number
  /** Whether error events have an `event:` line, as the messages format requires. */
  readonly namedEvents: boolean
  /** Maps an error to the code that this endpoint's clients expect. Without it, our own code is sent. */
  readonly codeOf?: ((error: GatewayError) => string) | undefined
  readonly errorSent: (code: ErrorCode) => void
}

export class ResponseChannel implements ClientChannel {
  readonly #options: ChannelOptions
  readonly #response: ServerResponse
  readonly #gone = new Canceller()
  #pending = NO_BYTES
  #flushing = false
  #ended = false
  #bytes = false
  /**
   * Whether the body is sent in chunks. This class writes each chunk's length itself, so that length and text leave in one write.
   */
  #isChunked = false
  started = false
  failureEvent: ((error: GatewayError) => string | null) | null = null
  firstByteMs: number | null = null

  constructor(options: ChannelOptions) {
    this.#options = options
    this.#response = options.response
    this.#response.on('close', () => {
      if (!this.#ended) this.#gone.abort()
    })
    this.#response.on('error', () => this.#gone.abort())
    if (this.#response.destroyed) this.#gone.abort()
  }

  get gone(): Cancellation {
    return this.#gone
  }

  send(headers: HeaderMap, body: Buffer | ByteText): void {
    this.#sendWhole(200, headers, body)
  }

  startStream(headers: HeaderMap): void {
    this.#begin(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    })
    // Node would write a chunk's length, text and line end separately. HTTP/1.0 has no chunks, so Node's flag is false there.
    this.#isChunked = this.#response.chunkedEncoding
    this.#response.chunkedEncoding = false
  }

  write(events: ByteText): boolean {
    if (events.length === 0 || this.#ended || this.#gone.aborted) return true
    this.#pending = concat(this.#pending, events)
    if (!this.#flushing) {
      this.#flushing = true
      process.nextTick(flush, this)
    }
    return !this.full
  }

  get full(): boolean {
    return this.#response.writableNeedDrain
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener)
  }

  startBytes(headers: HeaderMap): void {
    this.#bytes = true
    this.#begin(200, { ...headers, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
  }

  writeBytes(chunk: Buffer): boolean {
    if (this.#ended || this.#gone.aborted) return true
    return this.#response.write(chunk)
  }

  endStream(): void {
    this.#ended = true
    if (!this.#isChunked) {
      this.flush()
      this.#response.end()
      return
    }
    const text = this.#pending
    this.#pending = NO_BYTES
    if (this.#gone.aborted) this.#response.end()
    else this.#response.end(characters(concat(text.length === 0 ? NO_BYTES : chunk(text), LAST_CHUNK)), 'latin1')
  }

  fail(error: GatewayError, headers: HeaderMap = {}): void {
    if (this.#ended || this.#gone.aborted) return
    this.#options.errorSent(error.code)
    if (!this.started) {
      const body = Buffer.from(errorBody(error, this.#options.requestId, { code: this.#options.codeOf?.(error) }))
      this.#sendWhole(error.status, { ...headers, ...errorHeaders(error, this.#options.service) }, body)
      return
    }
    if (this.#bytes) {
      this.#ended = true
      this.#response.destroy()
      return
    }
    const { requestId, namedEvents } = this.#options
    const event = this.failureEvent?.(error) ?? errorEvent(error, requestId, { named: namedEvents })
    this.write(encodeText(event))
    this.endStream()
  }

  #begin(status: number, headers: HeaderMap, bodyBytes?: number): void {
    this.started = true
    this.firstByteMs = Math.round(this.#options.nowMs() - this.#options.startedMs)
    const { requestId } = this.#options
    const list: string[] = []
    for (const name in headers) list.push(name, headers[name] as string)
    const common = answerHeaders(requestId)
    for (const name in common) list.push(name, common[name] as string)
    if (bodyBytes !== undefined) list.push('content-length', String(bodyBytes))
    this.#response.writeHead(status, list)
  }

  #sendWhole(status: number, headers: HeaderMap, body: Buffer | ByteText): void {
    if (this.#ended || this.#gone.aborted) return
    this.#begin(status, headers, body.length)
    this.#ended = true
    if (Buffer.isBuffer(body)) this.#response.end(body)
    else if (body.length <= ONE_WRITE_MAX) this.#response.end(characters(body), 'latin1')
    else this.#response.end(toBuffer(body))
  }

  /** @internal Writes the buffered text. */
  flush(): void {
    this.#flushing = false
    const text = this.#pending
    if (text.length === 0 || this.#gone.aborted) return
    this.#pending = NO_BYTES
    this.#response.write(characters(this.#isChunked ? chunk(text) : text), 'latin1')
  }
}

function flush(channel: ResponseChannel): void {
  channel.flush()
}

function chunk(text: ByteText): ByteText {
  return concat(ofCharacters(`${text.length.toString(16)}\r\n`), text, ascii('\r\n'))
}

const LAST_CHUNK = ascii('0\r\n\r\n')
