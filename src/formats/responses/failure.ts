/** Maps errors to the codes that clients of the responses format know. */

import type { GatewayError } from '../../errors.ts'

/**
 * Returns the `error.code` of an HTTP reply: the format's code if it tells clients whether to wait or to give up, otherwise our
 * own.
 */
export function httpCodeOf(error: GatewayError): string {
  return error.status === 429 || error.code === 'upstream_overloaded' ? failureCodeOf(error) : error.clientCode
}

/** Returns the `error.code` of a failed response. */
export function failureCodeOf(error: GatewayError): string {
  const { upstreamCode } = error.details
  if (upstreamCode !== undefined) return upstreamCode
  if (error.code === 'context_length_exceeded') return error.code
  if (error.code === 'upstream_overloaded') return 'server_is_overloaded'
  if (error.status === 429) return 'rate_limit_exceeded'
  // After this code, clients do not retry, and do not tell the user that the prompt is at fault.
  if (error.status === 402) return 'insufficient_quota'
  return error.status < 500 ? 'invalid_prompt' : 'server_error'
}
