/** The interface between a wire format and the others: what its readers produce, every format's writer accepts. */

import type { Dialect } from '../generated/types.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'
import type { Mark } from './carried-items.ts'
import type { PairedTurn } from './pairing.ts'
import type { PlainRequest } from './plain.ts'
import type { FoldedReply, ReplyReader, ReplySink, ReplyWriter, UpstreamEvent } from './reply.ts'
import type { ConversationRequest, ReasoningRequest, StructureRequest } from './request.ts'
import type { Seal } from './seal.ts'
import type { TokenUsage, UsageFacts } from './usage.ts'

/** `Echo`: what the format's own reply writer needs to know of the request, in a shape of its own; never the body. */
export interface ConversationFormat<Echo = unknown> {
  /** Throws GatewayError `invalid_request` for what other formats cannot express, and for values of a wrong type. */
  readRequest(body: JsonObject, facts: ReadFacts): { readonly request: ConversationRequest; readonly echo: Echo }
  /** Two parts of `readRequest` that the dialect also needs for same-format bodies. */
  readReasoning(body: JsonObject): ReasoningRequest
  readStructure(body: JsonObject): StructureRequest | null
  readonly plain: PlainRequest
  /** Name of the field for stop sequences. */
  readonly stopField: string
  /** The path of the message or item at this index, in the notation that clients of the format know. */
  place(index: number): string
  /** Writes the full body that the format allows; the dialect then removes what the model does not accept. */
  writeRequest(request: WritableRequest, facts: WriteFacts): WrittenRequest
  /** Whether the JSON has the shape of a whole reply. */
  isReply(reply: JsonObject): boolean
  /** The reply as a sequence of events. JSON that is not a whole reply becomes a single event. */
  replay(reply: JsonObject): readonly UpstreamEvent[]
  openReader(sink: ReplySink, facts: ReaderFacts): ReplyReader
  openWriter(echo: Echo, facts: WriterFacts): ReplyWriter
  writeReply(reply: FoldedReply, echo: Echo, facts: WriterFacts): JsonObject
}

export interface ReadFacts {
  /** Opens marks issued by this gateway; null for anything else. */
  readonly openMark: (text: string) => JsonValue | null
  /** Where the request goes. Seals of other origins cannot be opened there and are left out. */
  readonly origin: string
  /** Types of tools to leave out silently, because the client is informed elsewhere; null: none. */
  readonly toolsLeftOut: readonly string[] | null
}

/** A request in which every tool call is followed by its result. */
export interface WritableRequest extends Omit<ConversationRequest, 'turns'> {
  readonly turns: readonly PairedTurn[]
}

export interface WriteFacts {
  /** The upstream's own name for the model. */
  readonly model: string
  /** Names the fields that this host expects; the dialect's pass removes what it does not accept. */
  readonly dialect: Dialect
}

export interface WrittenRequest {
  readonly body: JsonObject
  /** For each message or item written: the path of its source in the client's body, in the client's notation. */
  readonly places: readonly string[]
}

export interface ReaderFacts {
  readonly usage: UsageFacts
  /** JSON pointer to a signature in a chat reply's tool call; null: calls carry none. */
  readonly signaturePath: string | null
  /** The events replay a whole reply, so each part is complete before the next begins. */
  readonly isReplay: boolean
}

export interface WriterFacts {
  /** The model's name in the reply. */
  readonly clientModel: string
  /** Makes a fresh id without a prefix. */
  readonly newId: () => string
  /** When the reply began, in seconds since 1970. */
  readonly nowSeconds: number
  /** Seconds since 1970. */
  readonly clock: () => number
  /** Input tokens by our own count, for events sent before the upstream reports any. */
  readonly countInputTokens: () => number
  /** Wraps a seal in a mark that travels through clients of other formats. `lengths`: those of the texts that it covers. */
  readonly markSeal: (seal: Seal, lengths: readonly number[]) => string
  /** Wraps in a mark any other data that the client must send back. */
  readonly mark: Mark
  /** The upstream's usage report so far; null: none yet. */
  readonly usageSoFar: () => TokenUsage | null
}
