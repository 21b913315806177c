/**
 * Terminology. *model*: what a vendor makes. *entry*: one catalogue line that a client can name, with its price. *channel*:
 * standard or AWS. *upstream*: a provider's API as configured; what it answers is the *reply*. *wire*: the format that an
 * upstream speaks. *format*: what the client speaks. *dialect*: facts about what an upstream model accepts. *attempt*: one
 * try of a call at one upstream with one credential; it has an outcome. *hold*: money set aside for a call in flight, and
 * nothing else. *extend*: grow a hold. *settle*: turn a hold into a charge, once. *release*: give a hold back, uncharged.
 * *bill*: what one call has used and costs, until it is settled. *µVND*: 10⁻⁶ VND.
 *
 * A chat call is received, resolved to an entry, funded with a hold, prepared and dispatched for each attempt, relayed,
 * metered and settled; run.ts puts the stages in order.
 */

import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Sealer } from '../conversation/seal.ts'
import type { ErrorCode, GatewayError } from '../errors.ts'
import type { Endpoint, ModelEntry } from '../generated/types.ts'
import type { Ledger } from '../ledger/types.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import type { MicroVnd } from '../lib/money.ts'
import type { UnknownModels } from '../operations/unknown-models.ts'
import type { ImageFetcher } from '../upstream/fetch-image.ts'
import type { UpstreamRegistry } from '../upstream/registry.ts'
import type { Attempt } from './attempt.ts'
import type { Metered } from './meter.ts'

/** The account behind the key of a call. */
export interface Caller {
  readonly accountId: number
  readonly keyId: number
  /** HMAC hash of the key. */
  readonly keyHash: Uint8Array
  /** Calls per minute, 0 for no limit; null: as the catalogue says. */
  readonly rateLimitPerMinute: number | null
  /** Calls in flight, 0 for no limit; null: as the catalogue says. */
  readonly concurrencyMax: number | null
  /** The balance was 0 when the database was asked, for this very request: such a caller is never remembered. */
  readonly walletEmpty: boolean
}

export interface Call {
  /** UUIDv7; what the ledger knows the call by. */
  readonly id: string
  /** What the client is told: `req_…`, or the id that it gave the request itself. */
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly caller: Caller
  readonly openedAt: Date
  /** Monotonic milliseconds at the first header of the request. */
  readonly startedMs: number
  /** A client header by lower-case name. */
  readonly header: (name: string) => string | undefined
  /** So far, the first one first. */
  readonly attempts: Attempt[]
  /** The body's bytes as they came; empty when they were taken before. Whoever keeps them keeps them in memory. */
  readonly takeBody: () => Buffer
  /** Nobody needs the body any more: others may have its place in memory. */
  readonly bodyDone: () => void
}

export type HeaderMap = Record<string, string>

/** The client's side of a call; http/ implements it. */
export interface ClientChannel {
  /** Status and headers have gone out. */
  readonly started: boolean
  /** Aborted when the client has closed the connection before its reply was complete. */
  readonly gone: Cancellation
  /** Milliseconds from the start of the call to the first byte sent; null while none was. */
  readonly firstByteMs: number | null
  /** Sends a whole reply. */
  send(headers: HeaderMap, body: Buffer | ByteText): void
  /** Sends status 200 and the headers of an event stream. */
  startStream(headers: HeaderMap): void
  /** Queues whole events; they go out together at the end of the tick. False: wait for `onDrain` before giving more. */
  write(events: ByteText): boolean
  /** It takes nothing at the moment: the next `write` or `writeBytes` will say false. */
  readonly full: boolean
  onDrain(listener: () => void): void
  /** Ends a stream of events or of bytes. */
  endStream(): void
  /** Sends status 200 and the headers of a reply of bytes whose length is not known; `content-type` is one of them. */
  startBytes(headers: HeaderMap): void
  /** False: wait for `onDrain` before giving more. */
  writeBytes(chunk: Buffer): boolean
  /** How an error ends a stream that has begun: a complete event. Null: the form that both chat formats know. */
  failureEvent: ((error: GatewayError) => string | null) | null
  /**
   * An HTTP error before the reply started, else an error event in the client's format and the end of the stream. A reply
   * of bytes is broken off, so that the client cannot take it for whole.
   */
  fail(error: GatewayError, headers?: HeaderMap): void
}

