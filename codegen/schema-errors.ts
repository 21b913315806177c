/** Says what each kind of schema error means to an operator, and what to write instead. */

import type { Code } from './codes.ts'
import { homeOf } from './homes.ts'
import { oldWordAt } from './old-words.ts'
import { findReference, type Schema, type Schemas } from './schemas.ts'
import type { Path } from './source.ts'
import { didYouMean, wholeNumberMeant } from './spelling.ts'
import { asRecord } from './view.ts'
import { describe, exampleOf, expectedType, hint, oddCharacter, show } from './words.ts'

/** A schema error, with what is needed to explain it. */
export interface Complaint {
  readonly keyword: string
  /** The schema whose `keyword` the value violates. */
  readonly schema: Schema
  readonly params: Readonly<Record<string, unknown>>
  readonly value: unknown
  /** How to name the value in a sentence. */
  readonly name: string
  readonly path: Path
  /** The key, if it is the key that is wrong. */
  readonly key: string | undefined
  /** For an unknown key: the missing key that the author probably meant. */
  readonly meant?: string
  /** The value as written in the file, or ''. */
  readonly source: () => string
}

export interface Reading {
  readonly code: Code
  readonly message: string
  readonly fix: string
  /** Path of the finding, relative to the value. */
  readonly at?: Path
  readonly part?: 'key' | 'value'
}

type Reader = (complaint: Complaint, schemas: Schemas) => Reading

const READERS: Readonly<Record<string, Reader>> = {
  additionalProperties: readUnknownKey,
  required: readMissingKey,
  discriminator: readUnknownOperation,
  type: readWrongType,
  enum: readUnknownWord,
  pattern: readPattern,
  minimum: readMinimum,
  maximum: ({ name, value, params, schema }) =>
    outOfRange(`${name} is ${show(value)}`, `at most ${String(params.limit)}${unitOf(schema)}`),
  minItems: ({ name, params }) => outOfRange(`${name} has too few items`, `at least ${String(params.limit)}`),
  minLength: ({ name, schema }) => ({ code: 'out-of-range', message: `${name} is empty`, fix: hint(schema) }),
  maxItems: ({ name, params }) => outOfRange(`${name} has too many items`, `at most ${String(params.limit)}`),
  maxLength: ({ name, params }) => outOfRange(`${name} is too long`, `at most ${String(params.limit)} characters`),
  minProperties: readMinProperties,
  maxProperties: readMaxProperties,
  uniqueItems: readRepeatedItem,
  anyOf: ({ name }) => ({
    code: 'missing-key',
    message: `${name} has neither "min" nor "max"`,
    fix: 'write at least one of the two',
  }),
}

export function readError(complaint: Complaint, schemas: Schemas): Reading {
  const old = readOldWord(complaint)
  if (old !== null) return old
  const reader = READERS[complaint.keyword]
  if (reader !== undefined) return reader(complaint, schemas)
  return { code: 'bad-form', message: `${complaint.name} is not valid`, fix: hint(complaint.schema) }
}

/** Recognises keys and values from earlier versions of the schema, which have since been renamed or removed. */
function readOldWord({ keyword, params, path, value }: Complaint): Reading | null {
  const isKey = keyword === 'additionalProperties'
  const key = isKey ? String(params.additionalProperty) : undefined
  const full = key === undefined ? path : [...path, key]
  const found = key === undefined ? value : asRecord(value)[key]
  const old = oldWordAt(full, found)
  if (old === null) return null
  const { message, now } = old
  const fix = now === null ? 'leave it out' : `write \`${now}\`, or run \`catalogue migrate-words\``
  return { code: 'old-word', message, fix, ...(key !== undefined && { at: [key], part: 'key' as const }) }
}

function outOfRange(message: string, bound: string): Reading {
  return { code: 'out-of-range', message, fix: `write ${bound}` }
}

/** Names the unit, because people often confuse milliseconds with seconds. */
function unitOf({ unit }: Schema): string {
  return unit === 'ms' ? ' ms' : ''
}

const CREDENTIAL_KEYS =
  /^(api[-_]?|access[-_]?|secret[-_]?|auth[-_]?)?(key|token|secret|password|credentials?)(s|[-_].*)?$/i

function readUnknownKey({ params, schema, meant, value }: Complaint, schemas: Schemas): Reading {
  const key = String(params.additionalProperty)
  const at = { at: [key], part: 'key' } as const
  const message = `unknown key ${show(key)}`
  if (CREDENTIAL_KEYS.test(key) && meant === undefined) {
    const fix = 'leave it out, and set UPSTREAM_<ID>_API_KEY in the environment'
    return { code: 'credential', message: `${show(key)}: credentials do not belong in the catalogue`, fix, ...at }
  }
  const splitNumber = /^[0-9]{3}$/.test(key)
  const fix = splitNumber
    ? 'a comma ends the value: write numbers as digits only'
    : meant !== undefined
      ? `did you mean "${meant}"?`
      : (homeOf({ key, value: asRecord(value)[key] }, schema, schemas) ??
        didYouMean(key, Object.keys(schema.properties ?? {})))
  return { code: 'unknown-key', message, fix, ...at }
}

function readUnknownWord({ name, key, value, schema }: Complaint): Reading {
  const fix = didYouMean(String(value), (schema.enum ?? []).map(String))
  if (key === undefined) return { code: 'unknown-word', message: `${name} cannot be ${show(value)}`, fix }
  return { code: 'unknown-key', message: `unknown key ${show(key)}`, fix, at: [key], part: 'key' }
}

