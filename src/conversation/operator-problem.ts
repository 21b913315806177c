/**
 * Recognises errors that are a problem for the operator, with credentials, credit or the catalogue, whatever their status.
 */

import { parseJson } from '../lib/json.ts'
import type { ErrorBody } from './error-body.ts'

/** Error types that indicate a problem for the operator, even with a status such as 400 or 429. */
const OPERATOR_TYPES = new Set([
  'authentication_error',
  'permission_error',
  'billing_error',
  'insufficient_quota',
  'accessdeniedexception',
  'expiredtokenexception',
  'servicequotaexceededexception',
  'unrecognizedclientexception',
])
const OPERATOR_CODES = new Set([
  'insufficient_quota',
  'invalid_api_key',
  'invalid_authentication',
  'billing_hard_limit_reached',
  'billing_not_active',
  'account_deactivated',
  'model_not_found',
  'arrearage',
])
const OPERATOR_TEXTS = [
  'credit balance is too low',
  'insufficient balance',
  'insufficient_quota',
  'exceeded your current quota, please check your plan and billing',
  'incorrect api key',
  'invalid api key',
  'api key not valid',
  'api key expired',
]

/** Whether the error is the operator's by its type or code. */
export function isNamedOperatorProblem({ type, code }: ErrorBody): boolean {
  return OPERATOR_TYPES.has(type) || OPERATOR_CODES.has(code)
}

/** Returns the words by which the text tells of a problem for the operator; null if it does not. */
export function operatorTextIn({ message }: ErrorBody): string | null {
  const text = message.toLowerCase()
  return OPERATOR_TEXTS.find(words => text.includes(words)) ?? null
}

/** Like `operatorTextIn`, for errors whose request is not at hand: only words at the start count, as the others may be quoted. */
export function operatorTextAtStart({ message }: ErrorBody): string | null {
  const text = message.toLowerCase().replace(/^your? /, '')
  return OPERATOR_TEXTS.find(words => text.startsWith(words)) ?? null
}

/**
 * Whether the request contains these words, in any case. `request`: the body that was sent; JSON is decoded first, because
 * providers quote strings without their escapes. `words` are in lower case and need no escapes in JSON.
 */
export function saysInRequest(request: Buffer, words: string): boolean {
  const text = request.toString('utf8')
  const json = parseJson(text)
  return (json === undefined ? text : JSON.stringify(json)).toLowerCase().includes(words)
}
