/**
 * The only place that renders errors, in a body that both the OpenAI and the Anthropic SDKs can parse. Also builds the headers
 * of errors and of all replies.
 */

import type { GatewayError, LimitFacts } from '../errors.ts'

export interface RenderedError {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

/** The type of an overload in the messages format. Within a stream, where there is no status, clients retry by it. */
const MESSAGES_OVERLOADED = 'overloaded_error'

/** Names that an endpoint has of its own for an error. */
interface OwnNames {
  readonly type?: string | undefined
  readonly code?: string | undefined
}

/** Builds the JSON body of an error. */
export function errorBody(
  error: GatewayError,
  requestId: string,
  { type = error.type, code = error.clientCode }: OwnNames = {},
): string {
  const { details, limit, param = null } = error.details
  return JSON.stringify({
    type: 'error',
    error: {
      type,
      message: error.message,
      code,
      param,
      ...(details === undefined ? {} : { details }),
      ...(limit === undefined ? {} : { metadata: limitBody(limit) }),
    },
    request_id: requestId,
  })
}

function limitBody({ source, limit, used, resetsAt }: LimitFacts): object {
  return { limit_source: source, limit, used, resets_at: resetsAt }
}

/** Headers of every API reply: the ids by which a client can refer to its request, and `nosniff`. */
export function answerHeaders(requestId: string): Record<string, string> {
  return { 'request-id': requestId, 'x-request-id': requestId, 'x-content-type-options': 'nosniff' }
}

/**
 * The headers of an error. With `service`, they include `x-<service>-error-code`: our own code, because the endpoint's body may
 * use another.
 */
export function errorHeaders(error: GatewayError, service?: string): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json' }
  if (service !== undefined) headers[`x-${service}-error-code`] = error.code
  const { final, retryAfterSeconds } = error
  if (final) headers['x-should-retry'] = 'false'
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds)
  return headers
}

/** The event that ends a stream after an error: with `named`, as the messages format requires. */
export function errorEvent(error: GatewayError, requestId: string, { named }: { named: boolean }): string {
  if (!named) return `data: ${errorBody(error, requestId)}\n\n`
  const type = error.type === 'service_unavailable' ? MESSAGES_OVERLOADED : error.type
  return `event: error\ndata: ${errorBody(error, requestId, { type })}\n\n`
}
