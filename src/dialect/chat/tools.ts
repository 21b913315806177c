/** Adapts the tools and the tool choice of a chat request, and writes the tool whose input becomes a JSON reply. */

import { isObject, type JsonObject, type JsonValue, objectOrNull } from '../../lib/json.ts'
import { withEach, withMember, withoutMembers } from '../copy.ts'
import { qualifiesForStrictChat, toolSchema } from '../schemas.ts'
import { REPLY_TOOL } from '../structure.ts'
import { goesStrict, schemaFor } from '../tools.ts'
import { type DialectFacts, dropsCacheBreakpoints } from '../types.ts'
import { withoutCacheBreakpoint } from './cache-breakpoints.ts'

export function withTools(body: JsonObject, choice: JsonValue | undefined, facts: DialectFacts): JsonObject {
  const { tools } = facts.dialect
  let changed = tools.parallelFlag ? body : withoutMembers(body, ['parallel_tool_calls'])
  if (choice !== undefined) changed = withMember(changed, 'tool_choice', choice)
  return withEach(changed, 'tools', tool => toolFor(tool, facts))
}

function toolFor(given: JsonValue, facts: DialectFacts): JsonValue {
  const tool = dropsCacheBreakpoints(facts) ? withoutCacheBreakpoint(given) : given
  const fn = isObject(tool) ? objectOrNull(tool.function) : null
  if (!isObject(tool) || fn === null) return tool
  const schema = schemaFor(fn.parameters, facts)
  const changed = schema === null ? fn : withMember(fn, 'parameters', schema)
  const strict = goesStrict(fn, schema, facts, qualifiesForStrictChat)
  return withMember(tool, 'function', strict ? changed : withoutMembers(changed, ['strict']))
}

/** Replaces the tools with a single tool whose input is the reply, and forces a call of it. */
export function withReplyTool(body: JsonObject, schema: JsonObject): JsonObject {
  const fn = { name: REPLY_TOOL, parameters: toolSchema(schema, 'pass') }
  return {
    ...withoutMembers(body, ['parallel_tool_calls']),
    tools: [{ type: 'function', function: fn }],
    tool_choice: { type: 'function', function: { name: REPLY_TOOL } },
  }
}
