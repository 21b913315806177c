/** Arguments of tool calls: a JSON object in the messages format, JSON text in the chat format. */

import { parseExactJson } from '../lib/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'

/** Key for arguments that are not a JSON object: the call is kept with them, so its result still has a match. */
export const UNREADABLE_ARGUMENTS = '_arguments'

/**
 * Arguments as an object. Empty ones become `{}`; text that is not a JSON object is kept under one key, never dropped.
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

/** Arguments in a reply, or in a stream's delta, as text. Some upstreams send an object. */
export function argumentsFragment(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}
