/**
 * A request in format-neutral form: what every format's reader produces and every format's writer accepts. Anything
 * that only one format can express is left out, so that no unknown key slips through.
 */

import type { JsonObject } from '../lib/json.ts'
import type { Seal } from './seal.ts'

export interface TextPart {
  readonly kind: 'text'
  readonly text: string
  readonly cacheControl?: JsonObject
}

export type ImageSource =
  | { readonly type: 'base64'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'url'; readonly url: string }

export interface ImagePart {
  readonly kind: 'image'
  readonly source: ImageSource
  readonly cacheControl?: JsonObject
}

/** A PDF. Text documents become text parts. */
export interface DocumentPart {
  readonly kind: 'document'
  readonly source:
    | { readonly type: 'base64'; readonly mediaType: string; readonly data: string }
    | { readonly type: 'url'; readonly url: string }
  /** File name or title; '' if none was given. */
  readonly title: string
  /** Path in the client's request, for refusals. */
  readonly place: string
  readonly cacheControl?: JsonObject
}

/** Reasoning of an earlier reply. */
export interface ReasoningPart {
  readonly kind: 'reasoning'
  /** The original pieces of text; empty if the reasoning was not shown. */
  readonly texts: readonly string[]
  /** The seal that the provider needs back; null if there is none, or if it is another provider's. */
  readonly seal: Seal | null
}

/** Marks removed content that no other provider can use, so that its neighbours are not merged. */
export interface GapPart {
  readonly kind: 'gap'
}

export interface CallPart {
  readonly kind: 'call'
  /** The id as the client wrote it; '' when missing. */
  readonly id: string
  /** The name in the tool's definition. */
  readonly name: string
  readonly input: JsonObject
  /** Signature that the provider needs back with the call; null without one. */
  readonly signature: string | null
}

export type ResultContent = TextPart | ImagePart | DocumentPart

export interface ResultPart {
  readonly kind: 'result'
  /** Id of the call that it answers; '' if the format only names the function. */
  readonly id: string
  /** Name of the function if that is the only reference; else ''. */
  readonly name: string
  readonly content: readonly ResultContent[]
  readonly isError: boolean
  /** Path in the client's request, for refusals. */
  readonly place: string
  readonly cacheControl?: JsonObject
}

export type ContentPart = TextPart | ImagePart | DocumentPart | ReasoningPart | GapPart | CallPart | ResultPart

export interface Turn {
  readonly role: 'system' | 'user' | 'assistant'
  readonly parts: readonly ContentPart[]
  /** Path in the client's request, for refusals. */
  readonly place: string
}

/** A function that the model may call. */
export interface ToolDefinition {
  /** Unique within the request. */
  readonly name: string
  readonly description: string | null
  readonly schema: JsonObject
  readonly strict: boolean
  readonly cacheControl?: JsonObject
  /**
   * Set if the client defined a free-form tool. `schema` then has a single string, `input`, and the outer `description`
   * includes the grammar; the one in here does not. Absent: a function.
   */
  readonly freeform?: { readonly format: JsonObject | null; readonly description: string | null }
}

export type ToolChoice = { readonly mode: 'auto' | 'none' | 'any' } | { readonly mode: 'tool'; readonly name: string }

export interface ToolRequest {
  readonly definitions: readonly ToolDefinition[]
  /** Null: not specified. */
  readonly choice: ToolChoice | null
  /** The client forbids parallel calls. */
  readonly oneCallOnly: boolean
}

/** A JSON reply requested by the client. */
export type StructureRequest =
  | { readonly kind: 'schema'; readonly name: string; readonly schema: JsonObject; readonly strict: boolean }
  | { readonly kind: 'object' }

export type EffortLevel = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** What a client asks of the model's reasoning. */
export interface ReasoningRequest {
  /** Reasoning on or off; null: not specified. */
  readonly wanted: boolean | null
  /** Never `none`: that is `wanted: false`. */
  readonly effort: Exclude<EffortLevel, 'none'> | null
  readonly budgetTokens: number | null
  /** Whether the client wants to see the reasoning, if its format has a field for that; null: not specified. */
  readonly shown: boolean | null
}

/** Sampling parameters under their usual names; null: not given. */
export interface SamplingRequest {
  readonly temperature: number | null
  readonly topP: number | null
  readonly topK: number | null
}

export interface ConversationRequest {
  /** The turns as the client wrote them: not paired or merged yet. */
  readonly turns: readonly Turn[]
  readonly tools: ToolRequest
  readonly structure: StructureRequest | null
  readonly reasoning: ReasoningRequest
  readonly sampling: SamplingRequest
  /** The stop sequences, without blank ones and duplicates. */
  readonly stopSequences: readonly string[]
  /** The client's output cap, in tokens; null: none. */
  readonly outputTokensMax: number | null
  /** The client's id of its own end user; null: none. */
  readonly endUser: string | null
  /** Key with which calls of one conversation share the provider's cache; null: none. */
  readonly cacheKey: string | null
  /** How long the reply should be: `low`, `medium`, `high`; null: not specified. */
  readonly verbosity: string | null
  /** The client explicitly requests the provider's automatic service tier. */
  readonly tierIsAuto: boolean
  readonly streamed: boolean
  /** Refusals in the terms of the client's format. */
  readonly words: ClientWords
}

/**
 * How a format refers to its own fields when a request is refused. Each refusal throws GatewayError `invalid_request`.
 */
export interface ClientWords {
  /** Calls of this turn have no results. */
  missing(turn: Turn, ids: readonly string[]): never
  /** A result matches no call. */
  orphan(result: ResultPart): never
  /** Name of the field for stop sequences. */
  readonly stopField: string
}
