/** Reads the data of an upstream's stream events, and tells why a stream failed. */

import { GatewayError } from '../errors.ts'
import { gatewayErrorOf, readUpstreamErrorValue } from '../formats/upstream-error.ts'
import { isObject, type JsonObject, type JsonValue, parseJson } from '../lib/json.ts'

/** Data that ends a chat stream; relays of the messages format send it too. */
export const DONE = '[DONE]'

/** The event's object. Throws GatewayError(`upstream_failed`) for data that is none. */
export function readEventData(data: string): JsonObject {
  const value = parseJson(data)
  // Errors may come wrapped in an array.
  if (Array.isArray(value)) throwEventError(value)
  if (!isObject(value)) throw failedStream('an event that is not a JSON object')
  return value
}

/** Throws the error that an event tells of; a general one when it tells nothing readable. */
export function throwEventError(value: JsonValue): never {
  const error = readUpstreamErrorValue(value)
  throw error === null ? failedStream('an error event') : gatewayErrorOf(error)
}

/** `cause` is for the log: what happened, never what the upstream said. */
export function failedStream(cause: string): GatewayError {
  return new GatewayError('upstream_failed', {
    message: 'The model stopped before its answer was complete.',
    cause,
  })
}
