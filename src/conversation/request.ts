/**
 * A request in format-neutral form, which every format's reader produces and every format's writer accepts. It has no fields
 * for features of a single format, nor for unknown fields, so conversion never passes these on.
 */

import type { JsonObject } from '../lib/json.ts'
import type { Seal } from './envelope.ts'

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
  /** How closely the model should look at the image; absent if the client leaves that to the model. */
  readonly detail?: ImageDetail
  readonly cacheControl?: JsonObject
}

/** The messages format has no such field, and only the responses format knows `original`. */
export type ImageDetail = 'low' | 'high' | 'original'

/** A PDF. Text documents become text parts. */
export interface DocumentPart {
  readonly kind: 'document'
  readonly source:
    | { readonly type: 'base64'; readonly mediaType: string; readonly data: string }
    | { readonly type: 'url'; readonly url: string }
  /** File name or title; '' if none was given. */
  readonly title: string
  /** The document's path in the client's request, for error messages. */
  readonly place: string
  readonly cacheControl?: JsonObject
}

/** Reasoning from an earlier reply. */
export interface ReasoningPart {
  readonly kind: 'reasoning'
  /** The original pieces of text; empty if the provider did not show the reasoning. */
  readonly texts: readonly string[]
  /**
   * The signature or encrypted reasoning that the provider needs back; null if there is none, or if another provider issued it.
   */
  readonly seal: Seal | null
}

/** Marks removed content that no other provider could use, so that the parts before and after it are not merged. */
export interface GapPart {
  readonly kind: 'gap'
}

export interface CallPart {
  readonly kind: 'call'
  /** The call's id as the client wrote it; '' if missing. */
  readonly id: string
  /** The name given in the tool's definition. */
  readonly name: string
  readonly input: JsonObject
  /** Signature that the provider needs back with the call; null if there is none. */
  readonly signature: string | null
}

export type ResultContent = TextPart | ImagePart | DocumentPart

export interface ResultPart {
  readonly kind: 'result'
  /** Id of the call that this result answers; '' if the format only names the function. */
  readonly id: string
  /** Name of the function if the result does not give a call id; else ''. */
  readonly name: string
  readonly content: readonly ResultContent[]
  readonly isError: boolean
  /** The result's path in the client's request, for error messages. */
  readonly place: string
  readonly cacheControl?: JsonObject
}

export type ContentPart = TextPart | ImagePart | DocumentPart | ReasoningPart | GapPart | CallPart | ResultPart

export interface Turn {
  readonly role: 'system' | 'user' | 'assistant'
  readonly parts: readonly ContentPart[]
  /** The turn's path in the client's request, for error messages. */
  readonly place: string
}

export interface ToolDefinition {
  readonly name: string
  readonly description: string | null
  readonly schema: JsonObject
  readonly strict: boolean
  readonly cacheControl?: JsonObject
  /**
   * Set if the client defined a free-form tool, which is sent as a function with a single string parameter, `input`. Absent for
   * a function. The `description` of the function includes the tool's grammar; the `description` here does not.
   */
  readonly freeform?: { readonly format: JsonObject | null; readonly description: string | null }
}

export type ToolChoice = { readonly mode: 'auto' | 'none' | 'any' } | { readonly mode: 'tool'; readonly name: string }

export interface ToolRequest {
  readonly definitions: readonly ToolDefinition[]
  /** Null if the client did not specify a choice. */
  readonly choice: ToolChoice | null
  /** Whether the client forbids parallel calls. */
  readonly oneCallOnly: boolean
}

/** The JSON reply that the client requests. */
export type StructureRequest =
  | {
      readonly kind: 'schema'
      readonly name: string
      /** What the reply is for; null if the client does not say. */
      readonly description: string | null
      readonly schema: JsonObject
      readonly strict: boolean
    }
  | { readonly kind: 'object' }

export type EffortLevel = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | 'max'

/** A client's settings for the model's reasoning. */
export interface ReasoningRequest {
  /** Whether the model should reason; null if the client does not say. */
  readonly wanted: boolean | null
  /** Never `none`, which becomes `wanted: false`. */
  readonly effort: Exclude<EffortLevel, 'none'> | null
  readonly budgetTokens: number | null
  /** Whether the client wants to see the reasoning; null if it does not say, or its format has no field for that. */
  readonly shown: boolean | null
}

/** Sampling parameters under their usual names; null if not given. */
export interface SamplingRequest {
  readonly temperature: number | null
  readonly topP: number | null
  readonly topK: number | null
}

export interface ConversationRequest {
  /** The turns as the client sent them. Calls are not paired with their results yet, nor adjacent turns merged. */
  readonly turns: readonly Turn[]
  readonly tools: ToolRequest
  readonly structure: StructureRequest | null
  readonly reasoning: ReasoningRequest
  readonly sampling: SamplingRequest
  /** The stop sequences, without blank and duplicate ones. */
  readonly stopSequences: readonly string[]
  /** The client's limit on output tokens; null if there is none. */
  readonly outputTokensMax: number | null
  /** The client's identifier of its end user; null if there is none. */
  readonly endUser: string | null
  /** Prompt cache key, which makes the calls of a conversation share the provider's cache; null if there is none. */
  readonly cacheKey: string | null
  /** Desired length of the reply, `low`, `medium` or `high`; null if the client does not say. */
  readonly verbosity: string | null
  /** Whether the client explicitly requests the provider's automatic service tier. */
  readonly tierIsAuto: boolean
  readonly streamed: boolean
  /** Reports the conversation's errors with the field names and wording of the client's format. */
  readonly clientErrors: ClientErrors
}

/**
 * Reports invalid requests with the field names and wording of the client's format. The methods throw GatewayError
 * `invalid_request`.
 */
export interface ClientErrors {
  /** Reports calls in this turn that have no results. */
  missing(turn: Turn, ids: readonly string[]): never
  /** Reports a result that matches no call. */
  orphan(result: ResultPart): never
  /** Whether a call may have several results, one after the other. */
  readonly allowsRepeatedResults: boolean
  readonly stopField: string
}
