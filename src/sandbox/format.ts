/** A chat format of the sandbox as the server sees it; implemented in messages/, chat/ and responses/. */

import type { JsonObject } from './json.ts'
import type { ModelFacts, Prompt, ProviderError, ReplyPlan, StreamStep } from './model.ts'

/** Faults common to all formats, worded by each. */
export type FaultKind =
  | '400' | '401' | '403' | '404' | '413' | '429' | '500' | '502' | '503' | '529'
  | 'insufficient_quota' | 'json' // biome-ignore format: a plain list

export interface ReplyContext {
  readonly body: JsonObject
  readonly facts: ModelFacts
  /** Seconds since 1970. */
  readonly nowSeconds: number
}

export interface ErrorFormat {
  /** Name of the header with the request id. */
  readonly requestIdHeader: string
  fault(kind: FaultKind): ProviderError
  modelNotFound(model: string): ProviderError
  errorBody(error: ProviderError, requestId: string): JsonObject
  /** Headers of an error, besides the request id. */
  errorHeaders?(error: ProviderError): Readonly<Record<string, string>>
}

export interface WireFormat extends ErrorFormat {
  /** True when the provider refuses calls without a `…-version` header. */
  readonly needsVersionHeader: boolean
  /** Throws ProviderError for what the provider would refuse. */
  check(body: JsonObject, facts: ModelFacts): void
  read(body: JsonObject, facts: ModelFacts): Prompt
  reply(plan: ReplyPlan, context: ReplyContext): JsonObject
  stream(plan: ReplyPlan, context: ReplyContext): Iterable<StreamStep>
  /** Content type of `stream`; absent: server-sent events. */
  readonly streamContentType?: string
  /** Ends a stream that fails in the middle. */
  errorEvent(): string | Buffer
}
