/** Converts the arguments of tool calls between a JSON object (messages format) and JSON text (chat format). */

import { parseExactJson } from '../lib/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'

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
  const parsed = parseExactJson(value)
  if (isObject(parsed)) return parsed
  if (parsed === null) return {}
  return { [UNREADABLE_ARGUMENTS]: value }
}

/** Returns the arguments in a reply or in a stream's delta as text. Some upstreams send an object. */
export function argumentsFragment(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}
