/** Writes the tools and the tool choice of a messages request. */

import type { ToolDefinition, ToolRequest } from '../../conversation/request.ts'
import type { JsonObject } from '../../lib/json.ts'

/** Writes `tools` and `tool_choice`. A request without tools must not have either field. */
export function writeTools(tools: ToolRequest): JsonObject {
  if (tools.definitions.length === 0) return {}
  const isSingle = tools.oneCallOnly && tools.choice?.mode !== 'none'
  const choice = tools.choice ?? (isSingle ? ({ mode: 'auto' } as const) : null)
  return {
    tools: tools.definitions.map(writeTool),
    ...(choice !== null && {
      tool_choice: { ...writeChoice(choice), ...(isSingle && { disable_parallel_tool_use: true }) },
    }),
  }
}

function writeTool(tool: ToolDefinition): JsonObject {
  return {
    name: tool.name,
    ...(tool.description !== null && { description: tool.description }),
    input_schema: tool.schema,
    ...(tool.strict && { strict: true }),
    ...(tool.cacheControl !== undefined && { cache_control: tool.cacheControl }),
  }
}

function writeChoice(choice: NonNullable<ToolRequest['choice']>): JsonObject {
  return choice.mode === 'tool' ? { type: 'tool', name: choice.name } : { type: choice.mode }
}
