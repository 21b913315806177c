/** Arguments of tool calls: an object in the messages format, JSON text in the chat format. */

import { parseExactJson } from '../lib/exact-json.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'

/** Key under which arguments stand that are no JSON object, so that the call and its result stay together. */
export const UNREADABLE_ARGUMENTS = '_arguments'

/** Arguments as an object. Empty ones are `{}`; text that is no JSON object is kept under one key, never dropped. */
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

/** Text of arguments in a reply or in a piece of a stream: some upstreams send an object. */
export function argumentsFragment(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value
  return value === null || value === undefined ? '' : JSON.stringify(value)
}
