/** Input and output of the dialect's passes. */

import type { ToolNames } from '../conversation/names.ts'
import type { ReasoningRequest, StructureRequest } from '../conversation/request.ts'
import type { Dialect } from '../generated/types.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'

/** `same`: the client's own body. `converted`: a body that was converted from another format. */
export type Road = 'same' | 'converted'

export interface DialectFacts {
  readonly dialect: Dialect
  readonly road: Road
  /** The model accepts images. */
  readonly hasVision: boolean
  /** The model's limit per reply, in tokens; null: unknown. */
  readonly outputTokensMax: number | null
  /** The model's limit for input and output together, in tokens; null: unknown. */
  readonly contextTokens: number | null
  /** A rough estimate, for working out how much room the output has. */
  readonly inputTokensEstimate: number
  /** Output cap in tokens for a body without one; null: the wallet sets no limit. */
  readonly outputTokensAfforded: number | null
  /** The client's reasoning request, as its format's reader understood it. */
  readonly reasoning: ReasoningRequest
  /** The JSON reply that the client requests; null: text. */
  readonly structure: StructureRequest | null
  /** Beta flags that the client sent (messages format), in order. */
  readonly betas: readonly string[]
  /** Name of the client format's field for stop sequences. */
  readonly stopField: string
  /** For an index of a message or item: the path of its source in the client's body, in the client's notation. */
  readonly place: (index: number) => string
  /** Opens marks issued by this gateway; null for anything else. */
  readonly openMark: (text: string) => JsonValue | null
}

/** Whether cache markers are removed from the request. Clients of the same format always keep theirs. */
export function dropsMarks({ dialect, road }: DialectFacts): boolean {
  return road === 'converted' && dialect.content.cacheControl === 'drop'
}

/** What must be undone in the reply. `NOTHING_TO_UNDO` itself if there is nothing. */
export interface ReplyFacts {
  /** Tools that were renamed for the upstream; null: none were. */
  readonly names: ToolNames | null
  /** Upstream name of the tool whose input is the reply; null: none. Converted calls only. */
  readonly replyTool: string | null
  /** The text may come in a code fence. */
  readonly unwrapsFence: boolean
  /** The text starts with reasoning in this tag; null: it does not. */
  readonly tag: string | null
  /** The gateway requested a usage chunk that the client did not. */
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
  /** Shares unchanged parts with the given body; the given body itself if nothing changes. */
  readonly body: JsonObject
  /** Beta flags to send, in the upstream's names. */
  readonly betas: readonly string[]
  readonly reply: ReplyFacts
}

/**
 * The pass for one wire. Throws GatewayError `invalid_request` for what the model does not accept and nothing can
 * replace.
 */
export type Adapt = (body: JsonObject, facts: DialectFacts) => Adapted
