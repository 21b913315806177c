/** Reads the data of an upstream's stream events, and creates the error for a failed stream. */

import { GatewayError } from '../errors.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'
import type { UpstreamEvent } from './reply.ts'
import { readReplyError } from './reply-error.ts'
import { gatewayErrorOf } from './upstream-error.ts'

/** Data that ends a chat stream; relays of the messages format send it too. */
export const DONE = '[DONE]'

/** Placeholder for a replayed event's data, which is serialized only on demand. */
const REPLAYED = '{}'

interface StreamEvent {
  readonly name: string
  readonly data: string
  readonly value?: JsonObject
}

/**
 * Returns the event's object. Throws the GatewayError that the event reports, or `upstream_failed` if its data is not an object.
 */
export function readEvent({ name, data, value: given }: StreamEvent): JsonObject {
  const value = given ?? parseExactJson(data)
  const error = value === undefined ? null : readReplyError(value, { event: name })
  if (error !== null) throw gatewayErrorOf(error)
  return objectOf(value)
}

/** Returns an event for a non-streamed reply that is replayed as a stream. */
export function replayed(name: string, value: JsonObject): UpstreamEvent {
  return { name, data: REPLAYED, value }
}

export function dataOf({ data, value }: UpstreamEvent): string {
  return value === undefined ? data : JSON.stringify(value)
}

/** Like `readEvent`, but leaves error detection to the format. */
export function parseEvent({ data, value }: StreamEvent): JsonObject {
  return objectOf(value ?? parseExactJson(data))
}

function objectOf(value: JsonValue | undefined): JsonObject {
  if (!isObject(value)) throw failedStream('an event that is not a JSON object')
  return value
}

/** Creates the error for a stream that failed. `cause` is for the log: our own description, never the upstream's text. */
export function failedStream(cause: string): GatewayError {
  return new GatewayError('upstream_failed', {
    message: 'The model stopped before its answer was complete.',
    cause,
  })
}
