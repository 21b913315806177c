/** Tools of a chat request, the choice among them, and the tool that stands for a JSON reply. */

import { isObject, type JsonObject, type JsonValue, objectOrNull } from '../../lib/json.ts'
import { mapList, withMember, withoutMembers } from '../copy.ts'
import { qualifiesForStrictChat, toolSchema } from '../schemas.ts'
import { REPLY_TOOL } from '../structure.ts'
import { type DialectFacts, dropsMarks } from '../types.ts'
import { withoutMark } from './cache-marks.ts'

export function withTools(body: JsonObject, choice: JsonValue | undefined, facts: DialectFacts): JsonObject {
  const { tools } = facts.dialect
  let changed = tools.parallelFlag ? body : withoutMembers(body, ['parallel_tool_calls'])
  if (choice !== undefined) changed = withMember(changed, 'tool_choice', choice)
  if (!Array.isArray(body.tools)) return changed
  return withMember(
    changed,
    'tools',
    mapList(body.tools, tool => toolFor(tool, facts)),
  )
}

function toolFor(given: JsonValue, facts: DialectFacts): JsonValue {
  const { dialect, road } = facts
  const tool = dropsMarks(facts) ? withoutMark(given) : given
  const fn = isObject(tool) ? objectOrNull(tool.function) : null
  if (!isObject(tool) || fn === null) return tool
  let changed = fn
  const { schema: form } = dialect.tools
  let schema = objectOrNull(fn.parameters)
  if (road === 'converted') schema = toolSchema(fn.parameters, form)
  else if (schema !== null && form === 'no_meta_schema') schema = withoutMembers(schema, ['$schema'])
  if (schema !== null) changed = withMember(changed, 'parameters', schema)
  // A client that writes this format itself is told what is wrong with its schema.
  const isRefused = dialect.tools.strict === 'drop' || (road === 'converted' && !isStrictSchema(fn, schema))
  return withMember(tool, 'function', isRefused ? withoutMembers(changed, ['strict']) : changed)
}

/** As the tool says that it is; without the word nothing is looked at. */
function isStrictSchema({ strict }: JsonObject, schema: JsonObject | null): boolean {
  return strict === undefined || (schema !== null && qualifiesForStrictChat(schema))
}

/** A tool that must be called in the place of all others: its input is the reply. */
export function withReplyTool(body: JsonObject, schema: JsonObject): JsonObject {
  const fn = { name: REPLY_TOOL, parameters: toolSchema(schema, 'pass') }
  return {
    ...withoutMembers(body, ['parallel_tool_calls']),
    tools: [{ type: 'function', function: fn }],
    tool_choice: { type: 'function', function: { name: REPLY_TOOL } },
  }
}
