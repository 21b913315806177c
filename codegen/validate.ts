/** Schema errors as findings: the right place, what is wrong, and what to write. */

import type { ErrorObject, ValidateFunction } from 'ajv'
import type { Code } from './codes.ts'
import type { Finding } from './findings.ts'
import { findReference, type Schema, type Schemas } from './schemas.ts'
import type { Path, SourceFile } from './source.ts'
import { didYouMean } from './spelling.ts'

interface Reading {
  readonly code: Code
  readonly message: string
  readonly fix: string
  /** Counted from the value that the error is about. */
  readonly at?: Path
  readonly part?: 'key' | 'value'
}

const CREDENTIALS_IN_URL = /^[a-z]+:\/\/[^/]*@/

/** Errors that only say that a deeper one exists, which is reported itself. */
const ECHOES = new Set(['oneOf', 'if', 'allOf', 'propertyNames'])

/** Validates one file. An empty or unreadable file has no value to validate and gives its own findings. */
export function validateFile(file: SourceFile, validate: ValidateFunction, schemas: Schemas): Finding[] {
  if (file.value === undefined || validate(file.value)) return []
  return (validate.errors ?? []).flatMap(error => {
    const reading = read(error, schemas)
    if (reading === undefined) return []
    const path = [...pointerSteps(error.instancePath), ...(reading.at ?? [])]
    const { code, message, fix } = reading
    return [{ ...file.locate(path, reading.part ?? 'value'), code, message, fix }]
  })
}

function read(error: ErrorObject, schemas: Schemas): Reading | undefined {
  const schema = (error.parentSchema ?? {}) as Schema
  const params = error.params as Record<string, unknown>
  const name = nameOf(error)
  if (error.propertyName !== undefined && error.keyword === 'pattern') {
    const fix = 'write a name of the form described in the schema, in lower case'
    return {
      code: 'bad-form',
      message: `${show(error.propertyName)} cannot be a name here`,
      fix,
      at: [error.propertyName],
      part: 'key',
    }
  }
  if (ECHOES.has(error.keyword)) return undefined
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(params.additionalProperty)
      const known = Object.keys(schema.properties ?? {})
      return {
        code: 'unknown-key',
        message: `unknown key ${show(key)}`,
        fix: didYouMean(key, known),
        at: [key],
        part: 'key',
      }
    }
    case 'required': {
      const key = String(params.missingProperty)
      return {
        code: 'missing-key',
        message: `${name} has no ${show(key)}`,
        fix: `write \`${key}: ${exampleOf(findReference(schemas, schema.properties?.[key]))}\``,
      }
    }
    case 'discriminator':
      return {
        code: 'unknown-word',
        message: `${name} has no known "op"`,
        fix: didYouMean(String(params.tagValue), OPERATIONS),
        at: ['op'],
      }
    case 'type':
      return {
        code: 'wrong-type',
        message: `${name} is ${describe(error.data)}, not ${expected(schema)}`,
        fix: typeFix(error.data, schema),
      }
    case 'enum':
      return {
        code: 'unknown-word',
        message: `${name} cannot be ${show(error.data)}`,
        fix: didYouMean(String(error.data), (schema.enum ?? []).map(String)),
      }
    case 'pattern':
      if (CREDENTIALS_IN_URL.test(String(error.data))) {
        const fix = 'write the bare address and set UPSTREAM_<ID>_API_KEY in the environment'
        return { code: 'credential', message: `${name} carries a credential`, fix }
      }
      return { code: 'bad-form', message: `${name} cannot be ${show(error.data)}`, fix: `write ${phrase(schema)}` }
    case 'minimum':
      if (name === '"vnd"')
        return {
          code: 'price-zero',
          message: `a price of ${show(error.data)} gives the model away`,
          fix: 'write the price in whole dong, e.g. 6500',
        }
      return {
        code: 'out-of-range',
        message: `${name} is ${show(error.data)}`,
        fix: `write at least ${String(params.limit)}`,
      }
    case 'maximum':
      return {
        code: 'out-of-range',
        message: `${name} is ${show(error.data)}`,
        fix: `write at most ${String(params.limit)}`,
      }
    case 'uniqueItems': {
      const item = (error.data as unknown[])[Number(params.i)]
      return {
        code: 'duplicate-item',
        message: `${name} names ${show(item)} twice`,
        fix: 'keep one of the two',
        at: [Math.max(Number(params.i), Number(params.j))],
      }
    }
    case 'anyOf':
      return {
        code: 'missing-key',
        message: `${name} has neither "min" nor "max"`,
        fix: 'write at least one of the two',
      }
    case 'minItems':
    case 'minLength':
      return { code: 'out-of-range', message: `${name} is too short`, fix: `write at least ${String(params.limit)}` }
    case 'maxItems':
    case 'maxLength':
      return { code: 'out-of-range', message: `${name} is too long`, fix: `write at most ${String(params.limit)}` }
    case 'minProperties':
      if (name === '"when"') {
        return { code: 'missing-key', message: '"when" has no test', fix: 'write one of `exists`, `equals`, `one_of`' }
      }
      return { code: 'out-of-range', message: `${name} is empty`, fix: 'write at least one key' }
    case 'maxProperties':
      return { code: 'out-of-range', message: `${name} is too long`, fix: `write at most ${String(params.limit)} keys` }
    default:
      return { code: 'bad-form', message: `${name} ${error.message ?? 'is not valid'}`, fix: `write ${phrase(schema)}` }
  }
}

const OPERATIONS = ['set', 'default', 'drop', 'move', 'clamp', 'map']

function pointerSteps(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The key that the value stands under, or what it is an item of. */
function nameOf(error: ErrorObject): string {
  const steps = pointerSteps(error.instancePath)
  const last = steps.findLast(step => !/^[0-9]+$/.test(String(step)))
  if (last === undefined) return 'the file'
  return /^[0-9]+$/.test(String(steps.at(-1))) ? `an item of ${show(last)}` : show(last)
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

function describe(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'string') return `the text ${show(value)}`
  if (typeof value === 'object') return 'a mapping'
  return show(value)
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  null: 'null',
}

function expected(schema: Schema): string {
  return [schema.type ?? []]
    .flat()
    .map(type => TYPE_WORDS[type] ?? type)
    .join(' or ')
}

function typeFix(value: unknown, schema: Schema): string {
  const isNumber = schema.type === 'integer' || schema.type === 'number'
  if (isNumber && typeof value === 'string' && /^[0-9][0-9_., ]*$/.test(value)) {
    return `write digits only, without quotes: ${value.replace(/[^0-9]/g, '')}`
  }
  if (schema.type === 'string' && (typeof value === 'number' || typeof value === 'boolean'))
    return `put it in quotes: "${String(value)}"`
  return `write ${phrase(schema)}`
}

/** What to write, from the schema's own examples and words. */
function phrase(schema: Schema): string {
  if (schema.examples?.[0] !== undefined) return `for example ${exampleOf(schema)}`
  return schema.description === undefined ? expected(schema) : schema.description.replace(/\.$/, '')
}

function exampleOf(schema: Schema | undefined): string {
  const example = schema?.examples?.[0] ?? schema?.default ?? schema?.enum?.[0]
  return example === undefined ? '…' : typeof example === 'string' ? example : flow(example)
}

/** A value in YAML's flow form, as operators write it. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(', ')}]`
  if (value === null || typeof value !== 'object') return String(value)
  const members = Object.entries(value).map(([key, member]) => `${key}: ${flow(member)}`)
  return `{ ${members.join(', ')} }`
}
