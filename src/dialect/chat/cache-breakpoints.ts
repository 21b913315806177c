/** Removes cache breakpoints that a client of another format has set. */

import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { mapList, withMember, withoutMembers } from '../copy.ts'

const CACHE_CONTROL = ['cache_control']

export function withoutCacheBreakpoint(tool: JsonValue): JsonValue {
  return isObject(tool) ? withoutMembers(tool, CACHE_CONTROL) : tool
}

/** Removes cache breakpoints, and merges text parts that were split only to carry them. */
export function withoutCacheBreakpoints(message: JsonObject): JsonObject {
  const { content } = message
  if (!Array.isArray(content)) return message
  const parts = mapList(content, withoutCacheBreakpoint)
  const texts = parts.map(part => (isObject(part) && part.type === 'text' ? part.text : null))
  const isText = texts.every(text => typeof text === 'string')
  const joins = isText && (texts.length === 1 || message.role === 'system' || message.role === 'developer')
  return withMember(message, 'content', joins ? texts.join('\n\n') : parts)
}