/** A call whose bill is being settled. */
export interface EndedCall {
  readonly call: Call
  /** Null when the call ended before a model was chosen. */
  readonly entry: ModelEntry | null
  /** As in the usage row: 499 when the client went away. */
  readonly status: number
  /** What went wrong, if anything did. */
  readonly code: ErrorCode | null
  readonly used: Metered
  readonly costMicroVnd: MicroVnd
  /** As in the usage row: what it cost the operator; null: unknown. */
  readonly upstreamCostMicroVnd: MicroVnd | null
  /** Null when nothing was sent. */
  readonly firstByteMs: number | null
  readonly latencyMs: number
  readonly streamed: boolean
}

/** Keeps metrics. Calls pay for it, so an observer does next to nothing. */
export interface CallObserver {
  /** Once for each call with a bill, right before its settlement. */
  ended(ended: EndedCall): void
  /** A client was told an error, on any route of the API. */
  errorSent(code: ErrorCode): void
  /** A bank notification was taken, with the outcome of each transaction, or refused. */
  notificationTaken(provider: string, outcomes: readonly string[]): void
}

/** Keeps traces. */
export interface CallTracer {
  /** As for the metrics. */
  ended(ended: EndedCall): void
  /** Id of the call's trace, for its log line; null: it has none. */
  traceIdOf(call: Call): string | null
  /** The `traceparent` that an attempt carries to an upstream that is to have it; undefined: none. */
  traceparentOf(call: Call, attempt: Attempt): string | undefined
}

/** Limits of the pipeline; all come from configuration. */
export interface PipelineLimits {
  /** Largest request body after decoding, in bytes. */
  readonly bodyBytesMax: number
  /** Values in one body, in whatever depth. */
  readonly bodyValuesMax: number
  /** Largest non-streamed reply of an upstream, in bytes. */
  readonly replyBytesMax: number
  /** Largest single event of an upstream's stream, in bytes. */
  readonly eventBytesMax: number
  /** Silence of the upstream after which the client gets a ping, in ms. */
  readonly pingAfterMs: number
  /** Most tries of one call at all its upstreams. */
  readonly upstreamTriesMax: number
  /** Input tokens that an image counts for in the size of a hold. */
  readonly holdTokensPerImage: number
  /** Output tokens by which the hold of a stream grows at a time. */
  readonly holdExtendTokens: number
  /** Longest wait of a stream that has used up its hold for an answer, in ms; then it gets one more step without one. */
  readonly holdExtendWaitMs: number
  /** Image URLs that are fetched for one chat call. */
  readonly imageUrlsMax: number
}

export interface PipelineLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface Services {
  readonly catalogue: Catalogue
  readonly upstreams: UpstreamRegistry
  readonly ledger: Ledger
  /** Fetches images that clients give as URLs. */
  readonly images: ImageFetcher
  readonly limits: PipelineLimits
  readonly log: PipelineLog
  readonly observer: CallObserver
  readonly tracer: CallTracer
  /** Counts names of models that mean nothing. */
  readonly unknownModels: Pick<UnknownModels, 'count'>
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  /** Page where a wallet is topped up, for the text of a 402. */
  readonly topUpUrl: string
  /** The wallet was found empty: the next call of its keys asks the database before its body is read. */
  readonly walletFoundEmpty: (accountId: number) => void
  /** Clients are told in a header by which format their call went. */
  readonly tellsWire: boolean
  /** Makes and opens the marks of an account, for what is to come back with its next request. */
  readonly sealerFor: (accountId: number) => Sealer
  /** Hash that the caller's key is stored under now, which a rotation of secrets changes; null when it is revoked. */
  readonly keyHashNow: (caller: Caller) => Promise<Uint8Array | null>
}
