/** One request and its response: reads the body within its limit, sends JSON, sets common headers. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ErrorFormat } from './format.ts'
import { newId } from './ids.ts'
import type { JsonObject } from './json.ts'
import type { ProviderError } from './model.ts'

export interface Pace {
  /** Time until the first token, in ms. */
  readonly firstTokenMs: number
  /** Speed of a reply; 0 sends it as fast as possible. */
  readonly tokensPerSecond: number
}

export interface SandboxLimits {
  readonly bodyBytesMax: number
  /** Longest reply in tokens, whatever the client requests. */
  readonly replyTokensMax: number
  /** Maximum characters of the prompt, and of each tool result, that a reply echoes. */
  readonly echoCharactersMax: number
  /** Maximum time that `sandbox:hang` hangs, in ms. */
  readonly hangMsMax: number
  /** Longest wait before a non-streamed reply, in ms. */
  readonly replyWaitMsMax: number
  readonly connectionsMax: number
}

export class BodyTooLargeError extends Error {}

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly pace: Pace
  readonly limits: SandboxLimits
  readonly requestId = newId('req_')
  /** Aborted as soon as the client disconnects. */
  readonly signal: AbortSignal
  #body: Promise<Buffer> | null = null

  constructor(request: IncomingMessage, response: ServerResponse, options: { pace: Pace; limits: SandboxLimits }) {
    this.request = request
    this.response = response
    this.pace = options.pace
    this.limits = options.limits
    const controller = new AbortController()
    this.signal = controller.signal
    response.on('close', () => controller.abort())
    response.on('error', () => controller.abort())
    response.setHeader('x-sandbox', 'simulated')
    response.setHeader('x-ratelimit-remaining-requests', '9999')
  }

  header(name: string): string {
    const value = this.request.headers[name]
    return Array.isArray(value) ? value.join(',') : (value ?? '')
  }

  /** The request body, read once and cached. Rejects with BodyTooLargeError. */
  body(): Promise<Buffer> {
    this.#body ??= this.#readBody()
    return this.#body
  }

  #readBody(): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      let bytes = 0
      this.request.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= this.limits.bodyBytesMax) chunks.push(chunk)
        else reject(new BodyTooLargeError())
      })
      this.request.on('end', () => resolve(Buffer.concat(chunks)))
      this.request.on('error', reject)
    })
  }

  json(status: number, body: JsonObject): void {
    this.send(status, 'application/json', JSON.stringify(body))
  }

  send(status: number, contentType: string, body: string | Buffer): void {
    this.response.writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(body) })
    this.response.end(body)
  }

  error(error: ProviderError, format: ErrorFormat): void {
    this.response.setHeader(format.requestIdHeader, this.requestId)
    for (const [name, value] of Object.entries(format.errorHeaders?.(error) ?? {})) this.response.setHeader(name, value)
    if (error.retryAfterSeconds !== null) this.response.setHeader('retry-after', String(error.retryAfterSeconds))
    this.json(error.status, format.errorBody(error, this.requestId))
  }

  /** Waits; ends early, without throwing, when the client disconnects. */
  async wait(milliseconds: number): Promise<void> {
    if (milliseconds < 1) return
    await sleep(milliseconds, undefined, { signal: this.signal }).catch(() => {})
  }

  /** Waits before a non-streamed reply for as long as a model would take to write this many tokens, up to `replyWaitMsMax`. */
  async waitFor(tokens: number): Promise<void> {
    const { firstTokenMs, tokensPerSecond } = this.pace
    const writingMs = tokensPerSecond > 0 ? (tokens * 1_000) / tokensPerSecond : 0
    await this.wait(Math.min(firstTokenMs + writingMs, this.limits.replyWaitMsMax))
  }

  /** Sends RST, so that the client sees a reset connection rather than an orderly end. */
  reset(): void {
    this.request.socket.resetAndDestroy()
  }
}
