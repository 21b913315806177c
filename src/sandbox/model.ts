/** Data passed between the rooms of the sandbox: a prompt as read, a reply as planned. Neither knows a wire format. */

import type { Json, JsonObject } from './json.ts'
import type { FoundWords } from './words.ts'

/** Facts about an upstream model; injected, because the sandbox knows no model names. */
export interface ModelFacts {
  readonly reasoning: boolean
  /** Reasons by default. */
  readonly reasonsByDefault?: boolean
  /** Omits the text of its reasoning unless requested. */
  readonly hidesReasoning?: boolean
  /** Sends a stream's usage unasked. */
  readonly usageUnasked?: boolean
  readonly vision: boolean
  readonly tools: boolean
  /** Context window for input and output together, in tokens; null: unknown. */
  readonly contextTokens: number | null
  /** Largest `max_tokens`; null: unknown. */
  readonly outputTokensMax: number | null
  /** Absent: served on every endpoint. */
  readonly kind?: 'chat' | 'image' | 'speech'
  /** A speech model's voices; absent: the usual ones. */
  readonly voices?: readonly string[]
  /** Chat: refuses an effort together with function tools; `explicit_none`: requires `none` with them. */
  readonly effortBesideTools?: 'refused' | 'explicit_none'
  /** Responses: the form of reasoning. sealed: a summary, and a seal if requested. text: as content. */
  readonly reasoningItems?: 'sealed' | 'text'
  /** Body fields that this model refuses (`temperature`, `max_tokens`), `prefill`, `role:system` and the like. */
  readonly refuses?: readonly string[]
}

export interface PromptImage {
  readonly mediaType: string
  /** In pixels; null for an image given by URL, which the sandbox never fetches. */
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

/** Values found in the prompt for free-form fields, consumed from the front. */
export interface Hints {
  readonly strings: string[]
  readonly numbers: number[]
  /** Values for properties of these names, wherever they occur. */
  readonly given?: ReadonlyMap<string, Json>
}

/** Reasoning tokens of a model that reasons without a given amount. */
export const DEFAULT_REASONING_TOKENS = 40

/** A prompt as the sandbox read it, from any format. */
export interface Prompt {
  readonly model: string
  readonly facts: ModelFacts
  readonly systemText: string
  /** The user's own text in the last turn, without the client's additions; '' without a user turn. */
  readonly userText: string
  /** The last of the user's texts: what the reply is about. */
  readonly request: string
  /** The working directory according to the client. */
  readonly directory: string | null
  /** Tool results in the last turn; empty when it has none. */
  readonly outcomes: readonly ToolOutcome[]
  readonly turns: number
  readonly images: readonly PromptImage[]
  readonly documents: number
  readonly tools: readonly OfferedTool[]
  readonly toolChoice: ToolChoice
  readonly parallelCalls: boolean
  readonly outputForm: OutputForm
  /** Most reasoning tokens; 0 when none were requested. */
  readonly reasoningTokensMax: number
  /** Most output tokens, reasoning included; null: the model's own limit. */
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
  /** The arguments as JSON, or the plain text; truncated when `complete` is false. */
  readonly argumentsText: string
  readonly complete: boolean
}

export interface ReplyUsage {
  readonly inputTokens: number
  /** Part of `inputTokens` reported as coming from the prompt cache. */
  readonly cachedTokens: number
  /** Reasoning included. */
  readonly outputTokens: number
  readonly reasoningTokens: number
}

export type StopCause = 'end' | 'length' | 'stop_sequence' | 'tool_calls' | 'refusal'

/** A planned reply, in no particular format. */
export interface ReplyPlan {
  readonly reasoning: string
  readonly text: string
  readonly calls: readonly PlannedCall[]
  readonly stop: StopCause
  readonly stopSequence: string | null
  readonly usage: ReplyUsage
  /** False when the prompt asked for a reply without usage. */
  readonly reportsUsage: boolean
}

/** A piece of a streamed reply: text for the wire, and its number of tokens, for the pace. */
export interface StreamStep {
  readonly wire: string | Buffer
  readonly tokens: number
}

/** A refusal in the provider's own words; the format determines the body. */
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
