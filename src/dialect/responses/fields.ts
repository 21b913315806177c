/** Adapts the fields of a responses request other than input and tools: output cap, sampling, end user. */

import { type JsonObject, numberOrNull, textOrNull } from '../../lib/json.ts'
import { withMember, withoutMembers } from '../copy.ts'
import { endUserId } from '../end-user.ts'
import { clampOutputTokens } from '../output-cap.ts'
import { sampled } from '../sampling.ts'
import type { DialectFacts } from '../types.ts'
import type { Dialect } from '../words.ts'

export function withCap(body: JsonObject, facts: DialectFacts): JsonObject {
  const { dialect, formatPath, outputTokensMax, outputTokensAfforded } = facts
  const wanted = numberOrNull(body.max_output_tokens) ?? outputTokensAfforded
  if (wanted === null || (formatPath === 'same' && wanted < 1)) return body
  const { capMin } = dialect.output
  return withMember(body, 'max_output_tokens', clampOutputTokens(wanted, { outputTokensMax, capMin }))
}

const SAMPLING_FIELDS = ['temperature', 'top_p', 'top_k', 'top_logprobs']

export function withSampling(body: JsonObject, { sampling }: Dialect, reasons: boolean): JsonObject {
  return sampled(body, sampling, { fields: SAMPLING_FIELDS, reasons })
}

const USER_FIELDS = ['safety_identifier', 'user']
/** Maximum length of an end-user id in this format, in characters. */
const USER_LENGTH_MAX = 128

/**
 * Adapts the end user's id. The format has its own fields for it; the dialect only says whether to send it and in which form.
 */
export function withEndUser(body: JsonObject, { endUser }: Dialect): JsonObject {
  if (endUser.field === null) return withoutMembers(body, USER_FIELDS)
  const lengthMax = Math.min(endUser.lengthMax, USER_LENGTH_MAX)
  return USER_FIELDS.reduce((changed, field) => {
    const id = textOrNull(body[field])
    return id === null ? changed : withMember(changed, field, endUserId(id, { ...endUser, lengthMax }))
  }, body)
}
