/** Writes the tool fields of a chat request. */

import type { ToolDefinition, ToolRequest } from '../../conversation/request.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'

/** Returns no fields if there are no tools: upstreams reject `tool_choice` and `parallel_tool_calls` without `tools`. */
export function writeTools(tools: ToolRequest): JsonObject {
  if (tools.definitions.length === 0) return {}
  const choice = writeChoice(tools.choice)
  return {
    tools: tools.definitions.map(writeTool),
    ...(choice !== null && { tool_choice: choice }),
    ...(tools.oneCallOnly && choice !== 'none' && { parallel_tool_calls: false }),
  }
}

function writeTool(tool: ToolDefinition): JsonObject {
  return {
    type: 'function',
    function: {
      name: tool.name,
      ...(tool.description !== null && { description: tool.description }),
      parameters: tool.schema,
      ...(tool.strict && { strict: true }),
    },
    ...(tool.cacheControl !== undefined && { cache_control: tool.cacheControl }),
  }
}

function writeChoice(choice: ToolRequest['choice']): JsonValue {
  if (choice === null) return null
  switch (choice.mode) {
    case 'any':
      return 'required'
    case 'tool':
      return { type: 'function', function: { name: choice.name } }
    default:
      return choice.mode
  }
}
