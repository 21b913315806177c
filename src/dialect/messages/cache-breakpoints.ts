/** Removes cache breakpoints that a client of another format has set. */

import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { mapList, withEach, withMember, withoutMembers } from '../copy.ts'

const CACHE_CONTROL = ['cache_control']

/** Removes cache breakpoints, and joins texts that were separate only because of them. */
export function withoutCacheBreakpoints(body: JsonObject): JsonObject {
  let changed = body
  if (Array.isArray(body.system)) changed = withMember(changed, 'system', bareContent(body.system, { joins: true }))
  changed = withEach(changed, 'tools', withoutCacheBreakpoint)
  return withEach(changed, 'messages', message =>
    isObject(message) && Array.isArray(message.content)
      ? withMember(message, 'content', bareContent(message.content))
      : message,
  )
}

function withoutCacheBreakpoint(value: JsonValue): JsonValue {
  return isObject(value) ? withoutMembers(value, CACHE_CONTROL) : value
}

function bareContent(content: readonly JsonValue[], { joins = false } = {}): JsonValue {
  const blocks = mapList(content, bareBlock)
  const texts = blocks.map(block => (isObject(block) && block.type === 'text' ? block.text : null))
  const isText = texts.every(text => typeof text === 'string')
  return isText && (joins || texts.length === 1) ? texts.join('\n') : blocks
}

function bareBlock(block: JsonValue): JsonValue {
  const bare = withoutCacheBreakpoint(block)
  return isObject(bare) && Array.isArray(bare.content) ? withMember(bare, 'content', bareContent(bare.content)) : bare
}
