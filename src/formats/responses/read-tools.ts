/** Reads the tools and the tool choice of a responses request. */

import { freeformDefinition } from '../../conversation/freeform.ts'
import { fits } from '../../conversation/patterns.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { ToolChoice, ToolDefinition, ToolRequest } from '../../conversation/request.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { ToolRegistry } from './tool-registry.ts'

/** Clients send these tools by default, whatever the model, so they are dropped silently. */
const LEFT_OUT = ['web_search*', 'image_generation', 'programmatic_tool_calling']
const RUN_BY_PROVIDER = ['file_search', 'code_interpreter', 'mcp', 'computer*']
/** Tools defined by the provider but run by the client. */
const KNOWN_TO_SOME = ['local_shell', 'shell', 'apply_patch']

/** Name given to the client's tool search, which has no name of its own. */
const TOOL_SEARCH = 'tool_search'

/** Reads all tools of a request, including those declared in its items. */
export function readDefinitions(body: JsonObject, leftOut: readonly string[] | null): ToolRegistry {
  const registry = new ToolRegistry()
  const reading = { registry, leftOut: [...LEFT_OUT, ...(leftOut ?? [])] }
  readList(body.tools, 'tools', reading)
  for (const [index, item] of arrayOrEmpty(body.input).entries()) {
    if (isObject(item) && holdsTools(item)) readList(item.tools, `input[${index}].tools`, reading)
  }
  registry.assignNames()
  return registry
}

/** Whether an item declares tools in the middle of a conversation. */
function holdsTools(item: JsonObject): boolean {
  return item.type === 'additional_tools' || (item.type === 'tool_search_output' && item.execution !== 'server')
}

interface Reading {
  readonly registry: ToolRegistry
  readonly leftOut: readonly string[]
}

function readList(tools: JsonValue | undefined, place: string, reading: Reading): void {
  for (const [index, tool] of arrayOrEmpty(tools).entries()) readTool(tool, `${place}[${index}]`, reading)
}

function readTool(value: JsonValue, place: string, { registry, leftOut }: Reading): void {
  const tool = objectOrNull(value) ?? refuse(place, 'expected a tool, e.g. {"type": "function", "name": "…"}')
  switch (tool.type) {
    case 'function':
    case 'custom':
      registry.define(...definition(tool, null, place))
      return
    case 'namespace':
      readNamespace(tool, place, registry)
      return
    case TOOL_SEARCH:
      // A provider that searches tools loads their definitions on demand. Here all definitions are sent upfront instead.
      if (tool.execution !== 'client') return
      registry.define({ kind: TOOL_SEARCH, name: TOOL_SEARCH, namespace: null }, functionDefinition(tool))
      return
    default:
      if (!leftOut.some(pattern => fits(String(tool.type), pattern))) refuse(place, whyNot(tool.type))
  }
}

function readNamespace(namespace: JsonObject, place: string, registry: ToolRegistry): void {
  const name = textOrNull(namespace.name) ?? refuse(`${place}.name`, 'expected the name of the namespace')
  for (const [index, value] of arrayOrEmpty(namespace.tools).entries()) {
    const inside = `${place}.tools[${index}]`
    const tool = objectOrNull(value) ?? refuse(inside, 'expected a function or a custom tool')
    if (tool.type !== 'function' && tool.type !== 'custom') {
      refuse(`${inside}.type`, `expected "function" or "custom", not ${JSON.stringify(tool.type ?? null)}`)
    }
    // Only the namespace's first tool gets the namespace's description.
    const descriptions =
      index === 0 ? [textOrNull(namespace.description), textOrNull(tool.description)] : [tool.description]
    const description = descriptions.filter(text => typeof text === 'string').join('\n\n')
    registry.define(...definition({ ...tool, description }, name, inside))
  }
}

