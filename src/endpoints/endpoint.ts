/** Everything about an endpoint in one record, read by routes, runner, OpenAPI, pages and traces. */

import type { EndpointFacts } from '../catalogue/endpoints.ts'
import type { GatewayError } from '../errors.ts'
import type { Endpoint } from '../generated/types.ts'
import type { RouteFacts } from '../lib/route.ts'
import type { HeaderMap, Services } from '../pipeline/call.ts'
import type { CallKind } from '../pipeline/call-kind.ts'

/**
 * What an operation of the API takes and returns. Examples name no model; the description fills in one that is served.
 */
export interface Operation {
  readonly summary: string
  readonly description: string
  /** Names of schemas. */
  readonly request: string | null
  readonly reply: string | null
  /** Content type of the request besides JSON. */
  readonly requestType?: string
  /** Content type of a reply that is not JSON. */
  readonly replyType?: string
  readonly streams?: true
  /** Charged when it succeeds. */
  readonly billed: boolean
  /** Endpoint whose models the example may name; absent: messages. */
  readonly endpoint?: Endpoint
  readonly example?: Readonly<Record<string, unknown>>
}

/** A route of the API. */
export interface ApiRoute extends RouteFacts {
  /** Its operation id in OpenAPI, for listed routes. */
  readonly operationId?: string
  readonly operation?: Operation
}

/** An endpoint that runs a model: every call has a bill and a usage row. */
export interface ModelEndpoint extends EndpointFacts, ApiRoute {
  readonly method: 'POST'
  readonly authentication: 'key'
  readonly name: Endpoint
  readonly operationId: string
  readonly operation: Operation
  /** The operation's name in traces (OpenTelemetry, semantic conventions for generative AI, read 2026-11). */
  readonly traced: { readonly operation: 'chat' | 'generate_content'; readonly output: 'image' | 'speech' | null }
  /** Events carry an `event:` line; so do errors. */
  readonly namedEvents: boolean
  /** The `error.code` of its answers, where the format's clients react to codes of their own; absent: ours. */
  readonly codeOf?: (error: GatewayError) => string
  /** How its calls are read, funded, sent and billed. */
  readonly kind: CallKind
}

export const EXAMPLE_GREETING = 'Xin chào'

/** An endpoint that runs no model: free, even with an empty balance, and not logged as usage. */
export interface FreeEndpoint extends ApiRoute {
  readonly method: 'POST'
  readonly authentication: 'key'
  /** Rejects with GatewayError. */
  answer(services: Pick<Services, 'catalogue' | 'limits'>, body: Buffer): Promise<FreeAnswer>
}

export interface FreeAnswer {
  readonly headers: HeaderMap
  readonly body: object
}
