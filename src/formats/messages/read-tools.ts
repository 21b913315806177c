/** Reads the tools and the tool choice of a messages request. */

import { fits } from '../../conversation/patterns.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { StructureRequest, ToolChoice, ToolDefinition, ToolRequest } from '../../conversation/request.ts'
import type { DialectTools } from '../../generated/types.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { readToolChanges } from './read-turns.ts'

export function readTools(body: JsonObject, leftOut: DialectTools['leftOut']): ToolRequest {
  const changes = readToolChanges(body)
  const given = [...arrayOrEmpty(body.tools), ...changes.added]
  const definitions = given.flatMap((tool, index) => readTool(tool, `tools.${index}`, leftOut))
  const byName = new Map(definitions.map(tool => [tool.name, tool]))
  const choice = objectOrNull(body.tool_choice)
  return {
    definitions: [...byName.values()].filter(tool => !changes.removed.has(tool.name)),
    choice: choice === null ? null : readChoice(choice),
    oneCallOnly: choice?.disable_parallel_tool_use === true,
  }
}

function readTool(value: JsonValue, place: string, leftOut: DialectTools['leftOut']): ToolDefinition[] {
  const tool = objectOrNull(value) ?? refuse(place, 'Input should be a valid tool')
  const type = tool.type ?? 'custom'
  if (type !== 'custom') {
    // Drop the tool search: the upstream gets the definitions of all tools.
    if (typeof type === 'string' && type.startsWith('tool_search_')) return []
    if (leftOut?.some(pattern => fits(String(type), pattern)) === true) return []
    refuse(`${place}.type`, unknownTool(type))
  }
  return [
    {
      name: textOrNull(tool.name) ?? refuse(`${place}.name`, 'Field required'),
      description: textOrNull(tool.description),
      schema: objectOrNull(tool.input_schema) ?? refuse(`${place}.input_schema`, 'Field required'),
      strict: tool.strict === true,
      ...(isObject(tool.cache_control) && { cacheControl: tool.cache_control }),
    },
  ]
}

/** Tools defined by the provider but run by the client. */
const CLIENT_TOOLS = /^(memory|bash|text_editor|computer|browser)_/

function unknownTool(type: JsonValue): string {
  const name = `the tool ${JSON.stringify(type)}`
  if (typeof type !== 'string' || !CLIENT_TOOLS.test(type)) {
    return `${name} is run by another provider and not available with this model`
  }
  return (
    `${name} is run by your client, but only some models know its definition, and this one does not; ` +
    'declare it as a custom tool with a name, a description and an input_schema'
  )
}

function readChoice(choice: JsonObject): ToolChoice {
  switch (choice.type) {
    case 'auto':
    case 'none':
    case 'any':
      return { mode: choice.type }
    case 'tool':
      return { mode: 'tool', name: textOrNull(choice.name) ?? refuse('tool_choice.name', 'Field required') }
    default:
      return refuse('tool_choice.type', "Input should be 'auto', 'any', 'tool' or 'none'")
  }
}

/** Reads `output_config.format`, or its older name `output_format`; null for plain text. */
export function readStructure(body: JsonObject): StructureRequest | null {
  const format = objectOrNull(objectOrNull(body.output_config)?.format) ?? objectOrNull(body.output_format)
  if (format === null) return null
  const schema = objectOrNull(format.schema)
  if (format.type !== 'json_schema' || schema === null) {
    refuse('output_config.format', 'expected {"type": "json_schema", "schema": {…}}')
  }
  return { kind: 'schema', name: textOrNull(schema.title) ?? 'reply', description: null, schema, strict: true }
}
