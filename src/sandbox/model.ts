/** What the rooms of the sandbox hand to each other: a prompt understood, a reply planned. Neither knows a wire format. */

import type { Json, JsonObject } from './json.ts'
import type { FoundWords } from './words.ts'

/** What the sandbox must know of an upstream model; injected, because the sandbox knows no names. */
export interface ModelFacts {
  readonly reasoning: boolean
  /** Reasons when the request does not say. */
  readonly reasonsByDefault?: boolean
  /** Leaves the text of its reasoning out unless the request asks for it. */
  readonly hidesReasoning?: boolean
  /** Sends the usage of a stream without being asked. */
  readonly usageUnasked?: boolean
  readonly vision: boolean
  readonly tools: boolean
  /** Window of input and output together, in tokens; null: no limit known. */
  readonly contextTokens: number | null
  /** Largest `max_tokens`; null: no limit known. */
  readonly outputTokensMax: number | null
  /** Absent: served on every endpoint. */
  readonly kind?: 'chat' | 'image' | 'speech'
  /** Voices of a speech model; absent: the usual ones. */
  readonly voices?: readonly string[]
  /** Chat: refuses an effort beside function tools; `explicit_none`: wants `none` beside them. */
  readonly effortBesideTools?: 'refused' | 'explicit_none'
  /** Responses: how reasoning comes and goes back. sealed: a summary, and a seal where one is asked for. text: as a content. */
  readonly reasoningItems?: 'sealed' | 'text'
  /** Names of body fields that this model refuses (`temperature`, `max_tokens`), `prefill`, and `role:system` and its like. */
  readonly refuses?: readonly string[]
}

export interface PromptImage {
  readonly mediaType: string
  /** Pixels; null for an image given by its address, which the sandbox never fetches. */
  readonly width: number | null
  readonly height: number | null
}

export interface OfferedTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly schema: Json
  /** Takes plain text instead of arguments. */
  readonly freeform: boolean
}

export interface ToolOutcome {
  readonly toolName: string
  readonly text: string
  readonly failed: boolean
}

export type ToolChoice = { readonly kind: 'auto' | 'any' | 'none' } | { readonly kind: 'tool'; readonly name: string }

export type OutputForm =
  | { readonly kind: 'text' }
  | { readonly kind: 'object' }
  | { readonly kind: 'schema'; readonly schema: Json }

/** Values found in the prompt that free-form fields are filled with, used up from the front. */
export interface Hints {
  readonly strings: string[]
  readonly numbers: number[]
  /** Values that properties of these names take, wherever they stand. */
  readonly given?: ReadonlyMap<string, Json>
}

/** Reasoning of a model that reasons without being told how much. */
export const DEFAULT_REASONING_TOKENS = 40

/** A prompt as the sandbox understood it, whatever format it came in. */
export interface Prompt {
  readonly model: string
  readonly facts: ModelFacts
  readonly systemText: string
  /** What the user wrote in the last turn, without what the client added to it; '' without a user turn. */
  readonly userText: string
  /** The last text of it: what the reply is about. */
  readonly request: string
  /** Where the client says it works. */
  readonly directory: string | null
  /** Tool results of the last turn; empty when the last turn is not one of results. */
  readonly outcomes: readonly ToolOutcome[]
  readonly turns: number
  readonly images: readonly PromptImage[]
  readonly documents: number
  readonly tools: readonly OfferedTool[]
  readonly toolChoice: ToolChoice
  readonly parallelCalls: boolean
  readonly outputForm: OutputForm
  /** Tokens of reasoning at most; 0 when none was asked for. */
  readonly reasoningTokensMax: number
  /** Tokens of output at most, reasoning included; null: the model's own limit. */
  readonly outputTokensMax: number | null
  readonly stopSequences: readonly string[]
  readonly inputTokens: number
  readonly words: FoundWords
}

export interface PlannedCall {
  readonly name: string
  /** The input is plain text. */
  readonly freeform: boolean
  readonly input: Json
  /** The arguments as JSON text, or the plain text; cut short when `complete` is false. */
  readonly argumentsText: string
  readonly complete: boolean
}

export interface ReplyUsage {
  readonly inputTokens: number
  /** Part of `inputTokens` that is said to come from the prompt cache. */
  readonly cachedTokens: number
  /** Reasoning included. */
  readonly outputTokens: number
  readonly reasoningTokens: number
}

export type StopCause = 'end' | 'length' | 'stop_sequence' | 'tool_calls' | 'refusal'

/** A reply, whatever format it leaves in. */
export interface ReplyPlan {
  readonly reasoning: string
  readonly text: string
  readonly calls: readonly PlannedCall[]
  readonly stop: StopCause
  readonly stopSequence: string | null
  readonly usage: ReplyUsage
  /** False when the prompt asked for a reply without usage figures. */
  readonly reportsUsage: boolean
}

/** One piece of a streamed reply: text for the wire, and the tokens that it stands for (for the pace). */
export interface StreamStep {
  readonly wire: string | Buffer
  readonly tokens: number
}

/** A refusal in the provider's own words; the format decides on the body. */
export class ProviderError extends Error {
  readonly status: number
  readonly type: string
  readonly param: string | null
  readonly code: string | null
  readonly retryAfterSeconds: number | null
  /** Machine-readable `error.details` of the messages format. */
  readonly details: JsonObject | null

  constructor(status: number, type: string, message: string, extra: ProviderErrorExtra = {}) {
    super(message)
    this.status = status
    this.type = type
    this.param = extra.param ?? null
    this.code = extra.code ?? null
    this.retryAfterSeconds = extra.retryAfterSeconds ?? null
    this.details = extra.details ?? null
  }
}

interface ProviderErrorExtra {
  readonly param?: string | null
  readonly code?: string | null
  readonly retryAfterSeconds?: number | null
  readonly details?: JsonObject | null
}

/** A 400 in the provider's own words. */
export function invalid(message: string, extra: ProviderErrorExtra = {}): ProviderError {
  return new ProviderError(400, 'invalid_request_error', message, extra)
}
