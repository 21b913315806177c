/**
 * Terminology. *model*: what a vendor makes. *entry*: one catalogue line that a client can name, with its price. *channel*: how
 * an entry's model is sold, standard or through AWS. *upstream*: a provider's API as configured; what it answers is the
 * *reply*. *wire*: the format that an upstream speaks. *format*: what the client speaks. *dialect*: facts about what an
 * upstream model accepts. *attempt*: one try of a call at one upstream with one credential; it has an outcome. *hold*: money
 * set aside for a call in flight, and nothing else. *extend*: grow a hold. *settle*: turn a hold into a charge, once.
 * *release*: give a hold back, uncharged. *bill*: what one call has used and costs, until it is settled. *µVND*: 10⁻⁶ VND.
 *
 * A chat call is received, resolved to an entry, funded with a hold, prepared and dispatched for each attempt, relayed, metered
 * and settled; run.ts puts the stages in order.
 */

import type { FoundKey } from '../accounts/find-key.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { EnvelopeSigner } from '../conversation/envelope.ts'
import type { ErrorCode, GatewayError } from '../errors.ts'
import type { Endpoint, ModelEntry } from '../generated/types.ts'
import type { Ledger } from '../ledger/types.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { Cancellation } from '../lib/cancellation.ts'
import type { MicroVnd } from '../lib/money.ts'
import type { UnknownModels } from '../operations/unknown-models.ts'
import type { ImageFetcher } from '../upstream/fetch-image.ts'
import type { UpstreamRegistry } from '../upstream/registry.ts'
import type { ReplyRoom } from '../upstream/reply-room.ts'
import type { Attempt } from './attempt.ts'
import type { Metered } from './meter.ts'

/** The account behind the key of a call. */
export interface Caller {
  readonly accountId: number
  readonly keyId: number
  /** The HMAC hash under which the key was found. */
  readonly keyHash: Uint8Array
  /** All hashes under which the key may be stored. */
  readonly keyHashes: readonly Uint8Array[]
  /** Limit on calls per minute. 0 means no limit; null, the catalogue's default. */
  readonly rateLimitPerMinute: number | null
  /** Limit on concurrent calls. 0 means no limit; null, the catalogue's default. */
  readonly concurrencyMax: number | null
  /** Models that the key may call, as entry ids and `family/*`; null if it may call all of them. */
  readonly allowedModels: readonly string[] | null
  /** True if the balance was 0 when the key was looked up. A caller with an empty wallet is never cached. */
  readonly walletEmpty: boolean
  /** The wallet's version of its keys, which lets holds be placed without reading the key; null if each call needs the key. */
  readonly keysVersion: number | null
}

export interface Call {
  /** UUIDv7 that identifies the call in the ledger. */
  readonly id: string
  /** The id that is sent to the client: `req_…`, or the one that the client chose. */
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly caller: Caller
  readonly openedAt: Date
  /** Monotonic time of the request's first header, in ms. */
  readonly startedMs: number
  /** Returns a header of the request; `name` must be in lower case. */
  readonly header: (name: string) => string | undefined
  /** Attempts so far, oldest first. */
  readonly attempts: Attempt[]
  /** Hands over the body as received, once; later calls return an empty buffer. The caller then holds the only reference. */
  readonly takeBody: () => Buffer
  /** Releases the memory reserved for the body. Call it when the body's bytes are no longer needed. */
  readonly bodyDone: () => void
  /**
   * Reserves memory for bytes that the call fetches besides its body, until the call ends or `bodyDone`. Throws GatewayError
   * `rate_limited` if there is none left.
   */
  readonly reserve: (bytes: number) => void
  /** Memory for a long reply. It is given back when the client has the reply, or has left. */
  readonly replyRoom: ReplyRoom
}

export type HeaderMap = Record<string, string>

/** The client's side of a call; http/ implements it. */
export interface ClientChannel {
  /** Whether status and headers have been sent. */
  readonly started: boolean
  /** Aborted when the client closes the connection before its reply is complete. */
  readonly gone: Cancellation
  /** Milliseconds from the start of the call to the first byte sent; null if none has been sent yet. */
  readonly firstByteMs: number | null
  /** Sends a complete reply. */
  send(headers: HeaderMap, body: Buffer | ByteText): void
  /** Starts an event stream: sends status 200 and the headers. */
  startStream(headers: HeaderMap): void
  /** Queues complete events and sends them once per tick. If it returns false, wait for `onDrain` before writing more. */
  write(events: ByteText): boolean
  /** True if the client reads too slowly: wait for `onDrain` before writing more. */
  readonly full: boolean
  onDrain(listener: () => void): void
  /** Ends an event stream or a binary reply. */
  endStream(): void
  /** Starts a binary reply of unknown length: sends status 200 and the headers, which must include `content-type`. */
  startBytes(headers: HeaderMap): void
  /** If it returns false, wait for `onDrain` before writing more. */
  writeBytes(chunk: Buffer): boolean
  /**
   * Builds the error event that ends a failed stream. If this is null or returns null, `fail` sends the error event of the
   * Messages and Chat Completions formats.
   */
  failureEvent: ((error: GatewayError) => string | null) | null
  /**
   * Sends an HTTP error if the reply has not started; otherwise, ends the stream with an error event in the client's format. If
   * a binary reply has started, closes the connection, so that the client cannot mistake the reply for a complete one.
   */
  fail(error: GatewayError, headers?: HeaderMap): void
}

