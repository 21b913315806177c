/**
 * Adapts the tools and the tool choice of a responses request. A model that cannot reply in JSON directly gets a tool whose
 * input is the JSON reply, and must call it.
 */

import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { mapList, withMember, withoutMembers } from '../copy.ts'
import { qualifiesForStrictChat, toolSchema } from '../schemas.ts'
import { REPLY_TOOL } from '../structure.ts'
import { goesStrict, schemaFor } from '../tools.ts'
import type { DialectFacts } from '../types.ts'

export function withTools(body: JsonObject, choice: JsonValue | undefined, facts: DialectFacts): JsonObject {
  const { tools } = facts.dialect
  let changed = tools.parallelFlag ? body : withoutMembers(body, ['parallel_tool_calls'])
  if (choice !== undefined) changed = withMember(changed, 'tool_choice', choice)
  return Array.isArray(body.tools) ? withMember(changed, 'tools', toolsFor(body.tools, facts)) : changed
}

function toolsFor(tools: readonly JsonValue[], facts: DialectFacts): JsonValue[] {
  return mapList(tools, tool => {
    if (!isObject(tool)) return tool
    if (tool.type === 'namespace' && Array.isArray(tool.tools)) {
      return withMember(tool, 'tools', toolsFor(tool.tools, facts))
    }
    return tool.type === 'function' ? functionFor(tool, facts) : tool
  })
}

function functionFor(tool: JsonObject, facts: DialectFacts): JsonObject {
  // In converted calls, a function without a schema gets an empty schema.
  const schema = schemaFor(tool.parameters, facts)
  const changed = schema === null ? tool : withMember(tool, 'parameters', schema)
  if (facts.dialect.tools.strict === 'drop') return withoutMembers(changed, ['strict'])
  const strict = goesStrict(tool, schema, facts, qualifiesForStrictChat)
  return strict ? changed : withMember(changed, 'strict', false)
}

/** Replaces the tools with a single tool whose input is the JSON reply, and forces the model to call it. */
export function withReplyTool(body: JsonObject, schema: JsonObject): JsonObject {
  const parameters = toolSchema(schema, 'pass')
  return {
    ...withoutMembers(body, ['parallel_tool_calls']),
    tools: [{ type: 'function', name: REPLY_TOOL, parameters, strict: false }],
    tool_choice: { type: 'function', name: REPLY_TOOL },
  }
}
