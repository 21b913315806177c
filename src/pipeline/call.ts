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

import type { FoundKey } from '../accounts/find-key.ts'
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
  /** The HMAC hash under which the key was found. */
  readonly keyHash: Uint8Array
  /** Hashes under which the key may be stored. */
  readonly keyHashes: readonly Uint8Array[]
  /** Calls per minute; 0: no limit; null: the catalogue's default. */
  readonly rateLimitPerMinute: number | null
  /** Calls in flight; 0: no limit; null: the catalogue's default. */
  readonly concurrencyMax: number | null
  /** Ids of entries, and `family/*`, that the key may call; null: all. */
  readonly allowedModels: readonly string[] | null
  /** The database reported a balance of 0 for this very request; such a caller is never cached. */
  readonly walletEmpty: boolean
}

export interface Call {
  /** UUIDv7 by which the ledger knows the call. */
  readonly id: string
  /** The id that the client sees: `req_…`, or the one it sent itself. */
  readonly requestId: string
  readonly endpoint: Endpoint
  readonly caller: Caller
  readonly openedAt: Date
  /** Monotonic milliseconds at the first header of the request. */
  readonly startedMs: number
  /** A client header by its lower-case name. */
  readonly header: (name: string) => string | undefined
  /** Oldest first; grows during the call. */
  readonly attempts: Attempt[]
  /** Gives the body's bytes as received, and only once (then none), so that nothing but the taker keeps them in memory. */
  readonly takeBody: () => Buffer
  /** Releases the body's permit once its bytes are no longer needed. */
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
  /** Back-pressure: the next `write` or `writeBytes` will return false. */
  readonly full: boolean
  onDrain(listener: () => void): void
  /** Ends a stream of events or of bytes. */
  endStream(): void
  /** Sends status 200 and the headers of a byte reply of unknown length; `content-type` is one of them. */
  startBytes(headers: HeaderMap): void
  /** False: wait for `onDrain` before giving more. */
  writeBytes(chunk: Buffer): boolean
  /**
   * Builds the complete event that ends a stream after an error. Null: use the error event that both chat formats know.
   */
  failureEvent: ((error: GatewayError) => string | null) | null
  /**
   * An HTTP error before the reply started, else an error event in the client's format that ends the stream. A byte
   * reply is cut off, so that the client cannot mistake it for a whole one.
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
  /** The error, if there was one. */
  readonly code: ErrorCode | null
  readonly used: Metered
  readonly costMicroVnd: MicroVnd
  /** As in the usage row: what the call cost the operator; null: unknown. */
  readonly upstreamCostMicroVnd: MicroVnd | null
  /** Null when nothing was sent. */
  readonly firstByteMs: number | null
  readonly latencyMs: number
  readonly streamed: boolean
}

/** Records metrics. On the hot path: must be cheap. */
export interface CallObserver {
  /** Once per billed call, right before its settlement. */
  ended(ended: EndedCall): void
  /** An error was sent to a client, on any route of the API. */
  errorSent(code: ErrorCode): void
  /** A bank notification was refused, or accepted with an outcome for each transaction. */
  notificationTaken(provider: string, outcomes: readonly string[]): void
}

/** Records traces. */
export interface CallTracer {
  /** On the hot path too: must be cheap. */
  ended(ended: EndedCall): void
  /** Trace id for the call's log line; null when it is not traced. */
  traceIdOf(call: Call): string | null
  /** The `traceparent` to send upstream; undefined when the upstream should not get one. */
  traceparentOf(call: Call, attempt: Attempt): string | undefined
}

/** Limits of the pipeline; all come from configuration. */
export interface PipelineLimits {
  /** Largest request body after decoding, in bytes. */
  readonly bodyBytesMax: number
  /** Values in one body, at any depth. */
  readonly bodyValuesMax: number
  /** Largest non-streamed reply of an upstream, in bytes. */
  readonly replyBytesMax: number
  /** Largest single event of an upstream's stream, in bytes. */
  readonly eventBytesMax: number
  /** Silence of the upstream after which the client gets a ping, in ms. */
  readonly pingAfterMs: number
  /** Most attempts per call, over all its upstreams. */
  readonly upstreamTriesMax: number
  /** Input tokens that a hold assumes for an image. */
  readonly holdTokensPerImage: number
  /** Output tokens by which a stream's hold grows at a time. */
  readonly holdExtendTokens: number
  /**
   * How long a stream that has used up its hold waits for an extension, in ms; after that it gets one more step without
   * money held for it.
   */
  readonly holdExtendWaitMs: number
  /** Most image URLs fetched for one chat call. */
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
  /** Counts unknown model names. */
  readonly unknownModels: Pick<UnknownModels, 'count'>
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
  /** Top-up page, named in the text of a 402. */
  readonly topUpUrl: string
  /**
   * Called when the wallet was found empty, so that the account's next call asks the database before its body is read.
   */
  readonly walletFoundEmpty: (accountId: number) => void
  /** Sends clients a header that names the wire of their call. */
  readonly tellsWire: boolean
  /** The sealer of an account: what it seals into a reply, only the same account's later requests can open. */
  readonly sealerFor: (accountId: number) => Sealer
  /** Reads the key stored under one of these hashes from the database; null: there is none. Rotating peppers changes the hash. */
  readonly findKey: (hashes: readonly Uint8Array[]) => Promise<FoundKey | null>
}
