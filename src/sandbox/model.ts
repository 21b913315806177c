/** Data passed between the parts of the sandbox: the parsed prompt and the planned reply. Neither depends on a wire format. */

import type { Json, JsonObject } from './json.ts'
import type { FoundWords } from './words.ts'

/** Facts about an upstream model. They are passed in, because the sandbox knows no model names. */
export interface ModelFacts {
  readonly reasoning: boolean
  /** Whether the model reasons unless told not to. */
  readonly reasonsByDefault?: boolean
  /** Whether the model leaves out the text of its reasoning unless asked for it. */
  readonly hidesReasoning?: boolean
  /** Whether a stream reports usage without being asked to. */
  readonly usageUnasked?: boolean
  readonly vision: boolean
  readonly tools: boolean
  /** Size of the context window, input and output together, in tokens; null: unknown. */
  readonly contextTokens: number | null
  /** Largest `max_tokens` that the model accepts; null: unknown. */
  readonly outputTokensMax: number | null
  /** What the model produces, and hence which endpoints serve it; by default, all endpoints do. */
  readonly kind?: 'chat' | 'image' | 'speech'
  /** A speech model's voices; defaults to the list in `speech/endpoint.ts`. */
  readonly voices?: readonly string[]
  /**
   * Reasoning efforts that chat completions accepts together with function tools. `refused`: only `none` or no effort.
   * `explicit_none`: only `none`. By default, any effort.
   */
  readonly effortBesideTools?: 'refused' | 'explicit_none'
  /** Whether chat completions accepts `top_k`, which is not a field of the format itself. */
  readonly topK?: boolean
  /**
   * The form of reasoning in the responses format. `sealed`: a summary, and encrypted content if requested. `text`: the
   * readable reasoning.
   */
  readonly reasoningItems?: 'sealed' | 'text'
  /**
   * What the model refuses: body fields such as `temperature` and `max_tokens`, or features such as `prefill` and `role:system`.
   */
  readonly refuses?: readonly string[]
}

export interface PromptImage {
  readonly mediaType: string
  /** Width in pixels. Like `height`, null for an image given by URL, which the sandbox never fetches. */
  readonly width: number | null
  readonly height: number | null
}

export interface OfferedTool {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly schema: Json
  /** Whether the tool takes plain text instead of arguments. */
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

/** Values found in the prompt, for schema properties that accept any value. Each is used once, first come, first served. */
export interface Hints {
  readonly strings: string[]
  readonly numbers: number[]
  /** Values for schema properties, by property name, at any depth. */
  readonly given?: ReadonlyMap<string, Json>
}

/** Reasoning tokens of a model that reasons without being told how much. */
export const DEFAULT_REASONING_TOKENS = 40

/** A prompt as the sandbox understands it, whichever format it came in. */
export interface Prompt {
  readonly model: string
  readonly facts: ModelFacts
  readonly systemText: string
  /** The user's own text in the last turn, without the client's additions; '' when there is no user turn. */
  readonly userText: string
  /** The part of `userText` that the reply responds to: the last text, or what the client has tagged as the user's request. */
  readonly request: string
  /** The working directory that the client mentions; null when it mentions none. */
  readonly directory: string | null
  /** Tool results in the last turn. */
  readonly outcomes: readonly ToolOutcome[]
  readonly turns: number
  readonly images: readonly PromptImage[]
  readonly documents: number
  readonly tools: readonly OfferedTool[]
  readonly toolChoice: ToolChoice
  readonly parallelCalls: boolean
  readonly outputForm: OutputForm
  /** Maximum number of reasoning tokens in the reply; 0 when none were requested. */
  readonly reasoningTokensMax: number
  /** Maximum number of output tokens, reasoning included; null: only the model's own limit applies. */
  readonly outputTokensMax: number | null
  readonly stopSequences: readonly string[]
  readonly inputTokens: number
  readonly words: FoundWords
}

export interface PlannedCall {
  readonly name: string
  /** Whether the input is plain text. */
  readonly freeform: boolean
  readonly input: Json
  /** The arguments as JSON, or the plain text. Truncated when `complete` is false. */
  readonly argumentsText: string
  readonly complete: boolean
}

export interface ReplyUsage {
  readonly inputTokens: number
  /** How many of the `inputTokens` are reported as read from the prompt cache. */
  readonly cachedTokens: number
  /** All output tokens, including reasoning. */
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
  /** False when the prompt asked for a reply that reports no usage. */
  readonly reportsUsage: boolean
}

/** A piece of a streamed reply: what goes over the wire, and how many tokens it stands for, which sets the pace. */
export interface StreamStep {
  readonly wire: string | Buffer
  readonly tokens: number
}

/** A refusal in the provider's own words. The format decides what its body looks like. */
export class ProviderError extends Error {
  readonly status: number
  readonly type: string
  readonly param: string | null
  readonly code: string | null
  readonly retryAfterSeconds: number | null
  /** Goes into `error.details` of the messages format. */
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

/** Builds a 400 error. `message` is in the provider's own words. */
export function invalid(message: string, extra: ProviderErrorExtra = {}): ProviderError {
  return new ProviderError(400, 'invalid_request_error', message, extra)
}
