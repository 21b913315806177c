/** Beta flags of the messages format: which go upstream, by which name, and the fields that leave the body with the others. */

import { isObject, type JsonObject, type JsonValue, objectOrNull, unescapeKey } from '../lib/json.ts'
import { applyEdits, type BodyEdit } from './body-edit.ts'
import type { DialectBetas } from './dialect.ts'

export interface BetaPlan {
  /** As the upstream calls them, in order and without repetition. */
  readonly betas: readonly string[]
  /** The edits given, and those that take out the fields of flags that do not go. */
  readonly edits: readonly BodyEdit[]
}

/**
 * The flags that go upstream with this messages request: the client's as far as the upstream has them, and the one without
 * which it refuses an effort. `edits` are what else is to be done to the body.
 */
export function planBetas(
  body: JsonObject,
  { betas, edits, facts }: { betas: readonly string[]; edits: readonly BodyEdit[]; facts: DialectBetas },
): BetaPlan {
  const edited = applyEdits(body, edits)
  const effort = objectOrNull(edited.output_config)?.effort
  const isNeeded = facts.effort !== null && effort !== undefined && effort !== null
  const sent = new Set([...betas.flatMap(beta => nameAt(beta, facts)), ...(isNeeded ? [facts.effort] : [])])
  const orphans = orphanedFields(sent, facts).flatMap(pointer => placesOf(edited, pointer.split('/').slice(1)))
  return { betas: [...sent], edits: withoutFields(edits, [...new Set(orphans)]) }
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

/** Where a pointer leads in a value, each `*` written out. */
function placesOf(value: JsonValue | undefined, [step, ...rest]: readonly string[]): string[] {
  if (step === undefined) return value === undefined ? [] : ['']
  if (value === null || typeof value !== 'object') return []
  const keys = keysAt(value, step)
  return keys.flatMap(key => {
    const inner = Array.isArray(value) ? value[Number(key)] : (value as JsonObject)[key]
    return placesOf(inner, rest).map(place => `/${escapeKey(key)}${place}`)
  })
}

function keysAt(value: object, step: string): string[] {
  if (step === '*') return Object.keys(value)
  const key = unescapeKey(step)
  return Object.hasOwn(value, key) ? [key] : []
}

function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** No two edits touch the same place: a field within a value that is set leaves that value. */
function withoutFields(edits: readonly BodyEdit[], places: readonly string[]): BodyEdit[] {
  const isWithin = (place: string, edit: BodyEdit) => edit.op === 'set' && place.startsWith(`${edit.path}/`)
  const narrowed = edits.map((edit): BodyEdit => {
    const inner = places.filter(place => isWithin(place, edit)).map(place => place.slice(edit.path.length))
    if (edit.op !== 'set' || inner.length === 0 || !isObject(edit.value)) return edit
    return {
      ...edit,
      value: applyEdits(
        edit.value,
        inner.map(path => ({ op: 'remove', path })),
      ),
    }
  })
  const loose = places.filter(place => !edits.some(edit => isWithin(place, edit)))
  return [...narrowed, ...loose.map((path): BodyEdit => ({ op: 'remove', path }))]
}
