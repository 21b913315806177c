/** A provider's reply: status, headers, and a body that is held back until someone consumes it. */

import { type Deadline, startDeadline } from '../lib/deadlines.ts'
import { GatheredChunks } from '../lib/gathered-chunks.ts'
import { UpstreamFault } from './fault.ts'
import { type ReplyRoom, Reservation } from './reply-room.ts'

/** Where a reply's bytes come from. */
export interface ReplySource {
  pause(): void
  resume(): void
  /** Closes the connection at once. */
  abort(): void
}

export interface UpstreamConsumer {
  data(chunk: Buffer): void
  end(): void
  error(fault: UpstreamFault): void
}

export type ReplyHeaders = Readonly<Record<string, string | string[] | undefined>>

/** How long a body may take to end, in ms, if it is of little use: after the end of a stream, or in an error. */
const REST_MS = 2_000
/** Maximum number of bytes read of an error. */
const ERROR_BODY_BYTES_MAX = 256 * 1024

export class UpstreamReply {
  readonly status: number
  readonly headers: ReplyHeaders
  /** The upstream's credentials, to be redacted from the provider's messages. */
  readonly secrets: readonly string[]
  readonly #source: ReplySource
  #consumer: UpstreamConsumer | null = null
  #early: Buffer[] = []
  #outcome: { fault: UpstreamFault | null } | null = null
  #deadline: Deadline | null = null

  constructor(source: ReplySource, status: number, headers: ReplyHeaders, secrets: readonly string[] = []) {
    this.#source = source
    this.secrets = secrets
    this.status = status
    this.headers = headers
  }

  header(name: string): string {
    const value = this.headers[name]
    return Array.isArray(value) ? value.join(', ') : (value ?? '')
  }

  /** Hands the body to its only consumer, beginning with the chunks buffered so far. */
  consume(consumer: UpstreamConsumer): void {
    this.#consumer = consumer
    while (this.#early.length > 0 && this.#consumer === consumer) consumer.data(this.#early.shift() as Buffer)
    if (this.#consumer !== consumer) return
    if (this.#outcome) this.#deliverOutcome(consumer, this.#outcome)
    else this.#source.resume()
  }

  /**
   * Takes the body back from a consumer that only looked at its start: all that this consumer has received. The next consumer
   * receives it again.
   */
  unread(start: Buffer): void {
    this.#consumer = null
    if (start.length > 0) this.#early.unshift(start)
    if (this.#outcome === null) this.#source.pause()
  }

  /**
   * Reads the body to its end. Rejects with UpstreamFault when it breaks off or exceeds `bytesMax`, and with what `room` rejects
   * with if there is no memory for it.
   */
  readBody(bytesMax: number, room: ReplyRoom | null = null): Promise<Buffer> {
    const collector = new BodyCollector(this, { bytesMax, room })
    this.consume(collector)
    return collector.body
  }

  /** Reads the body of an error; empty if it breaks off, is too large or takes too long, because the status says enough. */
  readError(): Promise<Buffer> {
    this.#endWithin(REST_MS)
    return this.readBody(ERROR_BODY_BYTES_MAX).catch(() => Buffer.alloc(0))
  }

  /** Call when the rest of the body does not matter. It is read, so that the connection can be reused, if it ends soon. */
  discardRest(): void {
    this.#endWithin(REST_MS)
    this.#source.resume()
  }

  pause(): void {
    this.#source.pause()
  }

  resume(): void {
    this.#source.resume()
  }

  /** Closes the connection to the provider at once. */
  abort(): void {
    if (this.#outcome === null) this.#source.abort()
  }

  /** @internal Takes bytes that have arrived. */
  receive(chunk: Buffer): void {
    if (this.#outcome) return
    if (this.#consumer) this.#consumer.data(chunk)
    else {
      this.#early.push(chunk)
      this.#source.pause()
    }
  }

  /** @internal Ends the body: no more bytes will arrive. */
  finish(fault: UpstreamFault | null): void {
    if (this.#outcome) return
    this.#outcome = { fault }
    this.#deadline?.end()
    if (this.#consumer) this.#deliverOutcome(this.#consumer, this.#outcome)
  }

  #endWithin(milliseconds: number): void {
    if (this.#outcome === null) this.#deadline = startDeadline(milliseconds, { late: () => this.abort() })
  }

  #deliverOutcome(consumer: UpstreamConsumer, outcome: { fault: UpstreamFault | null }): void {
    if (outcome.fault) consumer.error(outcome.fault)
    else consumer.end()
  }
}

class BodyCollector implements UpstreamConsumer {
  readonly #reply: UpstreamReply
  readonly #bytesMax: number
  readonly #reservation: Reservation
  readonly #done = Promise.withResolvers<Buffer>()
  readonly #chunks = new GatheredChunks()
  #bytes = 0
  #hasEnded = false

  constructor(reply: UpstreamReply, { bytesMax, room }: { bytesMax: number; room: ReplyRoom | null }) {
    this.#reply = reply
    this.#bytesMax = bytesMax
    this.#reservation = new Reservation(room, {
      wait: () => reply.pause(),
      granted: () => (this.#hasEnded ? this.end() : reply.resume()),
      refused: error => this.#refuse(error),
    })
  }

  get body(): Promise<Buffer> {
    return this.#done.promise
  }

  data(chunk: Buffer): void {
    const declared = Number(this.#reply.header('content-length')) || 0
    this.#bytes += chunk.length
    if (Math.max(this.#bytes, declared) > this.#bytesMax) {
      this.#refuse(new UpstreamFault('oversized', `the reply exceeds ${this.#bytesMax} bytes`))
      return
    }
    this.#chunks.add(chunk)
    this.#reservation.need(this.#bytes, declared)
  }

  end(): void {
    this.#hasEnded = true
    if (this.#reservation.isWaiting) return
    this.#reservation.settle()
    this.#done.resolve(this.#chunks.take())
  }

  error(error: unknown): void {
    this.#done.reject(error)
    this.#chunks.clear()
  }

  #refuse(error: unknown): void {
    // Reject before closing the connection, or the close would be reported as the reason.
    this.error(error)
    this.#reply.abort()
  }
}