function definition(tool: JsonObject, namespace: string | null, place: string): Parameters<ToolRegistry['define']> {
  const name = textOrNull(tool.name) ?? refuse(`${place}.name`, 'expected the name of the tool')
  return tool.type === 'custom'
    ? [{ kind: 'custom', name, namespace }, freeformDefinition(tool)]
    : [{ kind: 'function', name, namespace }, functionDefinition(tool)]
}

function functionDefinition(tool: JsonObject): Omit<ToolDefinition, 'name'> {
  return {
    description: textOrNull(tool.description),
    schema: objectOrNull(tool.parameters) ?? {},
    strict: tool.strict === true,
  }
}

function whyNot(type: JsonValue | undefined): string {
  const kind = `tools of type ${typeof type === 'string' ? type : JSON.stringify(type ?? null)}`
  if (typeof type === 'string') {
    if (RUN_BY_PROVIDER.some(pattern => fits(type, pattern))) {
      return `${kind} are run by the provider and are not available with this model; declare a function tool instead`
    }
    if (KNOWN_TO_SOME.includes(type)) {
      return `${kind} are run by your client, but this model does not know their definition; declare a function tool instead`
    }
  }
  return `${kind} are not supported; declare a function tool instead`
}

/** Reads `tools`, `tool_choice` and `parallel_tool_calls`. */
export function readTools(body: JsonObject, registry: ToolRegistry): ToolRequest {
  const definitions = registry.definitions()
  const oneCallOnly = body.parallel_tool_calls === false
  const given = body.tool_choice
  if (given === null || given === undefined) return { definitions, choice: null, oneCallOnly }
  if (definitions.length === 0) {
    const isForced = given !== 'auto' && given !== 'none'
    if (isForced && arrayOrEmpty(body.tools).length > 0)
      refuse('tool_choice', 'none of the tools is available with this model')
    return { definitions, choice: null, oneCallOnly }
  }
  const allowed = isObject(given) && given.type === 'allowed_tools' ? given : null
  if (allowed === null) return { definitions, choice: readChoice(given, registry), oneCallOnly }
  const names = allowedNames(allowed, registry)
  const mode = allowed.mode === 'required' ? 'any' : 'auto'
  if (names.size === 0 && mode === 'any')
    refuse('tool_choice.tools', 'none of these tools is available with this model')
  return { definitions: definitions.filter(({ name }) => names.has(name)), choice: { mode }, oneCallOnly }
}

function readChoice(choice: JsonValue, registry: ToolRegistry): ToolChoice {
  if (choice === 'auto' || choice === 'none') return { mode: choice }
  if (choice === 'required' || choice === 'any') return { mode: 'any' }
  if (!isObject(choice)) return refuse('tool_choice', 'expected "auto", "none", "required" or a tool')
  const tool = namedTool(choice)
  if (tool === null) {
    const type = JSON.stringify(choice.type ?? null)
    return refuse(
      'tool_choice',
      `this model cannot be forced to call a tool of type ${type}; name a function or custom tool`,
    )
  }
  if (!registry.has(tool)) refuse('tool_choice.name', `there is no tool ${JSON.stringify(tool.name)} among the tools`)
  return { mode: 'tool', name: registry.nameOf(tool) }
}

function allowedNames(allowed: JsonObject, registry: ToolRegistry): ReadonlySet<string> {
  const tools = arrayOrEmpty(allowed.tools).map(tool => (isObject(tool) ? namedTool(tool) : null))
  return new Set(tools.filter(tool => tool !== null && registry.has(tool)).map(tool => registry.nameOf(tool!)))
}

/** Returns the tool named by `tool_choice`, or by one of its `allowed_tools`; null for a tool that the provider runs. */
function namedTool(choice: JsonObject): Parameters<ToolRegistry['nameOf']>[0] | null {
  if (choice.type === TOOL_SEARCH) return { kind: TOOL_SEARCH, name: TOOL_SEARCH, namespace: null }
  if (choice.type !== 'function' && choice.type !== 'custom') return null
  const name = textOrNull(choice.name) ?? refuse('tool_choice.name', 'expected the name of the tool')
  return { name, namespace: textOrNull(choice.namespace) }
}
