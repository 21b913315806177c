/** One call to a provider over undici's dispatch: no retries, no decoding; what is read of the reply is up to the caller. */

import type { Dispatcher } from 'undici'
import { UpstreamFault } from './fault.ts'

export interface UpstreamRequest {
  readonly dispatcher: Dispatcher
  readonly path: string
  /** Built by the gateway, never copied from a client. */
  readonly headers: Record<string, string>
  readonly body: Buffer
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  readonly totalTimeoutMs: number
  /** Aborts the call while it waits for the reply to begin; from then on `UpstreamReply.abort` does. */
  readonly signal: AbortSignal
}

export interface UpstreamConsumer {
  data(chunk: Buffer): void
  end(): void
  /** Always an UpstreamFault. */
  error(fault: UpstreamFault): void
}

export class UpstreamReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly #controller: Dispatcher.DispatchController
  #consumer: UpstreamConsumer | null = null
  #early: Buffer[] = []
  #outcome: { fault: UpstreamFault | null } | null = null

  constructor(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ) {
    this.#controller = controller
    this.status = status
    this.headers = headers
  }

  header(name: string): string {
    const value = this.headers[name]
    return Array.isArray(value) ? value.join(', ') : (value ?? '')
  }

  /** Hands the body over to its one consumer; what came before is delivered first. */
  consume(consumer: UpstreamConsumer): void {
    this.#consumer = consumer
    for (const chunk of this.#early) consumer.data(chunk)
    this.#early = []
    if (this.#outcome) this.#deliverOutcome(consumer, this.#outcome)
    else this.#controller.resume()
  }

  /** The whole body. Rejects with UpstreamFault when it breaks off or exceeds `bytesMax`. */
  readBody(bytesMax: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let size = 0
      this.consume({
        data: chunk => {
          size += chunk.length
          if (size <= bytesMax) chunks.push(chunk)
          else {
            this.abort()
            reject(new UpstreamFault('oversized', `the reply exceeds ${bytesMax} bytes`))
          }
        },
        end: () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)),
        error: reject,
      })
    })
  }

  pause(): void {
    this.#controller.pause()
  }

  resume(): void {
    this.#controller.resume()
  }

  /** Closes the connection to the provider at once. */
  abort(): void {
    if (this.#outcome === null) this.#controller.abort(new UpstreamFault('aborted', 'the gateway ended the call'))
  }

  /** @internal */
  receive(chunk: Buffer): void {
    if (this.#consumer) this.#consumer.data(chunk)
    else {
      this.#early.push(chunk)
      this.#controller.pause()
    }
  }

  /** @internal */
  finish(fault: UpstreamFault | null): void {
    if (this.#outcome) return
    this.#outcome = { fault }
    if (this.#consumer) this.#deliverOutcome(this.#consumer, this.#outcome)
  }

  #deliverOutcome(consumer: UpstreamConsumer, outcome: { fault: UpstreamFault | null }): void {
    if (outcome.fault) consumer.error(outcome.fault)
    else consumer.end()
  }
}

/** Sends the request; resolves with the reply's status and headers. Rejects with UpstreamFault when none came. */
export function send(request: UpstreamRequest): Promise<UpstreamReply> {
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | null = null
    let reply: UpstreamReply | null = null
    const abort = (kind: 'aborted' | 'timeout', reason: string) => {
      const fault = new UpstreamFault(kind, reason)
      if (controller) controller.abort(fault)
      else reject(fault)
    }
    const onAbort = () => abort('aborted', 'the client went away')
    if (request.signal.aborted) return onAbort()
    const timer = setTimeout(() => abort('timeout', 'the call took too long'), request.totalTimeoutMs)
    const release = () => {
      clearTimeout(timer)
      request.signal.removeEventListener('abort', onAbort)
    }
    request.signal.addEventListener('abort', onAbort)
    request.dispatcher.dispatch(
      {
        method: 'POST',
        path: request.path,
        headers: request.headers,
        body: request.body,
        headersTimeout: request.firstByteTimeoutMs,
        bodyTimeout: request.idleTimeoutMs,
      },
      {
        onRequestStart(started) {
          controller = started
          if (request.signal.aborted) started.abort(new UpstreamFault('aborted', 'the client went away'))
        },
        onResponseStart(started, status, headers) {
          if (status < 200) return
          request.signal.removeEventListener('abort', onAbort)
          reply = new UpstreamReply(started, status, headers)
          resolve(reply)
        },
        onResponseData(_controller, chunk) {
          reply?.receive(chunk)
        },
        onResponseEnd() {
          release()
          reply?.finish(null)
        },
        onResponseError(_controller, error) {
          release()
          const fault = UpstreamFault.from(error)
          if (reply) reply.finish(fault)
          else reject(fault)
        },
      },
    )
  })
}
