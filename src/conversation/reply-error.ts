/**
 * Detects errors reported with status 200, in a non-streamed reply or in any event of a stream. Providers use many shapes for
 * them, and an undetected error would be relayed and charged like a good reply.
 */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../lib/json.ts'
import { readErrorValue } from './error-body.ts'
import { failedError, readFailedError, readUpstreamErrorValue, type UpstreamError } from './upstream-error.ts'

export interface ReplyErrorFacts {
  /** Value of the SSE event's `event:` line. */
  readonly event?: string
  /** Exact strings to mask in the error's text, such as the credential in use. */
  readonly secrets?: readonly string[]
}

/** Returns the error in a parsed reply or event; null if it reports none. */
export function readReplyError(
  value: JsonValue,
  { event = '', secrets = [] }: ReplyErrorFacts = {},
): UpstreamError | null {
  const body = Array.isArray(value) ? objectOrNull(value[0]) : objectOrNull(value)
  if (body === null) return null
  if (body.type === 'response.failed') return readFailedError(objectOrNull(body.response)?.error, secrets)
  if (isError(body, event)) return readUpstreamErrorValue(body, secrets) ?? failedError('an error without a message')
  for (const choice of arrayOrEmpty(body.choices)) {
    const error = isObject(choice) ? choiceError(choice, secrets) : null
    if (error !== null) return error
  }
  return null
}

function isError(body: JsonObject, event: string): boolean {
  if (event === 'error' || body.type === 'error' || body.object === 'error') return true
  if (isTold(body.error) || hasFailedOutcome(body)) return true
  const type = textOrNull(body.type)
  if (type !== null) return /(error|exception)$/i.test(type)
  // A chunk with choices, or with a code that means success, is not an error, whatever its other members say.
  if (arrayOrEmpty(body.choices).length > 0 || WELL.has(body.code)) return false
  return readErrorValue(body) !== null
}

/** Values of `code` and `status_code` that mean success. */
const WELL: ReadonlySet<JsonValue | undefined> = new Set([0, '0', 200, '200'])

function isTold(error: JsonValue | undefined): boolean {
  return Array.isArray(error) ? error.length > 0 : Boolean(error)
}

/** MiniMax puts `base_resp` into good chunks too, with code 0. */
function hasFailedOutcome({ base_resp }: JsonObject): boolean {
  const code = objectOrNull(base_resp)?.status_code
  return code !== undefined && code !== null && !WELL.has(code)
}

/** Returns a choice's error. Aggregators put an `error` into the choice; other providers only set the finish reason. */
function choiceError({ error, finish_reason }: JsonObject, secrets: readonly string[]): UpstreamError | null {
  if (isTold(error)) return readUpstreamErrorValue({ error }, secrets) ?? failedError('an error in a choice')
  const reason = textOrNull(finish_reason)
  return reason !== null && FAILED_FINISHES.has(reason) ? failedError(`finish reason ${reason}`) : null
}

/**
 * Finish reasons that mean the upstream failed, although the reply is otherwise valid: OpenRouter, DeepSeek, Z.AI, vLLM and
 * SGLang, according to their documentation and source code in November 2026.
 */
const FAILED_FINISHES: ReadonlySet<string> = new Set([
  'error',
  'insufficient_system_resource',
  'network_error',
  'abort',
])
