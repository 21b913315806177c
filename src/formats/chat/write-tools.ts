/** Tools and tool choice of a chat request. */

import type { ToolNames } from '../../conversation/names.ts'
import type { ToolDefinition, ToolRequest } from '../../conversation/request.ts'
import type { Dialect } from '../../generated/types.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'

export interface ToolWriting {
  readonly dialect: Dialect
  readonly names: ToolNames
  /** The model takes a forced choice in this call. */
  readonly forced: boolean
}

/** Without tools none of the fields may be sent. */
export function writeTools(tools: ToolRequest, { dialect, names, forced }: ToolWriting): JsonObject {
  if (tools.definitions.length === 0) return {}
  const choice = writeChoice(tools.choice, names, forced)
  const single = tools.oneCallOnly && dialect.tools.parallelFlag && tools.choice?.mode !== 'none'
  return {
    tools: tools.definitions.map(tool => writeTool(tool, dialect, names)),
    ...(choice !== null && { tool_choice: choice }),
    ...(single && { parallel_tool_calls: false }),
  }
}

function writeTool(tool: ToolDefinition, dialect: Dialect, names: ToolNames): JsonObject {
  return {
    type: 'function',
    function: {
      name: names.upstream(tool.name),
      ...(tool.description !== null && { description: tool.description }),
      parameters: tool.schema,
      ...(tool.strict && { strict: true }),
    },
    ...(tool.cacheControl !== undefined &&
      dialect.content.cacheControl === 'pass' && { cache_control: tool.cacheControl }),
  }
}

function writeChoice(choice: ToolRequest['choice'], names: ToolNames, forced: boolean): JsonValue {
  if (choice === null) return null
  switch (choice.mode) {
    case 'any':
      return forced ? 'required' : 'auto'
    case 'tool':
      return forced ? { type: 'function', function: { name: names.upstream(choice.name) } } : 'auto'
    default:
      return choice.mode
  }
}
