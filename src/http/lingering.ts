/**
 * Replies to requests whose body has not arrived yet. Closing a connection while its client is still sending resets it, and the
 * client loses the reply. So the rest of the body is read and discarded, within limits of time and size. So is what follows a
 * reply of a route that reads no body.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { INTAKE } from './intake.ts'
import { declaredBytes } from './read-body.ts'

export interface LingerLimits {
  /** Longest time spent discarding the rest of one body, in ms. */
  readonly lingerMs: number
  /** Longest time the client may send nothing while its body is being discarded, in ms. */
  readonly lingerIdleMs: number
  /** Maximum number of bytes discarded of one body. */
  readonly lingerBytesMax: number
  /** Maximum number of lingering connections; any further one is closed immediately. */
  readonly lingeringMax: number
}

export interface WholeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Node itself discards a remaining body up to this size, so that the connection can be reused. */
const SMALL_REST_BYTES = 1024 * 1024
/** How long a stopping server waits for lingering connections, in ms. */
const STOPPING_MS = 500

/** Whether the client waits for `100 Continue` before it sends its body. */
function expectsContinue(request: IncomingMessage): boolean {
  return request.httpVersionMinor > 0 && /(?:^|\W)100-continue(?:$|\W)/i.test(request.headers.expect ?? '')
}

const continued = new WeakSet<IncomingMessage>()

/** Call before reading a body: sends `100 Continue` to a client that is waiting for it. */
export function askForBody(request: IncomingMessage, response: ServerResponse): void {
  if (!expectsContinue(request)) return
  continued.add(request)
  response.writeContinue()
}

/** Whether the part of the body that has not arrived yet may be long. */
export function hasLongRest(request: IncomingMessage): boolean {
  if (request.complete) return false
  const isChunked = request.headers['transfer-encoding'] !== undefined
  return isChunked || (declaredBytes(request) ?? 0) > SMALL_REST_BYTES
}

export class Lingering {
  readonly #limits: LingerLimits
  readonly #open = new Set<() => void>()
  #stopping = false

  constructor(limits: LingerLimits) {
    this.#limits = limits
  }

  get size(): number {
    return this.#open.size
  }

  /** Sends the reply at once, then closes the connection when the body ends or a limit is reached. */
  answer(request: IncomingMessage, response: ServerResponse, { status, headers, body }: WholeAnswer): void {
    const length = Buffer.byteLength(body)
    response.writeHead(status, { ...headers, connection: 'close', 'content-length': String(length) })
    const sendsNothing = expectsContinue(request) && !continued.has(request)
    if (sendsNothing || request.complete || this.#open.size >= this.#limits.lingeringMax) return void response.end(body)
    // `content-length` tells the client where the reply ends, so `end`, which closes the connection, can come later.
    response.write(body)
    this.#linger(request, () => response.end())
  }

  /**
   * Call when the reply has been sent and nobody has read the body. The connection can be used again once the body has ended, and
   * is closed when a limit is reached.
   */
  discard(request: IncomingMessage): void {
    const { socket } = request
    if (this.#open.size >= this.#limits.lingeringMax) {
      socket.destroy()
      return
    }
    const end = this.#linger(request, () => {
      socket.off('close', end)
      if (!request.complete) socket.destroy()
    })
    // After the reply, the request does not hear of it.
    socket.once('close', end)
  }

  /** Call when the server stops: closes lingering connections after a short wait. */
  stop(): void {
    this.#stopping = true
    setTimeout(() => {
      for (const end of [...this.#open]) end()
    }, STOPPING_MS).unref()
  }

  /** Returns a function that ends it. */
  #linger(request: IncomingMessage, close: () => void): () => void {
    const { lingerMs, lingerIdleMs, lingerBytesMax } = this.#limits
    let bytes = 0
    const end = (): void => {
      if (!this.#open.delete(end)) return
      clearTimeout(total)
      clearTimeout(idle)
      request.off('data', drop)
      close()
    }
    const drop = (chunk: Buffer): void => {
      bytes += chunk.length
      if (bytes > lingerBytesMax) {
        end()
        return
      }
      idle.refresh()
      INTAKE.count(request)
    }
    const total = setTimeout(end, this.#stopping ? STOPPING_MS : lingerMs).unref()
    const idle = setTimeout(end, lingerIdleMs).unref()
    this.#open.add(end)
    request.on('data', drop)
    request.once('end', end)
    request.once('close', end)
    request.on('error', end)
    request.resume()
    return end
  }
}
