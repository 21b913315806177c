/** Refusals in the wording of the chat completions provider. */

import { type Json, typeName } from '../json.ts'
import { invalid } from '../model.ts'

export function unknownParameter(path: string) {
  return invalid(`Unknown parameter: '${path}'.`, { param: path, code: 'unknown_parameter' })
}

export function wrongType(path: string, expected: string, value: Json | undefined) {
  return invalid(`Invalid type for '${path}': expected ${expected}, but got ${article(typeName(value))} instead.`, {
    param: path,
    code: 'invalid_type',
  })
}

export function wrongValue(path: string, value: Json | undefined, supported: readonly string[]) {
  const list = supported.map(name => `'${name}'`)
  const last = list.pop()
  return invalid(`Invalid value: '${value}'. Supported values are: ${list.join(', ')}, and ${last}.`, {
    param: path,
    code: 'invalid_value',
  })
}

export function emptyArray(path: string) {
  return invalid(
    `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    { param: path, code: 'empty_array' },
  )
}

function article(name: string): string {
  return name === 'null' ? 'null' : /^[aeiou]/.test(name) ? `an ${name}` : `a ${name}`
}

export function unsupported(field: string) {
  const instead = field === 'max_tokens' ? " Use 'max_completion_tokens' instead." : ''
  return invalid(`Unsupported parameter: '${field}' is not supported with this model.${instead}`, {
    param: field,
    code: 'unsupported_parameter',
  })
}

export function missing(path: string) {
  return invalid(`Missing required parameter: '${path}'.`, { param: path, code: 'missing_required_parameter' })
}

export function tooLong(path: string, length: number) {
  return invalid(
    `Invalid '${path}': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`,
    { param: path, code: 'string_above_max_length' },
  )
}
