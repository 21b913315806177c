/** Adapts sampling parameters to what the upstream accepts. */

import { type JsonObject, numberOrNull } from '../lib/json.ts'
import { withMember, withoutMembers } from './copy.ts'
import type { Dialect } from './words.ts'

export interface SamplingPlace {
  /** All sampling fields of the upstream's format. */
  readonly fields: readonly string[]
  /** Whether the model will reason in this call. */
  readonly reasons: boolean
}

/** Removes the sampling fields that the upstream refuses, and limits `temperature`. */
export function sampled(
  body: JsonObject,
  sampling: Dialect['sampling'],
  { fields, reasons }: SamplingPlace,
): JsonObject {
  const { parameters, temperatureMax, topK } = sampling
  if (parameters === null || (parameters === 'all_unless_thinking' && reasons)) return withoutMembers(body, fields)
  const temperature = numberOrNull(body.temperature)
  const left = topK ? [] : ['top_k']
  if (parameters === 'temperature_xor_top_p' && temperature !== null) left.push('top_p')
  const taken = withoutMembers(body, left)
  return temperature === null || temperature <= temperatureMax
    ? taken
    : withMember(taken, 'temperature', temperatureMax)
}
