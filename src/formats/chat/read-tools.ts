/** Reads the tools and the tool choice of a chat request, including legacy `functions`. */

import { refuse } from '../../conversation/refuse.ts'
import type { StructureRequest, ToolChoice, ToolDefinition, ToolRequest } from '../../conversation/request.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { cacheControl } from './read-content.ts'

export function readTools(body: JsonObject): ToolRequest {
  const definitions = [
    ...arrayOrEmpty(body.tools).map((tool, index) => readTool(tool, `tools[${index}]`)),
    ...arrayOrEmpty(body.functions).map((fn, index) => readFunction(fn, `functions[${index}]`)),
  ]
  const oneCallOnly = body.parallel_tool_calls === false
  const given = body.tool_choice ?? body.function_call
  if (given === null || given === undefined) return { definitions, choice: null, oneCallOnly }
  const allowed = allowedTools(given)
  if (allowed === null) return { definitions, choice: readChoice(given), oneCallOnly }
  return {
    definitions: definitions.filter(tool => allowed.names.has(tool.name)),
    choice: { mode: allowed.required ? 'any' : 'auto' },
    oneCallOnly,
  }
}

function readTool(value: JsonValue, place: string): ToolDefinition {
  const tool = objectOrNull(value) ?? refuse(place, 'expected a tool, e.g. {"type": "function", "function": {…}}')
  if (!isObject(tool.function) || (tool.type !== 'function' && tool.type !== undefined)) {
    refuse(
      `${place}.type`,
      `only tools of type "function" are supported by this model, not ${JSON.stringify(tool.type)}`,
    )
  }
  return { ...readFunction(tool.function, `${place}.function`), ...cacheControl(tool) }
}

function readFunction(value: JsonValue, place: string): ToolDefinition {
  const fn = objectOrNull(value) ?? refuse(place, 'expected a function')
  return {
    name: textOrNull(fn.name) ?? refuse(`${place}.name`, 'expected the name of the function'),
    description: textOrNull(fn.description),
    schema: objectOrNull(fn.parameters) ?? {},
    strict: fn.strict === true,
  }
}

function readChoice(choice: JsonValue): ToolChoice {
  if (choice === 'auto' || choice === 'none') return { mode: choice }
  if (choice === 'required' || choice === 'any') return { mode: 'any' }
  const name = isObject(choice) ? textOrNull(objectOrNull(choice.function)?.name ?? choice.name) : null
  return name === null
    ? refuse('tool_choice', 'expected "auto", "none", "required" or a function')
    : { mode: 'tool', name }
}

function allowedTools(choice: JsonValue): { names: ReadonlySet<string>; required: boolean } | null {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return null
  const allowed = objectOrNull(choice.allowed_tools) ?? choice
  const names = arrayOrEmpty(allowed.tools).map(tool => {
    const entry = objectOrNull(tool)
    return textOrNull(objectOrNull(entry?.function)?.name ?? entry?.name)
  })
  return { names: new Set(names.filter(name => name !== null)), required: allowed.mode === 'required' }
}

/** Reads `response_format` of a chat request; null for plain text. */
export function readStructure(body: JsonObject): StructureRequest | null {
  const format = objectOrNull(body.response_format)
  if (format === null || format.type === 'text' || format.type === undefined) return null
  if (format.type === 'json_object') return { kind: 'object' }
  const inner = objectOrNull(format.json_schema)
  const schema = objectOrNull(inner?.schema)
  if (format.type !== 'json_schema' || inner === null) {
    refuse('response_format', 'expected type "text", "json_object" or "json_schema"')
  }
  if (schema === null) return { kind: 'object' }
  return {
    kind: 'schema',
    name: textOrNull(inner.name) ?? 'reply',
    description: textOrNull(inner.description),
    schema,
    strict: inner.strict === true,
  }
}
