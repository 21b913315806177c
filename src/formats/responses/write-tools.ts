/** Writes the tools and the tool choice of a responses request. */

import type { ToolChoice, ToolDefinition, ToolRequest } from '../../conversation/request.ts'
import type { Dialect } from '../../generated/types.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'

/** Returns the names of the tools to send as free-form tools: none unless the upstream supports such tools. */
export function freeformNames({ definitions }: ToolRequest, { tools }: Dialect): ReadonlySet<string> {
  if (tools.custom !== 'native') return new Set()
  return new Set(definitions.filter(tool => tool.freeform !== undefined).map(({ name }) => name))
}

/** Writes the tool fields. If there are no tools, all of them must be absent. */
export function writeTools(tools: ToolRequest, dialect: Dialect): JsonObject {
  if (tools.definitions.length === 0) return {}
  const freeform = freeformNames(tools, dialect)
  const isCustom = (name: string) => freeform.has(name)
  return {
    tools: tools.definitions.map(tool => (isCustom(tool.name) ? customTool(tool) : functionTool(tool))),
    ...(tools.choice !== null && { tool_choice: writeChoice(tools.choice, isCustom) }),
    ...(tools.oneCallOnly && tools.choice?.mode !== 'none' && { parallel_tool_calls: false }),
  }
}

/**
 * Always writes `strict`, because this format treats a missing `strict` as true, and models then fill in optional parameters.
 */
function functionTool({ name, description, schema, strict }: ToolDefinition): JsonObject {
  return { type: 'function', name, ...(description !== null && { description }), parameters: schema, strict }
}

function customTool({ name, freeform }: ToolDefinition): JsonObject {
  const { description = null, format = null } = freeform ?? {}
  return {
    type: 'custom',
    name,
    ...(description !== null && { description }),
    ...(format !== null && { format }),
  }
}

function writeChoice(choice: ToolChoice, isCustom: (name: string) => boolean): JsonValue {
  switch (choice.mode) {
    case 'any':
      return 'required'
    case 'tool':
      return { type: isCustom(choice.name) ? 'custom' : 'function', name: choice.name }
    default:
      return choice.mode
  }
}
