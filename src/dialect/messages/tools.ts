/** Tools of a messages request, the choice among them, and the tool that stands for a JSON reply. */

import { isObject, type JsonObject, type JsonValue, objectOrNull } from '../../lib/json.ts'
import { mapList, withMember, withoutMembers } from '../copy.ts'
import { qualifiesForStrictMessages, toolSchema } from '../schemas.ts'
import { REPLY_TOOL } from '../structure.ts'
import type { DialectFacts } from '../types.ts'

export function withTools(body: JsonObject, choice: JsonObject | null, facts: DialectFacts): JsonObject {
  const { parallelFlag } = facts.dialect.tools
  const flagged = choice === null || parallelFlag ? choice : withoutMembers(choice, ['disable_parallel_tool_use'])
  // The choice that goes without saying was written for its flag.
  const isIdle = facts.road === 'converted' && flagged !== choice && flagged?.type === 'auto'
  const chosen = flagged === null ? body : withMember(body, 'tool_choice', flagged)
  const left = isIdle ? withoutMembers(chosen, ['tool_choice']) : chosen
  if (!Array.isArray(body.tools)) return left
  return withMember(
    left,
    'tools',
    mapList(body.tools, tool => toolFor(tool, facts)),
  )
}

function toolFor(tool: JsonValue, { dialect, road }: DialectFacts): JsonValue {
  if (!isObject(tool)) return tool
  let changed = tool
  const { schema: form } = dialect.tools
  let schema = objectOrNull(tool.input_schema)
  if (road === 'converted') schema = toolSchema(tool.input_schema, form)
  else if (schema !== null && form === 'no_meta_schema') schema = withoutMembers(schema, ['$schema'])
  if (schema !== null) changed = withMember(changed, 'input_schema', schema)
  // A client that writes this format itself is told what is wrong with its schema.
  const isRefused = dialect.tools.strict === 'drop' || (road === 'converted' && !isStrictSchema(tool, schema))
  return isRefused ? withoutMembers(changed, ['strict']) : changed
}

/** As the tool says that it is; without the word nothing is looked at. */
function isStrictSchema({ strict }: JsonObject, schema: JsonObject | null): boolean {
  return strict === undefined || (schema !== null && qualifiesForStrictMessages(schema))
}

/** A tool that must be called in the place of all others: its input is the reply. */
export function withReplyTool(body: JsonObject, schema: JsonObject, { dialect }: DialectFacts): JsonObject {
  const choice = objectOrNull(body.tool_choice)
  const isSingle = choice?.disable_parallel_tool_use === true && dialect.tools.parallelFlag
  return {
    ...body,
    tools: [{ name: REPLY_TOOL, input_schema: toolSchema(schema, dialect.tools.schema) }],
    tool_choice: { type: 'tool', name: REPLY_TOOL, ...(isSingle && { disable_parallel_tool_use: true }) },
  }
}
