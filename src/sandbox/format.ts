/** A chat format as the sandbox's server sees it; implemented in messages/, chat/ and responses/. */

import type { JsonObject } from './json.ts'
import type { ModelFacts, Prompt, ProviderError, ReplyPlan, StreamStep } from './model.ts'

/** Faults that all formats have in common. Each format has its own wording for them. */
export type FaultKind =
  | '400' | '401' | '403' | '404' | '413' | '429' | '500' | '502' | '503' | '529'
  | 'insufficient_quota' | 'json' // biome-ignore format: a plain list

export interface ReplyContext {
  readonly body: JsonObject
  readonly facts: ModelFacts
  /** The current time, in seconds since 1970. */
  readonly nowSeconds: number
}

export interface ErrorFormat {
  /** Name of the response header with the request id. */
  readonly requestIdHeader: string
  fault(kind: FaultKind): ProviderError
  modelNotFound(model: string): ProviderError
  errorBody(error: ProviderError, requestId: string): JsonObject
  /** Additional headers of an error response. */
  errorHeaders?(error: ProviderError): Readonly<Record<string, string>>
}

export interface WireFormat extends ErrorFormat {
  /** Whether the provider refuses calls without a `…-version` header. */
  readonly needsVersionHeader: boolean
  /** Throws ProviderError for what the provider would refuse. */
  check(body: JsonObject, facts: ModelFacts): void
  read(body: JsonObject, facts: ModelFacts): Prompt
  reply(plan: ReplyPlan, context: ReplyContext): JsonObject
  stream(plan: ReplyPlan, context: ReplyContext): Iterable<StreamStep>
  /** Content type of streams; by default server-sent events. */
  readonly streamContentType?: string
  /** The event that ends a stream when the provider fails in the middle of it. */
  errorEvent(): string | Buffer
}
