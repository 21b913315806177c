/** Adapts the fields of a messages request other than messages and tools: output cap, thinking, effort, sampling, end user. */

import { hash } from '../../conversation/names.ts'
import { isEffortLevel, nearestLevel } from '../../conversation/reasoning-request.ts'
import { readStopSequences, visibleSequences } from '../../conversation/stop-sequences.ts'
import {
  arrayOrEmpty,
  type JsonObject,
  type JsonValue,
  numberOrNull,
  objectOrNull,
  textOrNull,
} from '../../lib/json.ts'
import { withMember, withoutMembers } from '../copy.ts'
import { endUserId } from '../end-user.ts'
import { chosenOutputTokens, clampOutputTokens } from '../output-cap.ts'
import type { ReasoningPlan } from '../reasoning-plan.ts'
import { sampled } from '../sampling.ts'
import { stopSequences } from '../stops.ts'
import type { DialectFacts } from '../types.ts'
import type { Dialect } from '../words.ts'
import { thinkingFor } from './plan.ts'

/**
 * Returns the output cap to send, within the model's limit. Null if the body is already in the messages format (`formatPath`
 * is `same`) and has no valid cap: it is sent as it is, and the upstream will refuse it.
 */
export function capFor({ max_tokens: given }: JsonObject, facts: DialectFacts): number | null {
  const { dialect, formatPath, outputTokensMax } = facts
  const wanted = numberOrNull(given)
  if (wanted === null) return formatPath === 'converted' ? chosenOutputTokens(facts) : null
  // Clients send a cap of 0 to warm the provider's cache.
  if (formatPath === 'same' && wanted < 1) return wanted
  return clampOutputTokens(wanted, { outputTokensMax, capMin: dialect.output.capMin })
}

/** Writes `thinking` and `output_config.effort`. */
export function withReasoning(
  body: JsonObject,
  { dialect, formatPath }: DialectFacts,
  plan: ReasoningPlan,
): JsonObject {
  const given = objectOrNull(body.thinking)
  const thinking = thinkingFor(given, plan)
  const thought =
    thinking === null
      ? given === null
        ? body
        : withoutMembers(body, ['thinking'])
      : withMember(body, 'thinking', thinking)
  const config = objectOrNull(body.output_config)
  const planned = textOrNull(objectOrNull(plan.fields.output_config)?.effort)
  const isOff = (thinking ?? given)?.type === 'disabled'
  const effort = formatPath === 'converted' ? planned : effortFor(config?.effort, planned, { dialect, isOff })
  return effort === (config?.effort ?? null) ? thought : withEffort(thought, config, effort)
}

function withEffort(body: JsonObject, config: JsonObject | null, effort: JsonValue): JsonObject {
  if (effort !== null) return withMember(body, 'output_config', withMember(config ?? {}, 'effort', effort))
  return withConfig(body, withoutMembers(config ?? {}, ['effort']))
}

/** Sets `output_config`, or removes it if it would be empty. */
export function withConfig(body: JsonObject, config: JsonObject): JsonObject {
  if (config === body.output_config) return body
  return Object.keys(config).length === 0
    ? withoutMembers(body, ['output_config'])
    : withMember(body, 'output_config', config)
}

/**
 * Returns the effort to send: the client's, lowered or raised to a level that the model accepts, or the planned one if the client
 * set none.
 */
function effortFor(
  effort: JsonValue | undefined,
  planned: string | null,
  { dialect, isOff }: { readonly dialect: Dialect; readonly isOff: boolean },
): JsonValue {
  const { levels, disable } = dialect.reasoning
  if (effort === null || effort === undefined) return planned
  if (levels === null) return null
  if (isOff && disable === 'refused') return nearestLevel('none', levels)
  if (!isEffortLevel(effort)) return effort
  const level = nearestLevel(effort, levels)
  const isTooHigh = isOff && disable === 'up_to_high' && (level === 'xhigh' || level === 'max')
  return isTooHigh ? nearestLevel('high', levels) : level
}

const SAMPLING_FIELDS = ['temperature', 'top_p', 'top_k']

/**
 * Adapts the sampling fields. Upstreams of this format refuse them when the model reasons: they are removed from converted
 * calls, and same-format clients get the upstream's error.
 */
export function withSampling(body: JsonObject, { dialect, formatPath }: DialectFacts, reasons: boolean): JsonObject {
  if (formatPath === 'converted' && reasons) return withoutMembers(body, SAMPLING_FIELDS)
  return sampled(body, dialect.sampling, { fields: SAMPLING_FIELDS, reasons })
}

/**
 * Adapts the stop sequences. Throws GatewayError `invalid_request` if there are too many: without all of them, the reply would
 * not end where it should.
 */
export function withStops(body: JsonObject, { dialect, stopField }: DialectFacts): JsonObject {
  const given = arrayOrEmpty(body.stop_sequences)
  const { stopMax } = dialect.sampling
  if (given.length === 0) return stopMax === 0 ? withoutMembers(body, ['stop_sequences']) : body
  const stops = stopSequences(visibleSequences(readStopSequences(body.stop_sequences)), {
    field: stopField,
    max: stopMax,
  })
  if (given.length <= stopMax) return body
  return stops.length === 0 ? withoutMembers(body, ['stop_sequences']) : withMember(body, 'stop_sequences', stops)
}

/**
 * Ids that look like an email address or a phone number, which providers of this format refuse (`user_id appears to contain an
 * email address`, BerriAI/litellm#10106, read 2026-11). Chat clients often send one.
 */
const PERSONAL = /@[^\s@]+\.|^\+?[\d\s().-]{7,}$/

/** Writes the end user's id in a form that the upstream accepts, or removes it. */
export function withEndUser(body: JsonObject, { endUser }: Dialect): JsonObject {
  const metadata = objectOrNull(body.metadata)
  if (endUser.field === null) return withoutMembers(body, ['metadata'])
  const id = textOrNull(metadata?.user_id)
  if (metadata === null || id === null) return body
  const written = endUserId(PERSONAL.test(id) ? hash(id) : id, endUser)
  return withMember(body, 'metadata', withMember(metadata, 'user_id', written))
}
