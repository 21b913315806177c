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

/** The name at this host; none where the flag does not go. */
function nameAt(beta: string, { unlisted, flags }: DialectBetas): string[] {
  const flag = Object.hasOwn(flags, beta) ? flags[beta] : undefined
  if (flag === undefined) return unlisted === 'pass' ? [beta] : []
  return flag.name === null ? [] : [flag.name ?? beta]
}

/** A field that belongs to flags. */
interface FlaggedField {
  readonly steps: readonly string[]
  /** Of its flags at this host, those that it does not have aside. */
  readonly names: readonly string[]
}

/** Facts are constants of the tables: the fields of each are listed once. */
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
