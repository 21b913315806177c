/** The client's side of a call on a hijacked Fastify reply: whole replies, event streams, errors, and when it goes away. */

import type { ServerResponse } from 'node:http'
import type { ErrorCode, GatewayError } from '../errors.ts'
import type { ClientChannel, HeaderMap } from '../pipeline/call.ts'
import { errorBody, errorEvent, errorHeaders } from './error-body.ts'

/** Time for a client to take what was written before its connection is closed after a fault. */
const STALLED_MS = 30_000

export interface ChannelOptions {
  readonly response: ServerResponse
  readonly requestId: string
  readonly startedMs: number
  readonly nowMs: () => number
  /** Error events carry an `event:` line in the messages format. */
  readonly namedEvents: boolean
  /** Called with an error that the client is told. */
  readonly errorTold: (code: ErrorCode) => void
}

export class ResponseChannel implements ClientChannel {
  readonly #options: ChannelOptions
  readonly #response: ServerResponse
  readonly #gone = new AbortController()
  #pending = ''
  #pendingEncoding: 'latin1' | 'utf8' = 'latin1'
  #flushing = false
  #ended = false
  #bytes = false
  started = false
  failureEvent: ((error: GatewayError) => string) | null = null
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

  get gone(): AbortSignal {
    return this.#gone.signal
  }

  send(headers: HeaderMap, body: Buffer): void {
    this.#sendWhole(200, headers, body)
  }

  startStream(headers: HeaderMap): void {
    this.#begin(200, {
      ...headers,
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    })
  }

  write(text: string, encoding: 'latin1' | 'utf8'): boolean {
    if (text === '' || this.#ended || this.#gone.signal.aborted) return true
    if (this.#pendingEncoding !== encoding && this.#pending !== '') this.#flush()
    this.#pendingEncoding = encoding
    this.#pending += text
    if (!this.#flushing) {
      this.#flushing = true
      process.nextTick(() => this.#flush())
    }
    return !this.#response.writableNeedDrain
  }

  onDrain(listener: () => void): void {
    this.#response.on('drain', listener)
  }

  startBytes(headers: HeaderMap): void {
    this.#bytes = true
    this.#begin(200, { ...headers, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' })
  }

  writeBytes(chunk: Buffer): boolean {
    if (this.#ended || this.#gone.signal.aborted) return true
    return this.#response.write(chunk)
  }

  endStream(): void {
    this.#flush()
    this.#ended = true
    this.#response.end()
  }

  fail(error: GatewayError, headers: HeaderMap = {}): void {
    if (this.#ended || this.#gone.signal.aborted) return
    this.#options.errorTold(error.code)
    if (!this.started) {
      const body = Buffer.from(errorBody(error, this.#options.requestId))
      this.#sendWhole(error.status, { ...headers, ...errorHeaders(error) }, body)
      return
    }
    if (this.#bytes) {
      this.#ended = true
      this.#response.destroy()
      return
    }
    const { requestId, namedEvents } = this.#options
    this.write(this.failureEvent?.(error) ?? errorEvent(error, requestId, { named: namedEvents }), 'utf8')
    this.endStream()
    // A client that reads nothing any more is not waited for.
    if (this.#response.writableNeedDrain) setTimeout(() => this.#response.destroy(), STALLED_MS).unref()
  }

  #begin(status: number, headers: HeaderMap): void {
    this.started = true
    this.firstByteMs = Math.round(this.#options.nowMs() - this.#options.startedMs)
    const { requestId } = this.#options
    this.#response.writeHead(status, { ...headers, 'request-id': requestId, 'x-request-id': requestId })
  }

  #sendWhole(status: number, headers: HeaderMap, body: Buffer): void {
    if (this.#ended || this.#gone.signal.aborted) return
    this.#begin(status, { ...headers, 'content-length': String(body.length) })
    this.#ended = true
    this.#response.end(body)
  }

  #flush(): void {
    this.#flushing = false
    const text = this.#pending
    if (text === '' || this.#gone.signal.aborted) return
    this.#pending = ''
    this.#response.write(text, this.#pendingEncoding)
  }
}
