/** Beta flags of the messages format: which go upstream. */

import { type JsonObject, objectOrNull } from '../lib/json.ts'
import type { DialectBetas } from './dialect.ts'

/** The client's flags that the dialect lets pass, in order and without repetition. */
function passingBetas(betas: readonly string[], { unlisted, flags }: DialectBetas): string[] {
  const distinct = [...new Set(betas)]
  return unlisted === 'pass' ? distinct : distinct.filter(beta => Object.hasOwn(flags, beta))
}

/**
 * The flags that go upstream with this messages request: the client's as far as they pass, and those without which the
 * upstream refuses it.
 */
export function betasToSend(body: JsonObject, betas: readonly string[], facts: DialectBetas): string[] {
  const effort = objectOrNull(body.output_config)?.effort
  const isNeeded = facts.effort !== null && effort !== undefined && effort !== null
  return [...new Set([...passingBetas(betas, facts), ...(isNeeded ? [facts.effort] : [])])]
}
