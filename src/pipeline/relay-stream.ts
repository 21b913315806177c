/** Relays an event stream at the pace of the slower side, and settles the call before sending the last byte. */

import type { ReplyStream } from '../conversation/reply-stream.ts'
import { StreamFeed } from '../conversation/stream-feed.ts'
import { GatewayError } from '../errors.ts'
import type { ByteText } from '../lib/byte-text.ts'
import { isTurnUsedUp } from '../lib/loop-turns.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import { type ReplyRoom, Reservation } from '../upstream/reply-room.ts'
import type { ClientChannel, HeaderMap, PipelineLimits } from './call.ts'
import type { Pinger, Watch } from './pinger.ts'
import { unreadable, withoutSecrets } from './relay-reply.ts'
import type { StreamHold } from './stream-hold.ts'

export interface StreamRelay {
  readonly upstream: UpstreamReply
  readonly client: ClientChannel
  readonly stream: ReplyStream
  readonly headers: HeaderMap
  readonly limits: PipelineLimits
  readonly pinger: Pinger
  /** Memory for long events; null: as much as they take. */
  readonly room: ReplyRoom | null
  /** The growing hold of the stream; null if its price is fixed. */
  readonly hold: StreamHold | null
  /** The event or comment that keeps the client's connection alive, including the blank line that ends it. */
  readonly ping: ByteText
  /** Settles the call. The final events of the reply are sent once it resolves. */
  readonly settle: (end: StreamEnd) => Promise<unknown>
}

/**
 * How a relayed stream ended. `complete`, `abandoned` (the client left) and `spent` (the wallet ran empty) are charged; `unsent`
 * (the client left before it got anything but pings) is not. Faults are thrown instead.
 */
export type StreamEnd = 'complete' | 'abandoned' | 'unsent' | 'spent'

/**
 * Resolves when the reply has been sent or the client has left. Rejects with GatewayError if the upstream's stream ends early;
 * nothing has been settled in that case, and no error sent. If the wallet runs empty, rejects after settling.
 */
export function relayStream(relay: StreamRelay): Promise<StreamEnd> {
  return new Promise((resolve, reject) => {
    new RelayRun(relay, resolve, reject).run()
  })
}

class RelayRun {
  readonly #relay: StreamRelay
  readonly #resolve: (end: StreamEnd) => void
  readonly #reject: (error: unknown) => void
  readonly #feed: StreamFeed
  readonly #reservation: Reservation
  /** Chunks that arrived in this turn of the event loop, at most `eventBytesMax` bytes; they are read together. */
  #gathered: Buffer[] = []
  #gatheredBytes = 0
  #ended = false
  /** Whether the upstream is paused until the next turn. */
  #isResting = false
  /**
   * Chunks that arrived while the stream was waiting for its hold to grow: at most what was in flight when the upstream was
   * paused.
   */
  #kept: Buffer[] = []
  /** Whether the upstream's stream ended while `#kept` was still to be relayed. */
  #endCame = false
  #watch: Watch | null = null
  /** Whether any part of the reply has been sent to the client. */
  #sentAny = false

