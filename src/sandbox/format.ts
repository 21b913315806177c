/** What a chat format of the sandbox offers to the server; one implementation in each of messages/, chat/, responses/. */

import type { JsonObject } from './json.ts'
import type { ModelFacts, Prompt, ProviderError, ReplyPlan, StreamStep } from './model.ts'

/** Faults that are the same everywhere and only worded by the format. */
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
  /** The header that carries the request id. */
  readonly requestIdHeader: string
  fault(kind: FaultKind): ProviderError
  modelNotFound(model: string): ProviderError
  errorBody(error: ProviderError, requestId: string): JsonObject
  /** Headers that come with an error beside the request id. */
  errorHeaders?(error: ProviderError): Readonly<Record<string, string>>
}

export interface WireFormat extends ErrorFormat {
  /** True when the provider refuses calls without a `…-version` header. */
  readonly needsVersionHeader: boolean
  /** Throws ProviderError on what the provider would refuse. */
  check(body: JsonObject, facts: ModelFacts): void
  read(body: JsonObject, facts: ModelFacts): Prompt
  reply(plan: ReplyPlan, context: ReplyContext): JsonObject
  stream(plan: ReplyPlan, context: ReplyContext): Iterable<StreamStep>
  /** Content type of `stream`; absent: server-sent events. */
  readonly streamContentType?: string
  /** Ends a stream that breaks down in the middle. */
  errorEvent(): string | Buffer
}
