/** What differs between the endpoints that run a model. `run.ts` calls each part in its stage. */

import type { ReplyStream } from '../conversation/reply-stream.ts'
import type { ModelEntry, UpstreamTarget } from '../generated/types.ts'
import type { ByteText } from '../lib/byte-text.ts'
import type { JsonObject } from '../lib/json.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import type { CallResult } from './bill.ts'
import type { Call, PipelineLimits } from './call.ts'
import type { PreparedBody } from './dispatch.ts'
import type { CallExtras } from './extras.ts'
import type { Metered } from './meter.ts'
import type { PreparedCall } from './prepared-call.ts'
import type { StreamEnd } from './relay-stream.ts'
import type { Resolution } from './resolve.ts'
import type { CallScope } from './run-billed.ts'
import type { StreamHold } from './stream-hold.ts'

/** What the runner reads from any body. */
export interface RequestBody {
  /** `model` as the client meant it. */
  readonly requestedName: string
  readonly streamed: boolean
  /** The fields of the request, for finding extras. */
  readonly json: JsonObject
  /** The same fields as far as they have been read; absent: `json` has been read whole. */
  readonly outline?: JsonObject
}

/** A call whose body has been read and whose entry is known. */
export interface OpenedCall<Body extends RequestBody> extends CallScope {
  readonly body: Body
  readonly resolution: Resolution
  readonly extras: CallExtras
}

export interface CallKind<Body extends RequestBody = RequestBody> {
  /** Rejects with GatewayError `malformed_json` or `invalid_request`. */
  read(call: Call, limits: PipelineLimits): Promise<Body>
  /** The entry as this call should see it; absent: the catalogue's. */
  entryFor?(entry: ModelEntry, body: Body): ModelEntry
  /**
   * Makes the checks that need the entry, and places the hold. The body stays in memory as long as the returned object
   * refers to it. Rejects with GatewayError.
   */
  admit(opened: OpenedCall<Body>): Promise<AdmittedCall>
}

/** A call whose money has been set aside, and how its reply goes to the client. */
export type AdmittedCall = WholeCall | EventsCall | BytesCall

type PreparedFor<Prepared extends PreparedBody> = (target: UpstreamTarget) => Prepared | Promise<Prepared>

/** A whole JSON reply, finished and billed even if the client leaves. */
export interface WholeCall {
  readonly reply: 'whole'
  readonly prepare: PreparedFor<Pick<PreparedCall, 'readReply'> & PreparedBody>
  /** What is billed for a reply. */
  usedBy(reply: ReturnType<PreparedCall['readReply']>): Metered
}

/** A stream of events. */
export interface EventsCall<Stream extends ReplyStream = ReplyStream> {
  readonly reply: 'events'
  readonly prepare: PreparedFor<PreparedStream<Stream>>
  /** Keeps the client's connection alive: a complete event or comment. */
  readonly ping: ByteText
  /** Turns the upstream's reply into a stream if it is a whole one; absent: it always is a stream. */
  asEvents?(reply: UpstreamReply, target: UpstreamTarget): Promise<UpstreamReply>
  /** The stream has begun: there will be no other attempt, and the body can be dropped from memory. */
  begun(stream: Stream): void
  /** The hold of the stream as it runs; null where the price does not depend on its length. */
  holdOf(stream: Stream): StreamHold | null
  resultOf(stream: Stream, end: StreamEnd): CallResult
}

export interface PreparedStream<Stream extends ReplyStream> extends PreparedBody {
  openStream(): Stream
}

/** A reply in bytes, whose price is known before the first one. */
export interface BytesCall {
  readonly reply: 'bytes'
  readonly prepare: PreparedFor<PreparedBody>
  readonly used: Metered
  /** Throws GatewayError `upstream_failed` for a reply of another content type. */
  refuse(reply: UpstreamReply): void
  resultOf(end: StreamEnd): CallResult
}
