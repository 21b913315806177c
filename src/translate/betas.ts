/** Beta flags of the messages format: which go upstream. */

import { type JsonObject, objectOrNull } from '../lib/json.ts'
import type { Dialect } from './dialect.ts'

/** The client's flags that the dialect allows, in order and without repetition; `*` allows all. */
export function allowedBetas(betas: readonly string[], allowed: readonly string[]): string[] {
  const distinct = [...new Set(betas)]
  return allowed.includes('*') ? distinct : distinct.filter(beta => allowed.includes(beta))
}

/** Flags without which the upstream refuses this messages request. */
export function requiredBetas(body: JsonObject, { effortBeta }: Pick<Dialect, 'effortBeta'>): string[] {
  const effort = objectOrNull(body.output_config)?.effort
  return effortBeta !== '' && effort !== undefined && effort !== null ? [effortBeta] : []
}
