/** Beta flags of the messages format: which go upstream. */

import { type JsonObject, objectOrNull } from '../lib/json.ts'
import type { Dialect } from './dialect.ts'
import { refuseCapability } from './refuse.ts'

/** The client's flags that the dialect allows, in order and without repetition; `*` allows all. */
export function allowedBetas(betas: readonly string[], allowed: readonly string[]): string[] {
  const distinct = [...new Set(betas)]
  return allowed.includes('*') ? distinct : distinct.filter(beta => allowed.includes(beta))
}

/**
 * The flags that go upstream with this messages request: the client's as far as they are allowed, and those without which
 * the upstream refuses it. Where the operator would rather have clients adapt, a flag that is not allowed is refused.
 */
export function betasToSend(body: JsonObject, betas: readonly string[], dialect: BetaFacts): string[] {
  const allowed = allowedBetas(betas, dialect.betas)
  const refused = betas.find(beta => !allowed.includes(beta))
  if (refused !== undefined && dialect.onUnsupported === 'refuse') {
    refuseCapability(`beta_header:${refused}`, 'This beta is not available with this model.')
  }
  const effort = objectOrNull(body.output_config)?.effort
  const needed = dialect.effortBeta !== '' && effort !== undefined && effort !== null ? [dialect.effortBeta] : []
  return [...new Set([...allowed, ...needed])]
}

type BetaFacts = Pick<Dialect, 'betas' | 'effortBeta' | 'onUnsupported'>
