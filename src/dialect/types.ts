/** What the dialect's pass is told of a call, and what it says of its reply. */

import type { ToolNames } from '../conversation/names.ts'
import type { ReasoningRequest, StructureRequest } from '../conversation/request.ts'
import type { Dialect } from '../generated/types.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'

/** The body is the client's own, or one that a format's writer made of a client's in another format. */
export type Road = 'same' | 'converted'

export interface DialectFacts {
  readonly dialect: Dialect
  readonly road: Road
  /** The model takes images. */
  readonly hasVision: boolean
  /** The model's limit for one reply, in tokens; null: none is known. */
  readonly outputTokensMax: number | null
  /** Input and output together, in tokens; null: unknown. */
  readonly contextTokens: number | null
  /** Rough: how much room the output has. */
  readonly inputTokensEstimate: number
  /** Cap on the output for a body that has none, in tokens; null: what the wallet affords is no matter. */
  readonly outputTokensAfforded: number | null
  /** What the client asks of the model's reasoning, as the reader of its format says. */
  readonly reasoning: ReasoningRequest
  /** The JSON reply that the client asks for; null: text. */
  readonly structure: StructureRequest | null
  /** Beta flags that the client sent (messages format), in order. */
  readonly betas: readonly string[]
  /** How the client's format calls the field that holds stop sequences. */
  readonly stopField: string
  /** Where the client wrote what stands in the message or item of this index, in its own notation. */
  readonly place: (index: number) => string
  /** Opens marks of this gateway; null for anything else. */
  readonly openMark: (text: string) => JsonValue | null
}

/** Marks for a provider's cache leave the request. A client that writes the upstream's own format means what it marks. */
export function dropsMarks({ dialect, road }: DialectFacts): boolean {
  return road === 'converted' && dialect.content.cacheControl === 'drop'
}

/** What must be undone in the reply. A call of which nothing need be undone has `NOTHING_TO_UNDO` itself. */
export interface ReplyFacts {
  /** Tools that went upstream under other names than the client's; null: all kept theirs. */
  readonly names: ToolNames | null
  /** Name of the tool, as it went upstream, whose input is the reply; null: none. Converted calls only. */
  readonly replyTool: string | null
  /** The text may come wrapped in a code fence. */
  readonly unwrapsFence: boolean
  /** The text begins with its reasoning in this tag; null: it does not. */
  readonly tag: string | null
  /** The client did not ask for the usage chunk of a chat stream that comes. */
  readonly hidesUsageChunk: boolean
}

export const NOTHING_TO_UNDO: ReplyFacts = {
  names: null,
  replyTool: null,
  unwrapsFence: false,
  tag: null,
  hidesUsageChunk: false,
}

export interface Adapted {
  /** Unchanged parts are those of the given body; the given body itself where nothing changes. */
  readonly body: JsonObject
  /** Beta flags to send, by the upstream's names. */
  readonly betas: readonly string[]
  readonly reply: ReplyFacts
}

/** The pass of one wire. Throws GatewayError `invalid_request` for what the model does not take and nothing can stand for. */
export type Adapt = (body: JsonObject, facts: DialectFacts) => Adapted
