/** Reads the data of an upstream's stream events, and creates the error for a failed stream. */

import { GatewayError } from '../errors.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'
import type { UpstreamEvent } from './reply.ts'
import { readReplyError } from './reply-error.ts'
import { gatewayErrorOf } from './upstream-error.ts'

/** Data that ends a chat stream. Some hosts also send it at the end of messages and responses streams. */
export const DONE = '[DONE]'

/** Placeholder for the data of an event that has its object in `value` instead; `dataOf` serializes the object on demand. */
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

/** Creates an event from part of a non-streamed reply, for replaying the reply as a stream. */
export function replayed(name: string, value: JsonObject): UpstreamEvent {
  return { name, data: REPLAYED, value }
}

export function dataOf({ data, value }: UpstreamEvent): string {
  return value === undefined ? data : JSON.stringify(value)
}

/** Like `readEvent`, but does not look for errors: the responses format recognises its error events itself. */
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
