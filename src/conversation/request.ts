/**
 * A request in no format: what every format's reader makes and every format's writer takes. What one format cannot say has
 * no place here, so that no unknown key slips through.
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

/** A PDF; text documents are read as text. */
export interface DocumentPart {
  readonly kind: 'document'
  readonly source:
    | { readonly type: 'base64'; readonly mediaType: string; readonly data: string }
    | { readonly type: 'url'; readonly url: string }
  /** File name or title; '' where none was given. */
  readonly title: string
  /** Place in the request, for refusals. */
  readonly place: string
  readonly cacheControl?: JsonObject
}

/** Reasoning of an earlier reply. */
export interface ReasoningPart {
  readonly kind: 'reasoning'
  /** In the pieces that it came in; none where it was not shown. */
  readonly texts: readonly string[]
  /** What its provider wants back with it; null without one, and for one that is not ours to open. */
  readonly seal: Seal | null
}

/** Something stood here that no other provider can use: what is around it does not belong together. */
export interface GapPart {
  readonly kind: 'gap'
}

export interface CallPart {
  readonly kind: 'call'
  /** As the client wrote it; '' when missing. */
  readonly id: string
  /** By the name of its definition. */
  readonly name: string
  readonly input: JsonObject
  /** Signature that a provider wants back with the call; null without one. */
  readonly signature: string | null
}

export type ResultContent = TextPart | ImagePart | DocumentPart

export interface ResultPart {
  readonly kind: 'result'
  /** Id of the call that it answers; '' when the format names the function only. */
  readonly id: string
  /** Name of the function, where that is all there is; else ''. */
  readonly name: string
  readonly content: readonly ResultContent[]
  readonly isError: boolean
  /** Place in the request, for refusals. */
  readonly place: string
  readonly cacheControl?: JsonObject
}

export type ContentPart = TextPart | ImagePart | DocumentPart | ReasoningPart | GapPart | CallPart | ResultPart

export interface Turn {
  readonly role: 'system' | 'user' | 'assistant'
  readonly parts: readonly ContentPart[]
  /** Place in the request, for refusals. */
  readonly place: string
}

/** A function that the model may call. */
export interface ToolDefinition {
  /** Unique in its request. */
  readonly name: string
  readonly description: string | null
  readonly schema: JsonObject
  readonly strict: boolean
  readonly cacheControl?: JsonObject
  /**
   * The tool is free-form for the client: `schema` has one text, `input`, and `description` holds the grammar too, which
   * the one in here does not. Absent: a function.
   */
  readonly freeform?: { readonly format: JsonObject | null; readonly description: string | null }
}

export type ToolChoice = { readonly mode: 'auto' | 'none' | 'any' } | { readonly mode: 'tool'; readonly name: string }

export interface ToolRequest {
  readonly definitions: readonly ToolDefinition[]
  /** null: the request does not say. */
  readonly choice: ToolChoice | null
  /** The client forbids several calls in one turn. */
  readonly oneCallOnly: boolean
}

/** A JSON reply that the client asks for. */
export type StructureRequest =
  | { readonly kind: 'schema'; readonly name: string; readonly schema: JsonObject; readonly strict: boolean }
  | { readonly kind: 'object' }

export type EffortLevel = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** What a client asks of the model's reasoning. */
export interface ReasoningRequest {
  /** null: the request does not say whether to reason. */
  readonly wanted: boolean | null
  /** Never `none`: that is `wanted: false`. */
  readonly effort: Exclude<EffortLevel, 'none'> | null
  readonly budgetTokens: number | null
  /** The client asks to be shown what is reasoned, where the format lets it say so; null: it does not say. */
  readonly shown: boolean | null
}

/** Parameters by the names that most formats give them; null: not given. */
export interface SamplingRequest {
  readonly temperature: number | null
  readonly topP: number | null
  readonly topK: number | null
}

export interface ConversationRequest {
  /** As the client wrote them: not yet paired, nothing merged. */
  readonly turns: readonly Turn[]
  readonly tools: ToolRequest
  readonly structure: StructureRequest | null
  readonly reasoning: ReasoningRequest
  readonly sampling: SamplingRequest
  /** Not blank, each once. */
  readonly stopSequences: readonly string[]
  /** The client's cap on the output, in tokens; null: none. */
  readonly outputTokensMax: number | null
  /** Id of the client's own end user; null: none. */
  readonly endUser: string | null
  /** Key by which calls of one conversation share a provider's cache; null: none. */
  readonly cacheKey: string | null
  /** How much the model is to say: `low`, `medium`, `high`; null: the request does not say. */
  readonly verbosity: string | null
  /** The provider's own choice of a service tier is asked for in words. */
  readonly tierIsAuto: boolean
  readonly streamed: boolean
  /** Words of the client's format for what it refuses itself; names of fields for refusals. */
  readonly words: ClientWords
}

/** How a format speaks of its own fields where a request must be refused. Each refusal throws GatewayError `invalid_request`. */
export interface ClientWords {
  /** Calls of this turn have no results. */
  missing(turn: Turn, ids: readonly string[]): never
  /** A result answers no call. */
  orphan(result: ResultPart): never
  /** Name of the field that holds stop sequences. */
  readonly stopField: string
}
