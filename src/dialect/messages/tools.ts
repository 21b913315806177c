/**
 * Adapts the tools and the tool choice of a messages request. For models without structured output, requests a JSON reply as
 * the input of a tool call.
 */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull } from '../../lib/json.ts'
import { withEach, withMember, withoutMembers } from '../copy.ts'
import { fitStrictMessages, qualifiesForStrictMessages, toolSchema } from '../schemas.ts'
import { REPLY_TOOL } from '../structure.ts'
import { goesStrict, schemaFor } from '../tools.ts'
import type { DialectFacts } from '../types.ts'

export function withTools(body: JsonObject, choice: JsonObject | null, facts: DialectFacts): JsonObject {
  const { parallelFlag } = facts.dialect.tools
  const flagged = choice === null || parallelFlag ? choice : withoutMembers(choice, ['disable_parallel_tool_use'])
  // A converted request has an `auto` choice only to carry `disable_parallel_tool_use`, so without the flag, it is removed.
  const isIdle = facts.formatPath === 'converted' && flagged !== choice && flagged?.type === 'auto'
  const chosen = flagged === null ? body : withMember(body, 'tool_choice', flagged)
  const left = isIdle ? withoutMembers(chosen, ['tool_choice']) : chosen
  return withEach(left, 'tools', tool => toolFor(tool, facts))
}

function toolFor(tool: JsonValue, facts: DialectFacts): JsonValue {
  if (!isObject(tool)) return tool
  const schema = schemaFor(tool.input_schema, facts)
  const changed = schema === null ? tool : withMember(tool, 'input_schema', schema)
  const strict = goesStrict(tool, schema, facts, qualifiesForStrictMessages)
  return strict ? changed : withoutMembers(changed, ['strict'])
}

/**
 * Sends all tools without `strict` if their schemas and the reply's are too many or too large together. Only for converted calls:
 * other formats have no such limit.
 */
export function withinStrictLimits(body: JsonObject, { formatPath }: DialectFacts): JsonObject {
  if (formatPath === 'same') return body
  const strict = arrayOrEmpty(body.tools)
    .filter(isObject)
    .filter(tool => tool.strict === true)
  const format = objectOrNull(objectOrNull(body.output_config)?.format)
  const schemas = [...strict.map(tool => tool.input_schema), format?.schema].filter(isObject)
  if (strict.length === 0 || fitStrictMessages(schemas)) return body
  return withEach(body, 'tools', tool => (isObject(tool) ? withoutMembers(tool, ['strict']) : tool))
}

/** Replaces the tools with a single tool whose input has the schema of the reply, and forces the model to call it. */
export function withReplyTool(body: JsonObject, schema: JsonObject, { dialect }: DialectFacts): JsonObject {
  const choice = objectOrNull(body.tool_choice)
  const isSingle = choice?.disable_parallel_tool_use === true && dialect.tools.parallelFlag
  return {
    ...body,
    tools: [{ name: REPLY_TOOL, input_schema: toolSchema(schema, dialect.tools.schema) }],
    tool_choice: { type: 'tool', name: REPLY_TOOL, ...(isSingle && { disable_parallel_tool_use: true }) },
  }
}
