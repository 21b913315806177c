/**
 * Functions that name the tools which may call them (`allowed_callers`, messages format). A function whose only caller is left out
 * could not be called at all, so it becomes one that the model calls itself (vendor documentation of programmatic tool calling,
 * read 2026-11).
 */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'

/** Returns the tools without callers that are gone; null if no tool names one. */
export function withoutCallers(
  tools: readonly JsonValue[],
  isGone: (type: JsonValue) => boolean,
): readonly JsonValue[] | null {
  const freed = tools.map(tool => (isObject(tool) ? freedTool(tool, isGone) : tool))
  return freed.some((tool, index) => tool !== tools[index]) ? freed : null
}

function freedTool(tool: JsonObject, isGone: (type: JsonValue) => boolean): JsonObject {
  const callers = arrayOrEmpty(tool.allowed_callers)
  const left = callers.filter(caller => !isGone(caller))
  if (left.length === callers.length) return tool
  const { allowed_callers: _, ...others } = tool
  return left.length === 0 ? others : { ...tool, allowed_callers: left }
}
