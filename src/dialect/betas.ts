/**
 * Decides which of the client's beta flags (messages format) are sent upstream, renames them for the upstream, and removes body
 * fields whose required flag is not sent.
 */

import { isObject, type JsonObject, objectOrNull, unescapeKey } from '../lib/json.ts'
import { without } from './copy.ts'
import type { DialectBetas } from './words.ts'

export interface BetaPlan {
  /** The flags as the upstream names them, in order, without duplicates. */
  readonly betas: readonly string[]
  /** The body without the fields whose required flag is not sent. */
  readonly body: JsonObject
}

/**
 * Selects the flags to send: those of the client's flags that the upstream supports and, if the client sets an effort, the flag
 * that the upstream requires for an effort.
 */
export function planBetas(body: JsonObject, betas: readonly string[], facts: DialectBetas): BetaPlan {
  const effort = objectOrNull(body.output_config)?.effort
  const isNeeded = facts.effort !== null && effort !== undefined && effort !== null
  const named = betas.flatMap(beta => upstreamName(beta, facts))
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

/** Returns the upstream's name for the flag; an empty list if the flag is not sent. */
function upstreamName(beta: string, { unlisted, flags }: DialectBetas): string[] {
  const flag = Object.hasOwn(flags, beta) ? flags[beta] : undefined
  if (flag === undefined) return unlisted === 'pass' ? [beta] : []
  return flag.name === null ? [] : [flag.name ?? beta]
}

/** A body field that may only be sent together with at least one of several flags. */
interface FlaggedField {
  readonly steps: readonly string[]
  /** The upstream's names for these flags. Flags that it does not support are left out. */
  readonly names: readonly string[]
}

/** Caches the flagged fields of each dialect. The keys are constants in the generated tables. */
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
