/**
 * Checks the types of the parameters that are carried over when a request is converted. A value of a wrong type is refused
 * rather than silently dropped.
 */

import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'
import { refuse } from './refuse.ts'

export type Kind = 'number' | 'integer' | 'boolean' | 'text' | 'object' | 'list' | 'text or list' | 'text or object'

/**
 * The required type of the value at each path; `*` stands for every element of a list. Missing and null values are always valid.
 */
export type Types = Readonly<Record<string, Kind>>

/** Reasoning parameters that the chat and messages formats share. */
export const REASONING_TYPES: Types = {
  thinking: 'object',
  'thinking.type': 'text',
  'thinking.budget_tokens': 'integer',
}
/** Sampling parameters that the chat and messages formats share. */
export const SAMPLING_TYPES: Types = { temperature: 'number', top_p: 'number', top_k: 'integer' }

const WORDS: Readonly<Record<Kind, string>> = {
  number: 'Input should be a valid number',
  integer: 'Input should be a valid integer',
  boolean: 'Input should be a valid boolean',
  text: 'Input should be a valid string',
  object: 'Input should be a valid object',
  list: 'Input should be a valid list',
  'text or list': 'Input should be a valid string or list',
  'text or object': 'Input should be a valid string or object',
}

/** How a format writes the path of a list element: `stop.0` or `stop[0]`. */
export type Notation = 'dots' | 'brackets'

interface Rule {
  readonly path: readonly string[]
  readonly kind: Kind
}

/**
 * Throws GatewayError `invalid_request` if a value has a wrong type. The error names the value's path in the notation of the
 * client's format.
 */
export type RefuseWrongTypes = (body: JsonObject) => void

export function typeChecker(types: Types, notation: Notation): RefuseWrongTypes {
  const rules: readonly Rule[] = Object.entries(types).map(([path, kind]) => ({ path: path.split('.'), kind }))
  return body => {
    for (const rule of rules) {
      const indexes = findWrong(body, rule, 0)
      if (indexes !== null) refuse(placeOf(rule.path, indexes, notation), WORDS[rule.kind])
    }
  }
}

/**
 * Follows the rule's path from `step` to the first value of a wrong type. Returns the list index taken at each `*` of the path;
 * null if no value is wrong.
 */
function findWrong(value: JsonValue | undefined, rule: Rule, step: number): number[] | null {
  if (value === undefined || value === null) return null
  const key = rule.path[step]
  if (key === undefined) return isOf(value, rule.kind) ? null : []
  if (key !== '*') return isObject(value) && Object.hasOwn(value, key) ? findWrong(value[key], rule, step + 1) : null
  // Values other than lists are checked by other rules, or where they are read.
  if (!Array.isArray(value)) return null
  for (let index = 0; index < value.length; index++) {
    const wrong = findWrong(value[index], rule, step + 1)
    if (wrong !== null) return [index, ...wrong]
  }
  return null
}

function placeOf(path: readonly string[], indexes: readonly number[], notation: Notation): string {
  let place = ''
  let used = 0
  for (const key of path) {
    if (key !== '*') place += place === '' ? key : `.${key}`
    else place += notation === 'dots' ? `.${indexes[used++]}` : `[${indexes[used++]}]`
  }
  return place
}

function isOf(value: JsonValue, kind: Kind): boolean {
  switch (kind) {
    case 'number':
      return typeof value === 'number'
    case 'integer':
      return Number.isInteger(value)
    case 'boolean':
      return typeof value === 'boolean'
    case 'text':
      return typeof value === 'string'
    case 'object':
      return isObject(value)
    case 'list':
      return Array.isArray(value)
    case 'text or list':
      return typeof value === 'string' || Array.isArray(value)
    case 'text or object':
      return typeof value === 'string' || isObject(value)
  }
}