/** A call whose bill is being settled. */
export interface EndedCall {
  readonly call: Call
  /** Null if the call ended before a model was chosen. */
  readonly entry: ModelEntry | null
  /** The status in the usage row: 499 if the client disconnected. */
  readonly status: number
  readonly code: ErrorCode | null
  readonly used: Metered
  readonly costMicroVnd: MicroVnd
  /** What the call cost the operator; null if unknown. */
  readonly upstreamCostMicroVnd: MicroVnd | null
  /** Null if the client was sent nothing. */
  readonly firstByteMs: number | null
  readonly latencyMs: number
  readonly streamed: boolean
}

/** Records metrics. Calls wait for these methods, so they must be cheap. */
export interface CallObserver {
  /** Called once per billed call, right before its settlement. */
  ended(ended: EndedCall): void
  /** Called when an error has been sent to a client, on any route of the API. */
  errorSent(code: ErrorCode): void
  /**
   * Called once a bank notification has been handled. `outcomes` has one outcome per transaction, or just the error code if the
   * notification was refused.
   */
  notificationHandled(provider: string, outcomes: readonly string[]): void
  /** Called when a page could not be shown. 500: because of a fault of ours; 503: for want of the database or of room. */
  pageFailed(status: PageFailure): void
}

export type PageFailure = 500 | 503

export interface CallTracer {
  /** Called once per billed call, so it must be cheap. */
  ended(ended: EndedCall): void
  /** Trace id for the call's log line; null if the call is not traced. */
  traceIdOf(call: Call): string | null
  /** Value of the `traceparent` header to send upstream; undefined to send none. */
  traceparentOf(call: Call, attempt: Attempt): string | undefined
}

/** The pipeline's limits, all from configuration. */
export interface PipelineLimits {
  /** Largest request body after decoding, in bytes. */
  readonly bodyBytesMax: number
  /** Maximum number of JSON values in one body, at any depth. */
  readonly bodyValuesMax: number
  /** Largest non-streamed reply from an upstream, in bytes. */
  readonly replyBytesMax: number
  /** Largest single event in an upstream's stream, in bytes. */
  readonly eventBytesMax: number
  /** Most JSON values in a non-streamed reply, or in one event of a stream, without log probabilities. */
  readonly replyValuesMax: number
  /** How long the upstream may be silent before the client gets a ping, in ms. */
  readonly pingAfterMs: number
  /** Maximum number of attempts per call, across all upstreams. */
  readonly upstreamTriesMax: number
  /** Longest wait for a place at an upstream whose calls in flight have reached its limit, in ms. */
  readonly placeWaitMs: number
  /** Number of input tokens that a hold assumes for each image. */
  readonly holdTokensPerImage: number
  /** Most context windows of input or of output tokens per choice that a provider's usage report may count and be believed. */
  readonly reportedWindowsMax: number
  /** Number of output tokens per choice that each extension adds to a stream's hold. */
  readonly holdExtendTokens: number
  /**
   * How long a stream that has used up its hold waits for an extension, in ms. If the ledger has not answered by then, the
   * stream may run for another `holdExtendTokens` without money held for them.
   */
  readonly holdExtendWaitMs: number
  /** Maximum number of image URLs fetched for one chat call. */
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
  /** Fetches images that a client refers to by URL. */
  readonly images: ImageFetcher
  readonly limits: PipelineLimits
  readonly log: PipelineLog
  readonly observer: CallObserver
  readonly tracer: CallTracer
  readonly unknownModels: Pick<UnknownModels, 'count'>
  /** Monotonic time, in ms. */
  readonly nowMs: () => number
  /** Address of the top-up page, for the text of a 402. */
  readonly topUpUrl: string
  /**
   * Called when placing a hold found the wallet empty. Until the account has money again, its calls skip the cache: their keys
   * are looked up in the database, and they are refused before their bodies are read.
   */
  readonly walletFoundEmpty: (accountId: number) => void
  /** Whether replies have a header that names the format in which the upstream was called. */
  readonly sendsWireHeader: boolean
  /**
   * Returns the account's signer, which signs a provider's encrypted reasoning before a client gets it. Only requests of the
   * same account can return that reasoning to the provider.
   */
  readonly envelopeSignerFor: (accountId: number) => EnvelopeSigner
  /** Finds a key in the database by any of these hashes; null if there is none. A key's hash changes when peppers are rotated. */
  readonly findKey: (hashes: readonly Uint8Array[]) => Promise<FoundKey | null>
}
