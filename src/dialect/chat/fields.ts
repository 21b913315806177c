/** Adapts the fields of a chat request other than messages and tools: output cap, sampling, stop sequences, end user, usage. */

import { readStopSequences } from '../../conversation/stop-sequences.ts'
import {
  arrayOrEmpty,
  type JsonObject,
  type JsonValue,
  numberOrNull,
  objectOrNull,
  textOrNull,
} from '../../lib/json.ts'
import { withMember, withMemberRenamed, withoutMembers } from '../copy.ts'
import { endUserId } from '../end-user.ts'
import { clampOutputTokens } from '../output-cap.ts'
import { sampled } from '../sampling.ts'
import { stopSequences } from '../stops.ts'
import type { DialectFacts } from '../types.ts'
import type { Dialect } from '../words.ts'

/**
 * Keeps one of the two fields for the output-token cap: the one that the upstream reads, with a value within the model's limit.
 */
export function withCap(body: JsonObject, facts: DialectFacts): JsonObject {
  const { dialect, formatPath, outputTokensMax, outputTokensAfforded } = facts
  const { capField, capMin } = dialect.output
  const other = capField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  const wanted = numberOrNull(body.max_completion_tokens) ?? numberOrNull(body.max_tokens) ?? outputTokensAfforded
  const stays = wanted === null || (formatPath === 'same' && wanted < 1)
  const capped = stays ? wanted : clampOutputTokens(wanted, { outputTokensMax, capMin })
  if (capped === null) return withoutMembers(body, [other])
  const isOther = Object.hasOwn(body, other) && !Object.hasOwn(body, capField)
  return withoutMembers(withMemberRenamed(body, isOther ? other : capField, capField, capped), [other])
}

const SAMPLING_FIELDS = [
  'temperature',
  'top_p',
  'top_k',
  'presence_penalty',
  'frequency_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
]

export function withSampling(body: JsonObject, { sampling }: Dialect, reasons: boolean): JsonObject {
  return sampled(body, sampling, { fields: SAMPLING_FIELDS, reasons })
}

/**
 * Adapts the stop sequences. Throws GatewayError `invalid_request` if there are too many: without all of them, the reply would
 * not end where it should.
 */
export function withStops(body: JsonObject, { dialect, stopField }: DialectFacts): JsonObject {
  if (!isSet(body.stop)) return body
  const { stopMax } = dialect.sampling
  const stops = stopSequences(readStopSequences(body.stop), { field: stopField, max: stopMax })
  if (stops.length === 0) return stopMax === 0 ? withoutMembers(body, ['stop']) : body
  return arrayOrEmpty(body.stop).length > stopMax ? withMember(body, 'stop', stops) : body
}

const USER_FIELDS = ['user', 'safety_identifier', 'user_id'] as const

/**
 * Moves the end user's id to the field that the upstream reads, in a form that it accepts, and removes the other fields for it.
 */
export function withEndUser(body: JsonObject, { endUser }: Dialect): JsonObject {
  const given = USER_FIELDS.filter(name => isSet(body[name]))
  if (given.length === 0) return body
  const { field } = endUser
  if (field === null) return withoutMembers(body, USER_FIELDS)
  const from = [field, ...given].find(name => textOrNull(body[name]) !== null)
  const moved =
    from === undefined ? body : withMemberRenamed(body, from, field, endUserId(body[from] as string, endUser))
  return withoutMembers(
    moved,
    USER_FIELDS.filter(name => name !== field),
  )
}

/** Requests usage figures in a stream. Removes `stream_options` if the upstream does not support them. */
export function withUsage(body: JsonObject, { usage }: Dialect): JsonObject {
  if (body.stream !== true) return body
  if (!usage.streamOptions) return withoutMembers(body, ['stream_options'])
  const options = objectOrNull(body.stream_options) ?? {}
  if (options.include_usage === true) return body
  return withMember(body, 'stream_options', withMember(options, 'include_usage', true))
}

/** Whether the client requests the usage chunk. */
export function wantsUsage(body: JsonObject): boolean {
  return objectOrNull(body.stream_options)?.include_usage === true
}

function isSet(value: JsonValue | undefined): boolean {
  return value !== undefined && value !== null
}
