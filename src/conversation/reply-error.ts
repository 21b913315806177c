/**
 * Tells whether what came under status 200 is an error: a whole reply, or an event of a stream, the first one or a later
 * one. Providers write errors there in many shapes, and one that is not seen is relayed and charged like a good reply.
 */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../lib/json.ts'
import { readErrorValue } from './error-body.ts'
import { failedError, readFailedError, readUpstreamErrorValue, type UpstreamError } from './upstream-error.ts'

export interface ReplyErrorFacts {
  /** The `event:` line of an event of a stream. */
  readonly event?: string
  /** Texts that must never be shown: the credential in use. */
  readonly secrets?: readonly string[]
}

/** The error that a parsed reply or event tells of; null for a good one. */
export function readReplyError(
  value: JsonValue,
  { event = '', secrets = [] }: ReplyErrorFacts = {},
): UpstreamError | null {
  const body = Array.isArray(value) ? objectOrNull(value[0]) : objectOrNull(value)
  if (body === null) return null
  if (body.type === 'response.failed') return readFailedError(objectOrNull(body.response)?.error, secrets)
  if (isError(body, event)) return readUpstreamErrorValue(body, secrets) ?? failedError('an error without a text')
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
  // A chunk with a choice, or with a code that says that all is well, may hold any other member.
  if (arrayOrEmpty(body.choices).length > 0 || WELL.has(body.code)) return false
  return readErrorValue(body) !== null
}

/** Codes by which providers say that nothing went wrong. */
const WELL: ReadonlySet<JsonValue | undefined> = new Set([0, '0', 200, '200'])

function isTold(error: JsonValue | undefined): boolean {
  return Array.isArray(error) ? error.length > 0 : Boolean(error)
}

/** MiniMax: `base_resp` stands in good chunks too, with a code of 0. */
function hasFailedOutcome({ base_resp }: JsonObject): boolean {
  const code = objectOrNull(base_resp)?.status_code
  return code !== undefined && code !== null && !WELL.has(code)
}

/** Aggregators put the error into the choice; others only say so in its finish reason. */
function choiceError({ error, finish_reason }: JsonObject, secrets: readonly string[]): UpstreamError | null {
  if (isTold(error)) return readUpstreamErrorValue({ error }, secrets) ?? failedError('an error of a choice')
  const reason = textOrNull(finish_reason)
  return reason !== null && FAILED_FINISHES.has(reason) ? failedError(`finish reason ${reason}`) : null
}

/**
 * Finish reasons by which upstreams report a failure of their own in an otherwise good reply: OpenRouter, DeepSeek, Z.AI,
 * vLLM and SGLang (their documentation and source, read 2026-11).
 */
const FAILED_FINISHES: ReadonlySet<string> = new Set([
  'error',
  'insufficient_system_resource',
  'network_error',
  'abort',
])
