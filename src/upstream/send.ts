/**
 * Sends one request to a provider through undici's dispatch. It neither retries nor decodes, and leaves reading the reply to the
 * caller.
 */

import type { Dispatcher } from 'undici'
import type { Cancellation } from '../lib/cancellation.ts'
import { type Deadline, startDeadline } from '../lib/deadlines.ts'
import type { Connection, Connections } from './connections.ts'
import { UpstreamFault } from './fault.ts'
import { INTERIM_MAX } from './interim.ts'
import { type ReplySource, UpstreamReply } from './reply.ts'

export interface UpstreamRequest {
  readonly connections: Connections
  /** A GET is sent without a body; `body` is ignored. */
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Built by the gateway, never copied from a client's request. */
  readonly headers: Record<string, string>
  readonly body: Buffer
  /** Secrets in the request, to be masked in the provider's error messages. */
  readonly secrets: readonly string[]
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly totalTimeoutMs: number
  /** Aborts the request until the reply begins; from then on, use `UpstreamReply.abort`. */
  readonly signal: Cancellation
  /** Called once, when nothing more will be sent or received. */
  readonly onClose: () => void
}

/** Sends the request; resolves with the reply's status and headers. Rejects with UpstreamFault when there is no reply. */
export function send({ body, ...request }: UpstreamRequest): Promise<UpstreamReply> {
  return new Promise((resolve, reject) => {
    new Sending(request, resolve, reject).start(body)
  })
}

class Sending implements ReplySource {
  /** The request without its body, which must not stay in memory while the reply arrives. */
  readonly #request: Omit<UpstreamRequest, 'body'>
  readonly #resolve: (reply: UpstreamReply) => void
  readonly #reject: (fault: UpstreamFault) => void
  #deadline: Deadline | null = null
  #connection: Connection | null = null
  #controller: Dispatcher.DispatchController | null = null
  #reply: UpstreamReply | null = null
  #aborted: UpstreamFault | null = null
  #paused = false
  #interim = 0
  #closed = false

  constructor(
    request: Omit<UpstreamRequest, 'body'>,
    resolve: (reply: UpstreamReply) => void,
    reject: (fault: UpstreamFault) => void,
  ) {
    this.#request = request
    this.#resolve = resolve
    this.#reject = reject
  }

  start(body: Buffer): void {
    const { connections, method, path, headers, signal, firstByteTimeoutMs, idleTimeoutMs, totalTimeoutMs } =
      this.#request
    if (signal.aborted) return void this.#close(goneAway())
    this.#deadline = startDeadline(totalTimeoutMs, this)
    signal.addEventListener('abort', this.#onAbort)
    this.#connection = connections.take()
    try {
      this.#connection.client.dispatch(
        {
          method,
          path,
          ...(method === 'GET' ? { headers } : sendable(headers, body)),
          headersTimeout: firstByteTimeoutMs,
          bodyTimeout: idleTimeoutMs,
        },
        this,
      )
    } catch (error) {
      this.#close(UpstreamFault.from(error))
    }
  }

  late(): void {
    this.#abort(new UpstreamFault('timeout', 'the call took too long'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#aborted) controller.abort(this.#aborted)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    // They are parts of the chunk in which they came, and would keep it in memory until the reply ends.
    controller.rawHeaders = null
    if (status < 200) {
      if (++this.#interim > INTERIM_MAX) this.#abort(new UpstreamFault('garbage', 'too many interim replies'))
      return
    }
    this.#request.signal.removeEventListener('abort', this.#onAbort)
    this.#reply = new UpstreamReply(this, status, headers, this.#request.secrets)
    this.#resolve(this.#reply)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#reply?.receive(chunk)
  }

  onResponseEnd(): void {
    this.#close(null)
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    this.#close(UpstreamFault.from(error))
  }

  pause(): void {
    this.#paused = true
    this.#controller?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#controller?.resume()
  }

  abort(): void {
    this.#controller?.abort(new UpstreamFault('aborted', 'the gateway ended the call'))
  }

  #onAbort = (): void => this.#abort(goneAway())

  #abort(fault: UpstreamFault): void {
    this.#aborted = fault
    if (this.#controller) this.#controller.abort(fault)
    else this.#close(fault)
  }

  #close(cause: UpstreamFault | null): void {
    if (this.#closed) return
    this.#closed = true
    const isUnread = this.#paused && cause?.kind === 'timeout'
    const fault = isUnread ? new UpstreamFault('unread', 'the reply was not read in time') : cause
    this.#deadline?.end()
    if (this.#connection !== null) this.#request.connections.release(this.#connection)
    this.#request.signal.removeEventListener('abort', this.#onAbort)
    this.#request.onClose()
    if (this.#reply) this.#reply.finish(fault)
    else this.#reject(fault ?? new UpstreamFault('garbage', 'the provider gave no reply'))
  }
}

/** Larger bodies are released once sent; undici would keep them until the reply ends. */
const KEPT_BYTES_MAX = 64 * 1024
const PART_BYTES = 256 * 1024

function sendable(headers: Record<string, string>, body: Buffer): Pick<Dispatcher.DispatchOptions, 'headers' | 'body'> {
  if (body.length <= KEPT_BYTES_MAX) return { headers, body }
  return { headers: { ...headers, 'content-length': String(body.length) }, body: new Parts(body) as never }
}

/** A body in parts, which can be read once. (A generator would keep the body alive in its frame.) */
class Parts implements IterableIterator<Buffer> {
  #body: Buffer | null
  #at = 0

  constructor(body: Buffer) {
    this.#body = body
  }

  [Symbol.iterator](): this {
    return this
  }

  next(): IteratorResult<Buffer> {
    const part = this.#body?.subarray(this.#at, this.#at + PART_BYTES)
    if (part === undefined || part.length === 0) {
      this.#body = null
      return { done: true, value: undefined }
    }
    this.#at += part.length
    return { done: false, value: part }
  }
}

function goneAway(): UpstreamFault {
  return new UpstreamFault('aborted', 'the client disconnected')
}
