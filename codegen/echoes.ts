/** Errors that only say again what another one says, or what follows from it: a mistake is one finding. */

import type { ErrorObject } from 'ajv'
import type { Code } from './codes.ts'
import type { Finding } from './findings.ts'
import type { Schema } from './schemas.ts'
import { nearestWord } from './spelling.ts'

/** Members of an object that are few enough to tell which one a strange key was meant to be. */
const FEW_KEYS = 6

/** Unknown keys with what they were meant to be, by the place of their object: `\0` between the two. */
export type Renamed = ReadonlyMap<string, string>

export function renamedKey({ instancePath }: ErrorObject, key: string): string {
  return `${instancePath}\0${key}`
}

/** A key that is missing where another one is unknown was misspelt: that is said of the unknown one. */
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

/** `here`: all errors of the same place, this one among them. */
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

/** What makes entries look lost, or more than they are. */
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

/** Counts, and what nobody uses, are judged where all entries can be read. */
export function withoutConsequences(findings: readonly Finding[]): readonly Finding[] {
  const isHidden = findings.some(
    ({ code, file }) => code === 'unknown-upstream' || (HIDES_ENTRIES.has(code) && file.includes('/families/')),
  )
  return isHidden ? findings.filter(({ code }) => !CONSEQUENCES.has(code)) : findings
}
