/** Beta flags of the messages format: which go upstream, by which name, and the fields that leave the body with the others. */

import { isObject, type JsonObject, objectOrNull, unescapeKey } from '../lib/json.ts'
import { without } from './copy.ts'
import type { DialectBetas } from './words.ts'

export interface BetaPlan {
  /** As the upstream calls them, in order and without repetition. */
  readonly betas: readonly string[]
  /** Without the fields of flags that do not go. */
  readonly body: JsonObject
}

/**
 * The flags that go upstream with this messages request: the client's as far as the upstream has them, and the one without
 * which it refuses an effort.
 */
export function planBetas(body: JsonObject, betas: readonly string[], facts: DialectBetas): BetaPlan {
  const effort = objectOrNull(body.output_config)?.effort
  const isNeeded = facts.effort !== null && effort !== undefined && effort !== null
  const sent = new Set([...betas.flatMap(beta => nameAt(beta, facts)), ...(isNeeded ? [facts.effort] : [])])
  let kept = body
  for (const pointer of orphanedFields(sent, facts)) {
    const left = without(kept, pointer.split('/').slice(1).map(unescapeKey))
    if (isObject(left)) kept = left
  }
  return { betas: [...sent], body: kept }
}

/** The name at this host; none where the flag does not go. */
function nameAt(beta: string, { unlisted, flags }: DialectBetas): string[] {
  const flag = Object.hasOwn(flags, beta) ? flags[beta] : undefined
  if (flag === undefined) return unlisted === 'pass' ? [beta] : []
  return flag.name === null ? [] : [flag.name ?? beta]
}

/** Fields of which no flag goes. */
function orphanedFields(sent: ReadonlySet<string>, { flags }: DialectBetas): string[] {
  const listed = Object.entries(flags)
  const isSent = ([beta, { name }]: (typeof listed)[number]) => name !== null && sent.has(name ?? beta)
  const kept = new Set(listed.filter(isSent).flatMap(([, { fields }]) => fields ?? []))
  return listed.flatMap(([, { fields }]) => fields ?? []).filter(field => !kept.has(field))
}
