/** Types for adapting a request to a dialect: the facts that go in, and the adapted body that comes out. */

import type { ToolNames } from '../conversation/names.ts'
import type { ReasoningRequest, StructureRequest } from '../conversation/request.ts'
import type { Dialect } from '../generated/types.ts'
import type { JsonObject, JsonValue } from '../lib/json.ts'

/** `same`: the client's own body. `converted`: a body that was converted from another format. */
export type FormatPath = 'same' | 'converted'

export interface DialectFacts {
  readonly dialect: Dialect
  readonly formatPath: FormatPath
  readonly hasVision: boolean
  /** The model's output limit in tokens; null: unknown. */
  readonly outputTokensMax: number | null
  /** The model's limit for input and output together, in tokens; null: unknown. */
  readonly contextTokens: number | null
  /** Rough estimate of the input tokens, to find out how much of the context is left for output. */
  readonly inputTokensEstimate: number
  /**
   * If the wallet cannot pay for the usual output cap, the lower cap that it can pay for, in tokens; used if the body sets no
   * cap. Otherwise null.
   */
  readonly outputTokensAfforded: number | null
  /** The client's reasoning settings, as read by its format. */
  readonly reasoning: ReasoningRequest
  /** The JSON reply that the client requests; null: it requests text. */
  readonly structure: StructureRequest | null
  /** Beta flags that the client sent (messages format only), in order. */
  readonly betas: readonly string[]
  /** Name of the client format's field for stop sequences. */
  readonly stopField: string
  /**
   * Returns the path of the `index`-th message or item in the client's original body, for error messages, in the notation of
   * the client's format.
   */
  readonly place: (index: number) => string
  /** Returns the content of an envelope that this gateway issued (see `conversation/envelope.ts`); null for any other text. */
  readonly openEnvelope: (text: string) => JsonValue | null
}

/** Whether cache breakpoints are removed from the request. Clients of the same format always keep theirs. */
export function dropsCacheBreakpoints({ dialect, formatPath }: DialectFacts): boolean {
  return formatPath === 'converted' && dialect.content.cacheControl === 'drop'
}

/** Changes to undo in the reply. If there are none, this is the constant `NOTHING_TO_UNDO`. */
export interface ReplyFacts {
  /** The map of tools that were renamed for the upstream; null if none were. */
  readonly names: ToolNames | null
  /**
   * Upstream name of the tool that makes the model reply in JSON: its call's input is the reply. Null if there is none; only
   * used in converted calls.
   */
  readonly replyTool: string | null
  /** Whether the text may be in a code fence, which must be removed. */
  readonly unwrapsFence: boolean
  /** Name of the tag that encloses reasoning at the start of the text; null: none. */
  readonly tag: string | null
  /** Whether to hide the usage chunk, because the gateway requested it and the client did not. */
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
  /** The adapted body, which shares unchanged parts with the given body. If nothing changes, it is the given body. */
  readonly body: JsonObject
  /** Beta flags to send, as the upstream names them. */
  readonly betas: readonly string[]
  readonly reply: ReplyFacts
}

/**
 * Adapts a body; each wire (upstream format) has its own function. Throws GatewayError `invalid_request` for content that the
 * model does not accept and that nothing can replace.
 */
export type Adapt = (body: JsonObject, facts: DialectFacts) => Adapted
