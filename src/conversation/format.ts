/** The interface of a wire format. Every format's writer accepts what any format's reader produces. */

import type { Dialect } from '../generated/types.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'
import type { WrapJson } from './carried-items.ts'
import type { Seal } from './envelope.ts'
import type { PairedTurn } from './pairing.ts'
import type { PlainRequest } from './plain.ts'
import type { FoldedReply, ReplyReader, ReplySink, ReplyWriter, UpstreamEvent } from './reply.ts'
import type { ConversationRequest, ReasoningRequest, StructureRequest } from './request.ts'
import type { TokenUsage, UsageFacts } from './usage.ts'

/**
 * `Echo` holds what the format's own reply writer needs to know about the request. Each format has its own type for it, which
 * never contains the whole body.
 */
export interface ConversationFormat<Echo = unknown> {
  /** Throws GatewayError `invalid_request` for features that other formats cannot express, and for values of a wrong type. */
  readRequest(body: JsonObject, facts: ReadFacts): { readonly request: ConversationRequest; readonly echo: Echo }
  /**
   * Makes the echo for a request whose body is written in another format. Absent if clients of this format send no such bodies.
   */
  echoOf?(request: ConversationRequest, body: JsonObject): Echo
  /** Reads only the reasoning settings. The dialect needs them even if the body is already in the upstream's format. */
  readReasoning(body: JsonObject): ReasoningRequest
  readStructure(body: JsonObject): StructureRequest | null
  readonly plain: PlainRequest
  /** Name of the format's field for stop sequences. */
  readonly stopField: string
  /** Returns the path of the message or item at this index, in the notation that clients of the format know. */
  place(index: number): string
  /** Writes a body with everything that the format allows; the dialect then removes what the model does not accept. */
  writeRequest(request: WritableRequest, facts: WriteFacts): WrittenRequest
  /** Whether the JSON has the shape of a non-streamed reply. */
  isReply(reply: JsonObject): boolean
  /** Returns a non-streamed reply as a sequence of events. JSON of any other shape becomes a single event. */
  replay(reply: JsonObject): readonly UpstreamEvent[]
  openReader(sink: ReplySink, facts: ReaderFacts): ReplyReader
  openWriter(echo: Echo, facts: WriterFacts): ReplyWriter
  writeReply(reply: FoldedReply, echo: Echo, facts: WriterFacts): JsonObject
}

export interface ReadFacts {
  /** Returns the content of an envelope (see `envelope.ts`) that this gateway issued; null for any other text. */
  readonly openEnvelope: (text: string) => JsonValue | null
  /**
   * Identifies the upstream that the request goes to. Sealed (signed or encrypted) reasoning is only valid at the upstream that
   * sealed it, so the reader drops all other seals.
   */
  readonly origin: string
  /** Types of tools to leave out without an error, because a response header tells the client about them; null: none. */
  readonly toolsLeftOut: readonly string[] | null
}

/** A request in which every tool call is followed by its result. */
export interface WritableRequest extends Omit<ConversationRequest, 'turns'> {
  readonly turns: readonly PairedTurn[]
}

export interface WriteFacts {
  /** The upstream's name for the model. */
  readonly model: string
  /** Facts about the model that decide how fields and roles are named. What the model does not accept is removed later. */
  readonly dialect: Dialect
}

export interface WrittenRequest {
  readonly body: JsonObject
  /** For each message or item written: the path of its source in the client's body, in the client's notation. */
  readonly places: readonly string[]
}

export interface ReaderFacts {
  readonly usage: UsageFacts
  /** JSON pointer to the signature in a chat reply's tool call; null if calls have no signatures. */
  readonly signaturePath: string | null
  /** Whether the events replay a non-streamed reply, in which each part is complete before the next begins. */
  readonly isReplay: boolean
}

export interface WriterFacts {
  /** Model name shown to the client. */
  readonly clientModel: string
  /** Makes a fresh id without a prefix. */
  readonly newId: () => string
  /** When the reply began, in seconds since 1970. */
  readonly nowSeconds: number
  /** Seconds since 1970. */
  readonly clock: () => number
  /** Input tokens by our own count, for events sent before the upstream reports its count. */
  readonly countInputTokens: () => number
  /**
   * Wraps the provider's signature or encrypted copy of its reasoning (its seal) in an envelope (see `envelope.ts`), which
   * clients of other formats send back. `lengths`: the lengths of the reasoning's pieces of text, which clients may send back
   * joined.
   */
  readonly wrapSeal: (seal: Seal, lengths: readonly number[]) => string
  /** Makes an envelope from any other data that the client must send back. */
  readonly wrapJson: WrapJson
  /** The upstream's latest usage report; null if there is none yet. */
  readonly usageSoFar: () => TokenUsage | null
}
