/** Converts the arguments of tool calls between a JSON object (messages format) and JSON text (chat format). */

import { ofCharacters } from '../lib/byte-text.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'
import { JsonScan } from '../lib/json-scan.ts'
import { NESTING_MAX, NestingError } from '../lib/json-text.ts'

/**
 * Key for arguments that are not a JSON object. A call with such arguments is not dropped, because a later tool result will
 * refer to it.
 */
export const UNREADABLE_ARGUMENTS = '_arguments'

/**
 * Returns arguments as an object. Empty arguments become `{}`; text that is not a JSON object is kept under UNREADABLE_ARGUMENTS.
 */
export function argumentsObject(value: JsonValue | undefined): JsonObject {
  if (isObject(value)) return value
  if (value === null || value === undefined) return {}
  if (typeof value !== 'string') return { [UNREADABLE_ARGUMENTS]: value }
  if (value.trim() === '') return {}
  const parsed = isTooDeep(value) ? undefined : parseExactJson(value)
  if (isObject(parsed)) return parsed
  if (parsed === null) return {}
  return { [UNREADABLE_ARGUMENTS]: value }
}

/** Whether a text is nested so deeply that writing it again would fail. */
function isTooDeep(text: string): boolean {
  if (text.length <= NESTING_MAX * 2) return false
  try {
    new JsonScan(ofCharacters(text), { valuesMax: Number.POSITIVE_INFINITY }).run(Number.POSITIVE_INFINITY)
    return false
  } catch (error) {
    return error instanceof NestingError
  }
}

/** Returns the arguments in a reply or in a stream's delta as text. Some upstreams send an object. */
export function argumentsFragment(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}
