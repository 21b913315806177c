/** What the items of a responses request are, for the passes over them. */

import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'

/** The type may be left out of a message. */
export function isMessage(item: JsonValue | undefined): item is JsonObject {
  return isObject(item) && (item.type === 'message' || (item.type === undefined && item.role !== undefined))
}

export function isSystem(item: JsonValue | undefined): item is JsonObject {
  return isMessage(item) && (item.role === 'system' || item.role === 'developer')
}

export function isReasoning(item: JsonValue | undefined): item is JsonObject {
  return isObject(item) && item.type === 'reasoning'
}

/** A call that the client runs, or ran. */
export function isCall(item: JsonValue | undefined): item is JsonObject {
  return isObject(item) && typeof item.type === 'string' && CALLS.has(item.type)
}

export function isOutput(item: JsonValue | undefined): item is JsonObject {
  return isObject(item) && (item.type === 'function_call_output' || item.type === 'custom_tool_call_output')
}

const CALLS = new Set([
  ...['function_call', 'custom_tool_call', 'tool_search_call'],
  ...['local_shell_call', 'shell_call', 'apply_patch_call'],
])
