/** Writes the tools and the tool choice of a chat request. */

import type { ToolDefinition, ToolRequest } from '../../conversation/request.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'

/** Writes the tool fields. If there are no tools, all of them must be absent. */
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
