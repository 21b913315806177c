/** What differs between the endpoints that run a model: hooks that `run.ts` calls at each stage of a call. */

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
import type { PreparedCall, ReadReply } from './prepared-call.ts'
import type { StreamEnd } from './relay-stream.ts'
import type { Resolution } from './resolve.ts'
import type { CallScope } from './run-billed.ts'
import type { StreamHold } from './stream-hold.ts'

/** What the runner needs from any endpoint's request body. */
export interface RequestBody {
  /** The model name as the client wrote it, possibly an alias. */
  readonly requestedName: string
  readonly streamed: boolean
  /** The request's fields. They may ask for extras: features that the provider bills separately, such as web search. */
  readonly json: JsonObject
  /** Like `json`, but with placeholders for values that have not been read. Absent if all values have been read. */
  readonly outline?: JsonObject
}

/** A call whose body has been read and whose entry is known. */
export interface OpenedCall<Body extends RequestBody> extends CallScope {
  readonly body: Body
  readonly resolution: Resolution
  readonly extras: CallExtras
}

export interface CallKind<Body extends RequestBody = RequestBody> {
  /** Reads the body. Rejects with GatewayError `malformed_json` or `invalid_request`. */
  read(call: Call, limits: PipelineLimits): Promise<Body>
  /** Adapts the catalogue entry to this call, for example by choosing a wire format for each target. */
  entryFor?(entry: ModelEntry, body: Body): ModelEntry
  /**
   * Runs the checks that need the entry, then places the hold. The body stays in memory for as long as the returned object
   * refers to it. Rejects with GatewayError.
   */
  admit(opened: OpenedCall<Body>): Promise<AdmittedCall>
}

/** A call whose hold has been placed; `reply` tells how its reply is sent to the client. */
export type AdmittedCall = WholeCall | EventsCall | BytesCall

type PreparedFor<Prepared extends PreparedBody> = (target: UpstreamTarget) => Prepared | Promise<Prepared>

/** A non-streamed JSON reply. The call is finished and billed even if the client leaves. */
export interface WholeCall {
  readonly reply: 'whole'
  readonly prepare: PreparedFor<Pick<PreparedCall, 'readReply'> & PreparedBody>
  usedBy(reply: ReadReply): Metered
}

/** A reply that is a stream of events. */
export interface EventsCall<Stream extends ReplyStream = ReplyStream> {
  readonly reply: 'events'
  readonly prepare: PreparedFor<PreparedStream<Stream>>
  /** The event or comment that keeps the client's connection alive, including the terminating blank line. */
  readonly ping: ByteText
  /** Converts a non-streamed reply into a stream. Absent if the upstream always sends a stream. */
  asEvents?(reply: UpstreamReply, target: UpstreamTarget): Promise<UpstreamReply>
  /** Called when the stream has begun: there will be no further attempt, so the body can be dropped from memory. */
  begun(stream: Stream): void
  /** The hold of the running stream; null if the price does not depend on its length. */
  holdOf(stream: Stream): StreamHold | null
  resultOf(stream: Stream, end: StreamEnd): CallResult
}

export interface PreparedStream<Stream extends ReplyStream> extends PreparedBody {
  openStream(): Stream
}

/** A binary reply, such as audio, whose price is known before its first byte. */
export interface BytesCall {
  readonly reply: 'bytes'
  readonly prepare: PreparedFor<PreparedBody>
  readonly used: Metered
  /** Throws GatewayError `upstream_failed` if the reply has an unexpected content type. */
  refuse(reply: UpstreamReply): void
  resultOf(end: StreamEnd): CallResult
}
