/**
 * Recognises errors that are a problem for the operator, with credentials, credit or the catalogue, whatever their status.
 */

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
 * Whether the request contains these words, in any case, written in JSON with or without escapes, because providers quote strings
 * without them. Takes milliseconds for the longest body, which parsing it would not.
 */
export function saysInRequest(request: Buffer, words: string): boolean {
  return anyWritingOf(words).test(request.toString('latin1'))
}

/** Matches these words, which are ASCII, each character as itself or as a JSON escape. */
function anyWritingOf(words: string): RegExp {
  const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0')
  const characters = [...words].map(
    each => `(?:${RegExp.escape(each)}|\\\\u(?:${hex(each)}|${hex(each.toUpperCase())}))`,
  )
  return new RegExp(characters.join(''), 'i')
}
