/**
 * Decides which beta flags of the messages format are sent, renames them for the upstream, and removes body fields that need a
 * flag which is not sent.
 */

import { isObject, type JsonObject, objectOrNull, unescapeKey } from '../lib/json.ts'
import { without } from './copy.ts'
import type { DialectBetas } from './words.ts'

export interface BetaPlan {
  /** The flags as the upstream names them, in order, without duplicates. */
  readonly betas: readonly string[]
  /** The body without the fields that need a flag which is not sent. */
  readonly body: JsonObject
}

/**
 * Selects the flags to send: the client's flags, as far as the upstream supports them, and, if the client sets an effort, the
 * flag that the upstream requires for it.
 */
export function planBetas(body: JsonObject, betas: readonly string[], facts: DialectBetas): BetaPlan {
  const effort = objectOrNull(body.output_config)?.effort
  const isNeeded = facts.effort !== null && effort !== undefined && effort !== null
  const named = betas.flatMap(beta => nameAt(beta, facts))
  const sent = [...new Set(isNeeded ? [...named, facts.effort] : named)]
  let kept = body
  for (const { steps, names } of fieldsOf(facts)) {
    const isThere = steps[0] === '*' || Object.hasOwn(body, steps[0] ?? '')
    if (!isThere || names.some(name => sent.includes(name))) continue
    const left = without(kept, steps)
    if (isObject(left)) kept = left
  }
  return { betas: sent, body: kept }
}

/** Returns a list with the flag's name at this host; an empty list if the flag is not sent. */
function nameAt(beta: string, { unlisted, flags }: DialectBetas): string[] {
  const flag = Object.hasOwn(flags, beta) ? flags[beta] : undefined
  if (flag === undefined) return unlisted === 'pass' ? [beta] : []
  return flag.name === null ? [] : [flag.name ?? beta]
}

/** A body field that may only be sent together with at least one of several flags. */
interface FlaggedField {
  readonly steps: readonly string[]
  /** This host's names for these flags. Flags that the host does not support are left out. */
  readonly names: readonly string[]
}

/** Caches the flagged fields for each facts object, which is a constant of the generated tables. */
const FIELDS = new WeakMap<DialectBetas, readonly FlaggedField[]>()

function fieldsOf(facts: DialectBetas): readonly FlaggedField[] {
  const known = FIELDS.get(facts)
  if (known !== undefined) return known
  const flags = Object.entries(facts.flags).flatMap(([beta, { name, fields = [] }]) =>
    fields.map(field => ({ field, name: name === undefined ? beta : name })),
  )
  const listed = [...Map.groupBy(flags, ({ field }) => field)].map(([field, of]) => ({
    steps: field.split('/').slice(1).map(unescapeKey),
    names: of.flatMap(({ name }) => name ?? []),
  }))
  FIELDS.set(facts, listed)
  return listed
}