function readMissingKey({ name, params, schema }: Complaint, schemas: Schemas): Reading {
  const key = String(params.missingProperty)
  const example = exampleOf(findReference(schemas, schema.properties?.[key]))
  return { code: 'missing-key', message: `${name} has no ${show(key)}`, fix: `write \`${key}: ${example}\`` }
}

/** Names that other tools use for the operations of rules, each with our own name. */
const OTHER_OPERATIONS: Readonly<Record<string, string>> = {
  remove: 'drop',
  delete: 'drop',
  unset: 'drop',
  rename: 'move',
  replace: 'set',
  add: 'set',
  limit: 'clamp',
}
const OPERATIONS = ['set', 'default', 'drop', 'move', 'clamp', 'map']

function readUnknownOperation({ name, params }: Complaint): Reading {
  const { tagValue } = params
  if (tagValue === undefined) {
    const fix = `write \`op:\` with one of: ${OPERATIONS.join(', ')}`
    return { code: 'missing-key', message: `${name} has no "op"`, fix }
  }
  const message = `"op" cannot be ${show(tagValue)}`
  const other = OTHER_OPERATIONS[String(tagValue)]
  const fix = other === undefined ? didYouMean(String(tagValue), OPERATIONS) : `did you mean "${other}"?`
  return { code: 'unknown-word', message, fix, at: ['op'] }
}

function readWrongType({ name, value, schema, source }: Complaint): Reading {
  const message = `${name} is ${describe(value)}, not ${expectedType(schema)}`
  return { code: 'wrong-type', message, fix: typeFix(value, schema, source()) }
}

/** Matches digits, perhaps grouped, with or without a currency, but without a multiplier such as k. */
const DIGITS = /^([0-9][0-9_., ']*)\s*(vnd|vnđ|đ|₫|dong|đồng)?$/i

function typeFix(value: unknown, schema: Schema, source: string): string {
  const isNumber = schema.type === 'integer' || schema.type === 'number'
  const digits = DIGITS.exec((typeof value === 'string' ? value : source).normalize('NFKC'))?.[1]
  const meant = digits === undefined ? null : wholeNumberMeant(digits)
  if (isNumber && meant !== null) return `write digits only, e.g. ${meant}`
  const isText = schema.type === 'string' && (typeof value === 'number' || typeof value === 'boolean')
  if (isText && new RegExp(schema.pattern ?? '').test(source)) return `put it in quotes: "${source}"`
  return hint(schema)
}

const CREDENTIALS_IN_URL = /^[a-z]+:\/\/[^/]*@|[?&](api[-_]?)?(key|token|secret|password)=/i

function readPattern({ name, key, value, schema }: Complaint): Reading {
  if (key !== undefined) {
    const fix = `write ${schema.description ?? 'lower case letters, digits and `-`'}`
    return { code: 'bad-form', message: `${show(key)} cannot be a name here`, fix, at: [key], part: 'key' }
  }
  if (CREDENTIALS_IN_URL.test(String(value))) {
    const fix = 'write the bare address and set UPSTREAM_<ID>_API_KEY in the environment'
    return { code: 'credential', message: `${name} carries a credential`, fix }
  }
  const message = `${name} cannot be ${show(value)}${oddCharacter(value)}`
  return { code: 'bad-form', message, fix: patternFix(String(value), schema) }
}

function patternFix(value: string, schema: Schema): string {
  if (value.includes('${')) return 'write the value itself: nothing is filled in from the environment'
  const words = /^\^\(([a-z_|]+)\)\$$/.exec(schema.pattern ?? '')?.[1]?.split('|')
  if (words !== undefined) return didYouMean(value, words)
  const fits = (other: string) => other !== value && new RegExp(schema.pattern ?? '', 'u').test(other)
  if (fits(value.trim())) return `write it without the spaces around it: ${value.trim()}`
  return fits(value.toLowerCase()) ? `write it in lower case: ${value.toLowerCase()}` : hint(schema)
}

function readMinimum({ name, value, params, schema }: Complaint): Reading {
  if (name !== '"vnd"')
    return outOfRange(`${name} is ${show(value)}`, `at least ${String(params.limit)}${unitOf(schema)}`)
  const fix = 'write the price in whole dong, e.g. 6500'
  return { code: 'price-zero', message: `a price of ${show(value)} gives the model away`, fix }
}

function readMinProperties({ name }: Complaint): Reading {
  if (name !== '"when"') return outOfRange(`${name} is empty`, 'at least one key')
  return { code: 'missing-key', message: '"when" has no test', fix: 'write one of `exists`, `equals`, `one_of`' }
}

function readMaxProperties({ name, params }: Complaint): Reading {
  if (name !== '"when"') return outOfRange(`${name} is too long`, `at most ${String(params.limit)} keys`)
  return {
    code: 'out-of-range',
    message: '"when" has more than one test',
    fix: 'keep one of `exists`, `equals`, `one_of`',
  }
}

function readRepeatedItem({ name, value, params }: Complaint): Reading {
  const [i, j] = [Number(params.i), Number(params.j)]
  const item = Array.isArray(value) ? (value[i] as unknown) : undefined
  const at = [Math.max(i, j)]
  return { code: 'duplicate-item', message: `${name} names ${show(item)} twice`, fix: 'keep one of the two', at }
}
