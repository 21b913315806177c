/** What each kind of schema error means to an operator, and what to write instead. */

import type { Code } from './codes.ts'
import { findReference, type Schema, type Schemas } from './schemas.ts'
import type { Path } from './source.ts'
import { didYouMean, wholeNumberMeant } from './spelling.ts'
import { describe, exampleOf, expectedType, hint, show } from './words.ts'

/** A schema error without Ajv's ways of naming. */
export interface Complaint {
  readonly keyword: string
  /** The schema that holds the keyword. */
  readonly schema: Schema
  readonly params: Readonly<Record<string, unknown>>
  readonly value: unknown
  /** What to call the value in a sentence. */
  readonly name: string
  /** The key, when it is the key that is wrong. */
  readonly key: string | undefined
  /** The value as it is written in the file, or ''. */
  readonly source: () => string
}

export interface Reading {
  readonly code: Code
  readonly message: string
  readonly fix: string
  /** Where, counted from the value that the error is about. */
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
  maximum: ({ name, value, params }) => outOfRange(`${name} is ${show(value)}`, `at most ${String(params.limit)}`),
  minItems: ({ name, params }) => outOfRange(`${name} is too short`, `at least ${String(params.limit)}`),
  minLength: ({ name, params }) => outOfRange(`${name} is too short`, `at least ${String(params.limit)}`),
  maxItems: ({ name, params }) => outOfRange(`${name} is too long`, `at most ${String(params.limit)}`),
  maxLength: ({ name, params }) => outOfRange(`${name} is too long`, `at most ${String(params.limit)}`),
  minProperties: readMinProperties,
  maxProperties: ({ name, params }) => outOfRange(`${name} is too long`, `at most ${String(params.limit)} keys`),
  uniqueItems: readRepeatedItem,
  anyOf: ({ name }) => ({
    code: 'missing-key',
    message: `${name} has neither "min" nor "max"`,
    fix: 'write at least one of the two',
  }),
}

export function readError(complaint: Complaint, schemas: Schemas): Reading {
  const reader = READERS[complaint.keyword]
  if (reader !== undefined) return reader(complaint, schemas)
  return { code: 'bad-form', message: `${complaint.name} is not valid`, fix: hint(complaint.schema) }
}

function outOfRange(message: string, bound: string): Reading {
  return { code: 'out-of-range', message, fix: `write ${bound}` }
}

function readUnknownKey({ params, schema }: Complaint): Reading {
  const key = String(params.additionalProperty)
  const splitNumber = /^[0-9]{3}$/.test(key)
  const fix = splitNumber
    ? 'a comma ends the value: write numbers as digits only'
    : didYouMean(key, Object.keys(schema.properties ?? {}))
  return { code: 'unknown-key', message: `unknown key ${show(key)}`, fix, at: [key], part: 'key' }
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

const OPERATIONS = ['set', 'default', 'drop', 'move', 'clamp', 'map']

function readUnknownOperation({ name, params }: Complaint): Reading {
  const { tagValue } = params
  if (tagValue === undefined) {
    const fix = `write \`op:\` with one of: ${OPERATIONS.join(', ')}`
    return { code: 'missing-key', message: `${name} has no "op"`, fix }
  }
  const message = `"op" cannot be ${show(tagValue)}`
  return { code: 'unknown-word', message, fix: didYouMean(String(tagValue), OPERATIONS), at: ['op'] }
}

function readWrongType({ name, value, schema, source }: Complaint): Reading {
  const message = `${name} is ${describe(value)}, not ${expectedType(schema)}`
  return { code: 'wrong-type', message, fix: typeFix(value, schema, source()) }
}

function typeFix(value: unknown, schema: Schema, source: string): string {
  const isNumber = schema.type === 'integer' || schema.type === 'number'
  const meant = wholeNumberMeant(source)
  if (isNumber && /^[0-9][0-9_., ]*$/.test(typeof value === 'string' ? value : source) && meant !== null) {
    return `write digits only, e.g. ${meant}`
  }
  if (schema.type === 'string' && (typeof value === 'number' || typeof value === 'boolean')) {
    return `put it in quotes: "${source}"`
  }
  return hint(schema)
}

const CREDENTIALS_IN_URL = /^[a-z]+:\/\/[^/]*@/

function readPattern({ name, key, value, schema }: Complaint): Reading {
  if (key !== undefined) {
    const fix = `write ${schema.description ?? 'lower case letters, digits and `-`'}`
    return { code: 'bad-form', message: `${show(key)} cannot be a name here`, fix, at: [key], part: 'key' }
  }
  if (CREDENTIALS_IN_URL.test(String(value))) {
    const fix = 'write the bare address and set UPSTREAM_<ID>_API_KEY in the environment'
    return { code: 'credential', message: `${name} carries a credential`, fix }
  }
  return { code: 'bad-form', message: `${name} cannot be ${show(value)}`, fix: hint(schema) }
}

function readMinimum({ name, value, params }: Complaint): Reading {
  if (name !== '"vnd"') return outOfRange(`${name} is ${show(value)}`, `at least ${String(params.limit)}`)
  const fix = 'write the price in whole dong, e.g. 6500'
  return { code: 'price-zero', message: `a price of ${show(value)} gives the model away`, fix }
}

function readMinProperties({ name }: Complaint): Reading {
  if (name !== '"when"') return outOfRange(`${name} is empty`, 'at least one key')
  return { code: 'missing-key', message: '"when" has no test', fix: 'write one of `exists`, `equals`, `one_of`' }
}

function readRepeatedItem({ name, value, params }: Complaint): Reading {
  const [i, j] = [Number(params.i), Number(params.j)]
  const item = Array.isArray(value) ? (value[i] as unknown) : undefined
  const at = [Math.max(i, j)]
  return { code: 'duplicate-item', message: `${name} names ${show(item)} twice`, fix: 'keep one of the two', at }
}