  constructor(relay: StreamRelay, resolve: (end: StreamEnd) => void, reject: (error: unknown) => void) {
    this.#relay = relay
    this.#resolve = resolve
    this.#reject = reject
    this.#feed = new StreamFeed(relay.stream, events => this.#write(events), relay.limits)
    this.#reservation = new Reservation(relay.room, {
      wait: () => relay.upstream.pause(),
      granted: () => this.#resume(),
      refused: error => this.#fail(error),
    })
  }

  run(): void {
    const { upstream, client, hold, pinger, limits } = this.#relay
    client.onDrain(() => this.#resume())
    if (hold !== null) hold.onChange = () => this.#holdChanged()
    if (client.gone.aborted) {
      this.#abandon()
      return
    }
    client.gone.addEventListener('abort', this.#abandon)
    this.#watch = pinger.watch(limits.pingAfterMs, () => this.#ping())
    upstream.consume({
      data: this.#data,
      end: this.#end,
      error: fault => {
        this.feedGathered()
        this.#fail(fault)
      },
    })
  }

  #data = (chunk: Buffer): void => {
    if (this.#ended) return
    const { client, stream, limits } = this.#relay
    const bytes = this.#gatheredBytes + chunk.length
    const isLate = isTurnUsedUp()
    // Read the chunk at once if reading it may pause the upstream. The upstream's timeouts stop only if the pause comes while
    // it is delivering a chunk.
    if (isLate || client.full || stream.skim === undefined || bytes > limits.eventBytesMax) {
      this.feedGathered()
      this.#read(chunk)
      if (isLate) this.#rest()
      return
    }
    this.#gatheredBytes = bytes
    if (this.#gathered.push(chunk) === 1) process.nextTick(feedGathered, this)
  }

  /** Pauses the upstream until the next turn. */
  #rest(): void {
    if (this.#ended) return
    this.#isResting = true
    this.#relay.upstream.pause()
    setImmediate(() => {
      this.#isResting = false
      this.#resume()
    })
  }

  /** @internal Reads the gathered chunks together. */
  feedGathered(): void {
    if (this.#gathered.length === 0) return
    const [first] = this.#gathered as [Buffer]
    const chunk = this.#gathered.length === 1 ? first : Buffer.concat(this.#gathered, this.#gatheredBytes)
    this.#gathered = []
    this.#gatheredBytes = 0
    this.#read(chunk)
  }

  #read(chunk: Buffer): void {
    if (this.#ended) return
    const { hold, stream, upstream } = this.#relay
    try {
      const read = this.#feed.push(chunk, hold ?? undefined)
      if (stream.finished) {
        this.#complete()
        return
      }
      if (read < chunk.length) this.#kept.push(read === 0 ? chunk : chunk.subarray(read))
      if (hold?.state === 'wait') upstream.pause()
      else if (hold?.state === 'spent') this.#spend(hold)
      else this.#reservation.need(this.#feed.pendingBytes)
    } catch (error) {
      this.#fail(error)
    }
  }

  /** Resumes the upstream, unless the stream still has another reason to wait. */
  #resume(): void {
    const { hold, upstream, client } = this.#relay
    if (this.#isResting || this.#ended || hold?.state === 'wait' || this.#reservation.isWaiting || client.full) return
    upstream.resume()
  }

  #holdChanged(): void {
    const { hold } = this.#relay
    if (this.#ended || hold === null) return
    if (hold.state === 'spent') {
      this.#spend(hold)
      return
    }
    const kept = this.#kept
    this.#kept = []
    for (const chunk of kept) this.#read(chunk)
    if (this.#ended || hold.state !== 'go') return
    if (this.#endCame) this.#end()
    else this.#resume()
  }

  #end = (): void => {
    this.feedGathered()
    if (this.#ended) return
    if (this.#relay.hold?.state === 'wait') {
      this.#endCame = true
      return
    }
    try {
      this.#feed.end()
      this.#complete()
    } catch (error) {
      this.#fail(error)
    }
  }

  #write(events: ByteText): void {
    if (events.length === 0) return
    const { client, upstream, headers } = this.#relay
    this.#sentAny = true
    if (!client.started) client.startStream(headers)
    if (this.#watch !== null) this.#watch.touched = true
    if (client.write(events)) return
    upstream.pause()
  }

  /**
   * Called when the stream is complete. Makes the final events before settling, because a reply that ends badly must not be
   * charged.
   */
  #complete(): void {
    const { client, stream, settle } = this.#relay
    let last: ByteText
    try {
      last = this.#feed.whole(stream.end())
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#close()
    this.#relay.upstream.discardRest()
    settle('complete').then(() => {
      if (!client.started) client.startStream(this.#relay.headers)
      client.write(last)
      client.endStream()
      this.#resolve('complete')
    }, this.#reject)
  }

  #abandon = (): void => {
    this.feedGathered()
    if (this.#ended) return
    this.#close()
    this.#relay.upstream.abort()
    const end = this.#sentAny ? 'abandoned' : 'unsent'
    this.#relay.settle(end).then(() => this.#resolve(end), this.#reject)
  }

  /** Called when nothing has been sent for a while. The provider's own keep-alives may be too rare for the client's timeout. */
  #ping(): void {
    const { client, headers, ping } = this.#relay
    if (!client.started) client.startStream(headers)
    client.write(ping)
  }

  /** Called when the wallet is empty: settles what has been sent, then rejects with the hold's error. */
  #spend(hold: StreamHold): void {
    if (this.#ended) return
    this.#close()
    this.#relay.upstream.abort()
    this.#relay.settle('spent').then(() => this.#reject(hold.spentError), this.#reject)
  }

  #fail = (error: unknown): void => {
    if (this.#ended) return
    this.#close()
    this.#relay.upstream.abort()
    // Otherwise, the provider was paused because the hold could not grow in time, which is not the client's fault.
    if (isUnread(error) && this.#relay.client.full) {
      dropReader(this.#relay).then(() => this.#resolve('abandoned'), this.#reject)
      return
    }
    this.#reject(
      error instanceof UpstreamFault
        ? new GatewayError('upstream_failed', { message: "The model's reply ended early.", cause: error })
        : withoutSecrets(unreadable(error), this.#relay.upstream.secrets),
    )
  }

  #close(): void {
    this.#ended = true
    this.#kept = []
    this.#relay.hold?.close()
    if (this.#watch !== null) this.#relay.pinger.stop(this.#watch)
    this.#relay.client.gone.removeEventListener('abort', this.#abandon)
  }
}

function feedGathered(run: RelayRun): void {
  run.feedGathered()
}

/** Whether the reply timed out because the client stopped reading it. */
export function isUnread(fault: unknown): boolean {
  return fault instanceof UpstreamFault && fault.kind === 'unread'
}

/**
 * Ends the call of a client that stopped reading: settles it, charging for what was sent, then ends the reply with an error.
 */
export async function dropReader({ settle, client }: Pick<StreamRelay, 'settle' | 'client'>): Promise<void> {
  await settle('abandoned')
  client.fail(new GatewayError('request_timeout', { message: 'The reply was not read in time.' }))
}
