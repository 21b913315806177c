/** Finds and rewrites tool names and call ids throughout a responses request. */

import type { ToolNames } from '../../conversation/names.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import type { CallRewriter } from '../call-rewriter.ts'
import { mapList, withMember } from '../copy.ts'
import type { VisitCalls } from '../tool-names.ts'
import { itemOf } from './items.ts'

/** Visits the tools, the tool choice and the history. */
export const visitCalls: VisitCalls = (body, onName, onId) => {
  const visit = (holder: JsonValue | undefined): void => {
    if (isNamed(holder)) onName(holder.name)
    const inner = itemOf(holder)?.tools
    if (Array.isArray(inner)) for (const tool of inner) visit(tool)
  }
  for (const tool of arrayOrEmpty(body.tools)) visit(tool)
  visit(body.tool_choice)
  for (const item of arrayOrEmpty(body.input)) {
    visit(item)
    const id = itemOf(item)?.call_id
    if (typeof id === 'string') onId(id)
  }
}

const NAMED: ReadonlySet<unknown> = new Set(['function', 'custom', 'function_call', 'custom_tool_call'])

/**
 * Whether a tool, tool choice or item names a tool, so that the name may have to be rewritten. Namespaces, which group tools,
 * keep their names.
 */
function isNamed(value: JsonValue | undefined): value is JsonObject & { name: string } {
  const given = itemOf(value)
  return typeof given?.name === 'string' && NAMED.has(given.type)
}

/** Renames tools everywhere except in the history. */
export function withToolNames(body: JsonObject, names: ToolNames): JsonObject {
  let changed = body
  if (Array.isArray(body.tools)) changed = withMember(changed, 'tools', renamed(body.tools, names))
  const [choice] = isObject(body.tool_choice) ? renamed([body.tool_choice], names) : []
  return choice === undefined ? changed : withMember(changed, 'tool_choice', choice)
}

function renamed(holders: readonly JsonValue[], names: ToolNames): JsonValue[] {
  return mapList(holders, holder => {
    if (!isObject(holder)) return holder
    const named = isNamed(holder) ? withMember(holder, 'name', names.upstream(holder.name)) : holder
    return Array.isArray(named.tools) ? withMember(named, 'tools', renamed(named.tools, names)) : named
  })
}

/** Rewrites the tool names and call ids in the history. */
export function itemsFor(items: readonly JsonValue[], rewriter: CallRewriter): JsonValue[] {
  const named = rewriter.names === null ? items : renamed(items, rewriter.names)
  return mapList(named, item => (isObject(item) ? rewriter.withId(item, 'call_id') : item))
}
