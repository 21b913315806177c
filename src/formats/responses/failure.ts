/** Maps errors to the codes that clients of the responses format know. */

import type { GatewayError } from '../../errors.ts'

/**
 * Returns the `error.code` of an HTTP reply: our own code, or the format's if clients decide by it whether to wait or give up.
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
  // Clients treat this code as final: they do not retry, and do not report a fault in the prompt.
  if (error.status === 402) return 'insufficient_quota'
  return error.status < 500 ? 'invalid_prompt' : 'server_error'
}
