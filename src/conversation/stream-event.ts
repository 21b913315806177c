/** Reads the data of an upstream's stream events, and tells why a stream failed. */

import { GatewayError } from '../errors.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'
import type { UpstreamEvent } from './reply.ts'
import { readReplyError } from './reply-error.ts'
import { gatewayErrorOf } from './upstream-error.ts'

/** Data that ends a chat stream; relays of the messages format send it too. */
export const DONE = '[DONE]'

/** Stands for the data of a replayed event, which are written only where somebody wants them as text. */
const REPLAYED = '{}'

interface StreamEvent {
  readonly name: string
  readonly data: string
  readonly value?: JsonObject
}

/** The event's object. Throws GatewayError for one that tells of an error, and `upstream_failed` for data that is none. */
export function readEvent({ name, data, value: given }: StreamEvent): JsonObject {
  const value = given ?? parseExactJson(data)
  const error = value === undefined ? null : readReplyError(value, { event: name })
  if (error !== null) throw gatewayErrorOf(error)
  return objectOf(value)
}

/** An event of a whole reply that is told as a stream. */
export function replayed(name: string, value: JsonObject): UpstreamEvent {
  return { name, data: REPLAYED, value }
}

/** The event's data as text. */
export function dataOf({ data, value }: UpstreamEvent): string {
  return value === undefined ? data : JSON.stringify(value)
}

/** As `readEvent`, for events that the format itself has read the errors of. */
export function parseEvent({ data, value }: StreamEvent): JsonObject {
  return objectOf(value ?? parseExactJson(data))
}

function objectOf(value: JsonValue | undefined): JsonObject {
  if (!isObject(value)) throw failedStream('an event that is not a JSON object')
  return value
}

/** `cause` is for the log: what happened, never what the upstream said. */
export function failedStream(cause: string): GatewayError {
  return new GatewayError('upstream_failed', {
    message: 'The model stopped before its answer was complete.',
    cause,
  })
}
