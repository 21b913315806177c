/** What a wire format of conversations is to the others: its readers make what every writer takes. */

import type { Dialect } from '../generated/types.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'
import type { PairedTurn } from './pairing.ts'
import type { FoldedReply, ReplyReader, ReplySink, ReplyWriter, UpstreamEvent } from './reply.ts'
import type { ConversationRequest, ReasoningRequest, StructureRequest } from './request.ts'
import type { Seal } from './seal.ts'
import type { TokenUsage, UsageFacts } from './usage.ts'

/** `Echo`: what the format's own writer of replies must know of the request, in a shape of its own; never the body. */
export interface ConversationFormat<Echo = unknown> {
  /** Throws GatewayError `invalid_request` for what no other format can say, and for a value of a wrong type. */
  readRequest(body: JsonObject, facts: ReadFacts): { readonly request: ConversationRequest; readonly echo: Echo }
  /** The two parts of `readRequest` that the dialect asks of a client's own body. */
  readReasoning(body: JsonObject): ReasoningRequest
  readStructure(body: JsonObject): StructureRequest | null
  /** Name of the field that holds stop sequences. */
  readonly stopField: string
  /** How clients of the format name the message or item of this index. */
  place(index: number): string
  /** The canonical body: with all that the format can say; what the model does not take of it is the dialect's business. */
  writeRequest(request: WritableRequest, facts: WriteFacts): WrittenRequest
  /** The JSON is a whole reply, as far as its shape tells. */
  isReply(reply: JsonObject): boolean
  /** The reply's events, however many there are; a whole reply that is none gives one event with it. */
  replay(reply: JsonObject): readonly UpstreamEvent[]
  openReader(sink: ReplySink, facts: ReaderFacts): ReplyReader
  openWriter(echo: Echo, facts: WriterFacts): ReplyWriter
  writeReply(reply: FoldedReply, echo: Echo, facts: WriterFacts): JsonObject
}

export interface ReadFacts {
  /** Opens marks of this gateway; null for anything else. */
  readonly openMark: (text: string) => JsonValue | null
  /** Where the request goes: seals of other origins cannot be opened there, and are left out. */
  readonly origin: string
  /** Types of tools that leave the request without a word, as the client was told elsewhere; null: none. */
  readonly toolsLeftOut: readonly string[] | null
}

/** A request whose calls and results stand side by side. */
export interface WritableRequest extends Omit<ConversationRequest, 'turns'> {
  readonly turns: readonly PairedTurn[]
}

export interface WriteFacts {
  /** The upstream's own name of the model. */
  readonly model: string
  /** For where this host wants things; what it does not take is left to the dialect's pass. */
  readonly dialect: Dialect
}

export interface WrittenRequest {
  readonly body: JsonObject
  /** Where the client wrote what stands in the message or item of this index, in its own notation. */
  readonly places: readonly string[]
}

export interface ReaderFacts {
  readonly usage: UsageFacts
  /** Pointer to a signature in a call of a chat reply; null: calls carry none. */
  readonly signaturePath: string | null
}

export interface WriterFacts {
  /** What the reply calls the model. */
  readonly clientModel: string
  /** Fresh id without prefix. */
  readonly newId: () => string
  /** When the reply began, in seconds since 1970. */
  readonly nowSeconds: number
  /** Seconds since 1970. */
  readonly clock: () => number
  /** Input tokens as they are counted here, for what is told before the upstream has said. */
  readonly countInputTokens: () => number
  /** Marks a seal for the way through a client of another format, with the lengths of the texts that it stands for. */
  readonly markSeal: (seal: Seal, lengths: readonly number[]) => string
  /** Marks anything else that is to come back. */
  readonly mark: (payload: JsonValue) => string
  /** What the upstream has reported so far; null: nothing. */
  readonly usageSoFar: () => TokenUsage | null
}
