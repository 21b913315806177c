/** Each endpoint is one record, which the routes, the call runner, OpenAPI, the pages and the traces all read. */

import type { EndpointFacts } from '../catalogue/endpoints.ts'
import type { GatewayError } from '../errors.ts'
import type { Endpoint } from '../generated/types.ts'
import type { RouteFacts } from '../lib/route.ts'
import type { HeaderMap, Services } from '../pipeline/call.ts'
import type { CallKind } from '../pipeline/call-kind.ts'

/** What an API operation takes and returns, for OpenAPI. Examples name no model; the generated description fills one in. */
export interface Operation {
  readonly summary: string
  readonly description: string
  /** Name of the request's schema; null when there is no body. `reply` is the name of the reply's schema. */
  readonly request: string | null
  readonly reply: string | null
  /** Second content type of the request, besides JSON. */
  readonly requestType?: string
  /** Content type of a reply that is not JSON. */
  readonly replyType?: string
  readonly streams?: true
  /** Whether a successful call is charged. */
  readonly billed: boolean
  /** Endpoint that the example's model must be served on; defaults to `messages`. */
  readonly endpoint?: Endpoint
  readonly example?: Readonly<Record<string, unknown>>
}

export interface ApiRoute extends RouteFacts {
  /** Operation id in OpenAPI; absent if OpenAPI does not list the route. */
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
  /** Operation and output type in traces, named by OpenTelemetry's semantic conventions for generative AI (as of 2026-11). */
  readonly traced: { readonly operation: 'chat' | 'generate_content'; readonly output: 'image' | 'speech' | null }
  /** Whether stream events, errors included, have an `event:` line. */
  readonly namedEvents: boolean
  /**
   * Returns the `error.code` to send, if this format's clients expect codes of their own. By default, the gateway's code is sent.
   */
  readonly codeOf?: (error: GatewayError) => string
  /** How calls to this endpoint are read, funded, sent and billed. */
  readonly kind: CallKind
}

export const EXAMPLE_GREETING = 'Xin chào'

/** An endpoint that runs no model: free, even with an empty balance, and not logged as usage. */
export interface FreeEndpoint extends ApiRoute {
  readonly method: 'POST'
  readonly authentication: 'key'
  /** Rejects with the GatewayError that the client gets. */
  answer(services: Pick<Services, 'catalogue' | 'limits'>, body: Buffer): Promise<FreeAnswer>
}

export interface FreeAnswer {
  readonly headers: HeaderMap
  readonly body: object
}
