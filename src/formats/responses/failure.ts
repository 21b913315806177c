/** Maps errors to the codes that clients of the responses format know. */

import type { GatewayError } from '../../errors.ts'

/**
 * Returns the `error.code` of an HTTP error reply. For rate limits and overload, it is a code of the format, by which clients
 * decide whether to retry; otherwise, it is our own.
 */
export function httpCodeOf(error: GatewayError): string {
  return error.status === 429 || error.code === 'upstream_overloaded' ? failureCodeOf(error) : error.clientCode
}

/** Returns the `error.code` of a response with status `failed`. */
export function failureCodeOf(error: GatewayError): string {
  const { upstreamCode } = error.details
  if (upstreamCode !== undefined) return upstreamCode
  if (error.code === 'context_length_exceeded') return error.code
  if (error.code === 'upstream_overloaded') return 'server_is_overloaded'
  if (error.status === 429) return 'rate_limit_exceeded'
  // Clients that get this code neither retry nor tell the user that the prompt is at fault.
  if (error.status === 402) return 'insufficient_quota'
  return error.status < 500 ? 'invalid_prompt' : 'server_error'
}
