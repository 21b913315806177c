/** Tools and tool choice of a messages request. */

import type { ToolNames } from '../../conversation/names.ts'
import type { ToolDefinition, ToolRequest } from '../../conversation/request.ts'
import type { Dialect } from '../../generated/types.ts'
import type { JsonObject } from '../../lib/json.ts'

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
  const single = tools.oneCallOnly && dialect.tools.parallelFlag && choice?.type !== 'none'
  const flag = single ? { disable_parallel_tool_use: true } : {}
  const chosen = choice === null && single ? { type: 'auto' } : choice
  return {
    tools: tools.definitions.map(tool => writeTool(tool, dialect, names)),
    ...(chosen !== null && { tool_choice: { ...chosen, ...flag } }),
  }
}

function writeTool(tool: ToolDefinition, dialect: Dialect, names: ToolNames): JsonObject {
  return {
    name: names.upstream(tool.name),
    ...(tool.description !== null && { description: tool.description }),
    input_schema: tool.schema,
    ...(tool.strict && { strict: true }),
    ...(tool.cacheControl !== undefined &&
      dialect.content.cacheControl === 'pass' && { cache_control: tool.cacheControl }),
  }
}

function writeChoice(choice: ToolRequest['choice'], names: ToolNames, forced: boolean): JsonObject | null {
  if (choice === null) return null
  switch (choice.mode) {
    case 'any':
      return { type: forced ? 'any' : 'auto' }
    case 'tool':
      return forced ? { type: 'tool', name: names.upstream(choice.name) } : { type: 'auto' }
    default:
      return { type: choice.mode }
  }
}
