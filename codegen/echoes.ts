/** Drops errors that repeat or follow from another one, so that each mistake is reported once. */

import type { ErrorObject } from 'ajv'
import type { Code } from './codes.ts'
import type { Finding } from './findings.ts'
import type { Schema } from './schemas.ts'
import { nearestWord } from './spelling.ts'

/**
 * If a schema defines at most this many keys, and an object has a single unknown key and lacks a single required one, the
 * unknown key is taken for a misspelling of the missing one, however different they are.
 */
const FEW_KEYS = 6

/** Maps each misspelt key to the key that was probably meant. The misspelt key is given as `<object's path>\0<key>`. */
export type Renamed = ReadonlyMap<string, string>

export function renamedKey({ instancePath }: ErrorObject, key: string): string {
  return `${instancePath}\0${key}`
}

/**
 * Pairs missing keys with unknown keys of the same object. The unknown key is probably a misspelling, so the mistake is reported
 * there.
 */
export function findRenamed(byPlace: ReadonlyMap<string, readonly ErrorObject[]>): Renamed {
  const renamed = new Map<string, string>()
  for (const here of byPlace.values()) {
    const of = (keyword: string) => here.filter(error => error.keyword === keyword)
    const unknown = of('additionalProperties')
    const missing = of('required').map(error => String(error.params.missingProperty))
    const [only] = missing
    for (const error of unknown) {
      const key = String(error.params.additionalProperty)
      const isOnly = unknown.length === 1 && missing.length === 1 && isSmall(error)
      const meant = nearestWord(key, missing) ?? (isOnly ? only : undefined)
      if (meant !== undefined) renamed.set(renamedKey(error, key), meant)
    }
  }
  return renamed
}

function isSmall({ parentSchema }: ErrorObject): boolean {
  return Object.keys((parentSchema as Schema).properties ?? {}).length <= FEW_KEYS
}

function isMeant(key: string, error: ErrorObject, renamed: Renamed): boolean {
  return renamed.get(renamedKey(error, key)) === error.params.missingProperty
}

/** Whether the error only repeats another one. `here`: all errors at the same place, including this one. */
export function isEcho(error: ErrorObject, here: readonly ErrorObject[], renamed: Renamed): boolean {
  const unknown = here
    .filter(({ keyword }) => keyword === 'additionalProperties')
    .map(({ params }) => String(params.additionalProperty))
  switch (error.keyword) {
    case 'required':
      return isSmall(error) ? unknown.length > 0 : unknown.some(key => isMeant(key, error, renamed))
    case 'minProperties':
      return here.some(({ keyword }) => keyword === 'required')
    case 'anyOf':
      return unknown.some(key => nearestWord(key, ['min', 'max']) !== undefined)
    case 'pattern':
      return here.some(({ keyword }) => keyword === 'maxLength')
    default:
      return false
  }
}

/** Findings that make entries look missing or duplicated. */
const HIDES_ENTRIES: ReadonlySet<Code> = new Set([
  'unknown-key',
  'missing-key',
  'wrong-type',
  'bad-form',
  'out-of-range',
  'unknown-prefix',
  'duplicate-family',
])
const CONSEQUENCES: ReadonlySet<Code> = new Set(['count', 'unused-upstream'])

/** Drops findings about counts and unused upstreams unless all entries could be read. */
export function withoutConsequences(findings: readonly Finding[]): readonly Finding[] {
  const isHidden = findings.some(
    ({ code, file }) => code === 'unknown-upstream' || (HIDES_ENTRIES.has(code) && file.includes('/families/')),
  )
  return isHidden ? findings.filter(({ code }) => !CONSEQUENCES.has(code)) : findings
}
