/** Reads the tools and the tool choice of a chat request, including legacy `functions`. */

import { freeformDefinition } from '../../conversation/freeform.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { StructureRequest, ToolChoice, ToolDefinition, ToolRequest } from '../../conversation/request.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { isBorrowedChoice, isBorrowedTool, ownTool, readBorrowedChoice } from './borrowed.ts'
import { cacheControl } from './read-content.ts'
import type { ClientTools } from './write-calls.ts'

export function readTools(body: JsonObject): ToolRequest {
  const given = [
    ...arrayOrEmpty(body.tools).map((tool, index) => readTool(tool, `tools[${index}]`)),
    ...arrayOrEmpty(body.functions).map((fn, index) => readFunction(fn, `functions[${index}]`)),
  ]
  // Other formats require that names are unique. The last definition counts.
  const definitions = [...new Map(given.map(tool => [tool.name, tool])).values()]
  // A message in the legacy form has room for one call only.
  const oneCallOnly = body.parallel_tool_calls === false || clientToolsOf(body).legacy
  const choice = body.tool_choice ?? body.function_call
  if (choice === null || choice === undefined) return { definitions, choice: null, oneCallOnly }
  const allowed = allowedTools(choice)
  if (allowed === null) return { definitions, choice: readChoice(choice), oneCallOnly }
  const left = definitions.filter(tool => allowed.names.has(tool.name))
  // Without tools, the choice would be left out, and the model would answer in words.
  if (left.length === 0 && allowed.required)
    refuse('tool_choice.allowed_tools', 'none of these tools is available with this model')
  return { definitions: left, choice: { mode: allowed.required ? 'any' : 'auto' }, oneCallOnly }
}

function readTool(value: JsonValue, place: string): ToolDefinition {
  const tool = isBorrowedTool(value)
    ? ownTool(value)
    : (objectOrNull(value) ?? refuse(place, 'expected a tool, e.g. {"type": "function", "function": {…}}'))
  if (tool.type === 'custom' && isObject(tool.custom)) return readCustom(tool.custom, `${place}.custom`)
  if (!isObject(tool.function) || (tool.type !== 'function' && tool.type !== undefined)) {
    const types = 'tools of type "function" and "custom"'
    refuse(`${place}.type`, `only ${types} are supported by this model, not ${JSON.stringify(tool.type)}`)
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

function readCustom(custom: JsonObject, place: string): ToolDefinition {
  const name = textOrNull(custom.name) ?? refuse(`${place}.name`, 'expected the name of the tool')
  const format = objectOrNull(custom.format)
  // In this format, a grammar is nested; in the responses format, it stands next to `type`.
  const { grammar, ...flat } = format ?? {}
  return { name, ...freeformDefinition({ ...custom, format: format && { ...flat, ...objectOrNull(grammar) } }) }
}

/** Returns what the writer of the reply must know about the tools. */
export function clientToolsOf({ tools, functions }: JsonObject): ClientTools {
  const given = arrayOrEmpty(tools)
  const custom = given.map(tool => {
    const own = isBorrowedTool(tool) ? ownTool(tool) : objectOrNull(tool)
    return textOrNull(objectOrNull(own?.custom)?.name)
  })
  return {
    custom: new Set(custom.filter(name => name !== null)),
    legacy: given.length === 0 && arrayOrEmpty(functions).length > 0,
  }
}

/** Returns the name in a tool choice, or in one of the allowed tools. */
function nameIn(choice: JsonObject): string | null {
  return textOrNull((objectOrNull(choice.function) ?? objectOrNull(choice.custom) ?? choice).name)
}

function readChoice(choice: JsonValue): ToolChoice {
  if (choice === 'auto' || choice === 'none') return { mode: choice }
  if (choice === 'required' || choice === 'any') return { mode: 'any' }
  if (isBorrowedChoice(choice)) return readBorrowedChoice(choice)
  const name = isObject(choice) ? nameIn(choice) : null
  return name === null
    ? refuse('tool_choice', 'expected "auto", "none", "required" or a function')
    : { mode: 'tool', name }
}

function allowedTools(choice: JsonValue): { names: ReadonlySet<string>; required: boolean } | null {
  if (!isObject(choice) || choice.type !== 'allowed_tools') return null
  const allowed = objectOrNull(choice.allowed_tools) ?? choice
  const names = arrayOrEmpty(allowed.tools).map(tool => (isObject(tool) ? nameIn(tool) : null))
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
