/** The codes under which clients of this format are told of an error. */

import type { GatewayError } from '../../errors.ts'

/** The `error.code` of an HTTP answer: our own, but where clients wait or give up by the one that they know. */
export function httpCodeOf(error: GatewayError): string {
  return error.status === 429 || error.code === 'upstream_overloaded' ? failureCodeOf(error) : error.clientCode
}

/** The `error.code` of a failed response. */
export function failureCodeOf(error: GatewayError): string {
  const { upstreamCode } = error.details
  if (upstreamCode !== undefined) return upstreamCode
  if (error.code === 'context_length_exceeded') return error.code
  if (error.code === 'upstream_overloaded') return 'server_is_overloaded'
  if (error.status === 429) return 'rate_limit_exceeded'
  // Clients take this one for final: they neither try again nor blame the prompt.
  if (error.status === 402) return 'insufficient_quota'
  return error.status < 500 ? 'invalid_prompt' : 'server_error'
}
