/** Classifies the items of a responses request. */

import type { JsonObject, JsonValue } from '../../lib/json.ts'

/** Returns the item as an object; null for other values. On the hot path: called many times per item. */
export function itemOf(item: JsonValue | undefined): JsonObject | null {
  return typeof item === 'object' && item !== null ? (item as JsonObject) : null
}

/** Whether an item is a message, which may omit its type. */
export function isMessage(item: JsonValue | undefined): item is JsonObject {
  const given = itemOf(item)
  return given?.type === 'message' || (given !== null && given.type === undefined && given.role !== undefined)
}

export function isSystem(item: JsonValue | undefined): item is JsonObject {
  return isMessage(item) && (item.role === 'system' || item.role === 'developer')
}

export function isReasoning(item: JsonValue | undefined): item is JsonObject {
  return itemOf(item)?.type === 'reasoning'
}

/** Whether an item is a call to a tool that the client runs. */
export function isCall(item: JsonValue | undefined): item is JsonObject {
  return CALLS.has(itemOf(item)?.type)
}

export function isOutput(item: JsonValue | undefined): item is JsonObject {
  const type = itemOf(item)?.type
  return type === 'function_call_output' || type === 'custom_tool_call_output'
}

const CALLS: ReadonlySet<unknown> = new Set([
  ...['function_call', 'custom_tool_call', 'tool_search_call'],
  ...['local_shell_call', 'shell_call', 'apply_patch_call'],
])
