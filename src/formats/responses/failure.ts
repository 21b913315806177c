/** What the `error` of a failed response means for the client, and the code under which it is told of a fault of ours. */

import { gatewayErrorOf, readUpstreamErrorValue } from '../../conversation/upstream-error.ts'
import { GatewayError } from '../../errors.ts'
import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'

/** Codes that tell of a fault in the request; the client may read their text. */
const REFUSALS = new Set([
  'invalid_prompt',
  'context_length_exceeded',
  'invalid_base64_image',
  'invalid_image',
  'invalid_image_format',
  'invalid_image_mode',
  'invalid_image_url',
  'unsupported_image_media_type',
  'image_content_policy_violation',
  'image_file_not_found',
  'image_file_too_large',
  'image_parse_error',
  'image_too_large',
  'image_too_small',
  'empty_image_file',
  'failed_to_download_image',
])
const OVERLOADS = new Set(['server_is_overloaded', 'slow_down'])

export interface ResponseFailure {
  readonly error: GatewayError
  /** The provider's code where it tells of the request; null: the one that `failureCodeOf` gives. */
  readonly code: string | null
}

/** `error`: the error object of a response, or of an `error` event. */
export function readFailure(error: JsonValue | undefined): ResponseFailure {
  const code = isObject(error) && typeof error.code === 'string' ? error.code : ''
  const refused = REFUSALS.has(code)
  const implied: JsonObject = refused
    ? { type: 'invalid_request_error' }
    : OVERLOADS.has(code)
      ? { type: 'overloaded_error' }
      : {}
  const read = isObject(error) ? readUpstreamErrorValue({ error: { ...error, ...implied } }) : null
  return {
    error: read === null ? new GatewayError('upstream_failed', { cause: 'a failed response' }) : gatewayErrorOf(read),
    code: refused ? code : null,
  }
}

/** The `error.code` of an HTTP answer: our own, but where clients wait or give up by the one that they know. */
export function httpCodeOf(error: GatewayError): string {
  return error.status === 429 || error.code === 'upstream_overloaded' ? failureCodeOf(error) : error.code
}

/** The `error.code` of a failed response that says what a fault of the gateway says. */
export function failureCodeOf(error: GatewayError): string {
  if (error.code === 'context_length_exceeded') return error.code
  if (error.code === 'upstream_overloaded') return 'server_is_overloaded'
  if (error.status === 429) return 'rate_limit_exceeded'
  // Clients take this one for final: they neither try again nor blame the prompt.
  if (error.status === 402) return 'insufficient_quota'
  return error.status < 500 ? 'invalid_prompt' : 'server_error'
}
