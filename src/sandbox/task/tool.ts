/** Finds a tool in the request that can do a given task, and the arguments to call it with. */

import { isObject, type Json, type JsonObject, listOf, textOf } from '../json.ts'
import type { OfferedTool } from '../model.ts'
import type { Task } from './task.ts'

/** A tool to call, and values for some of its arguments; the sandbox invents the others. */
export interface ToolUse {
  readonly tool: OfferedTool
  readonly given: ReadonlyMap<string, Json>
}

const COMMAND = /^(?:commands?|cmds?|script|shell_?command|command_?line)$/i
const PATH = /^(?:file_?path|path|file_?name|target_?file|file|absolute_?path|filepath)$/i
const CONTENT = /^(?:contents?|text|file_?text|new_?text|file_?contents?|body)$/i
const OLD_TEXT = /^old/i
const PATCH = /^(?:input|patch|patch_?text|diff)$/i

const SHELL_NAMES = ['bash', 'shell', 'exec', 'execute', 'terminal', 'command', 'commands', 'run']
const WRITE_NAMES = ['write', 'create', 'save', 'editor', 'edit']
const READ_NAMES = ['read', 'view', 'open', 'cat', 'show', 'editor']
const NO_TEXT_NAMES = ['image', 'pdf', 'notebook', 'mcp', 'resource', 'directory', 'stdin']

/** Returns the tool to call for a task, with its arguments; null if none of the tools can do it. */
export function toolFor(task: Task, tools: readonly OfferedTool[], directory: string | null): ToolUse | null {
  switch (task.kind) {
    case 'run':
      return shellUse(tools, task.command)
    case 'create':
      return (
        writeUse(tools, task, directory) ??
        patchUse(tools, task) ??
        shellUse(tools, `printf '%s\\n' ${shellWord(task.content.replace(/\n$/, ''))} > ${shellWord(task.path)}`)
      )
    case 'read':
      return readUse(tools, task.path, directory) ?? shellUse(tools, `cat ${shellWord(task.path)}`)
  }
}

/**
 * Whether the tools are those of a coding agent. Coding agents have tools like `read` and `run`, whose names are also ordinary
 * words in a prompt, so a word in common with the prompt is not enough to call them.
 */
export function isCodingKit(tools: readonly OfferedTool[]): boolean {
  return shellUse(tools, '') !== null || writeUse(tools, { path: '', content: '' }, null) !== null
}

/** A call to `attempt_completion`, through which some agents want every final answer; null if there is no such tool. */
export function closingUse(tools: readonly OfferedTool[], text: string): ToolUse | null {
  const tool = tools.find(offered => /^attempt_?completion$/i.test(offered.name))
  if (tool === undefined) return null
  const property = Object.keys(propertiesOf(tool)).find(name => /^(?:result|answer|text)$/i.test(name))
  return property === undefined ? null : { tool, given: new Map([[property, text]]) }
}

/**
 * Whether a tool starts another agent. Such a tool is called only if `tool_choice` or a `sandbox:` word in the prompt names it.
 */
export function startsAgent(tool: OfferedTool): boolean {
  const required = requiredOf(tool)
  const takesPrompt = required.some(name => /^(?:prompt|task|system_?prompt|instructions|script)$/i.test(name))
  const named = nameWords(tool.name).some(word =>
    ['agent', 'agents', 'subagent', 'task', 'teammate', 'spawn', 'delegate', 'workflow', 'team'].includes(word),
  )
  return named && (takesPrompt || Object.hasOwn(propertiesOf(tool), 'subagent_type'))
}

/** Splits a name into lower-case words: `run_shell_command` has three, `RunCommand` and `run-command` have two. */
export function nameWords(name: string): string[] {
  return name
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .split(/[^\p{L}\d]+/u)
    .filter(word => word !== '')
}

function shellUse(tools: readonly OfferedTool[], command: string): ToolUse | null {
  return firstByName(tools, SHELL_NAMES, tool => {
    const name = requiredOf(tool).find(property => COMMAND.test(property))
    if (name === undefined || requiredOf(tool).some(property => PATH.test(property))) return null
    const schema = propertiesOf(tool)[name]
    if (isObject(schema) && Array.isArray(schema.enum)) return null
    const isList = isObject(schema) && schema.type === 'array'
    const isOneCommand = isList && !name.endsWith('s')
    return given({ [name]: isOneCommand ? ['bash', '-lc', command] : isList ? [command] : command })
  })
}

function writeUse(
  tools: readonly OfferedTool[],
  file: { readonly path: string; readonly content: string },
  directory: string | null,
): ToolUse | null {
  return firstByName(tools, WRITE_NAMES, tool => {
    const properties = propertiesOf(tool)
    const path = Object.keys(properties).find(name => PATH.test(name))
    const content = Object.keys(properties).find(name => CONTENT.test(name))
    if (path === undefined || content === undefined || requiredOf(tool).some(name => OLD_TEXT.test(name))) return null
    const verb = isObject(properties.command) && listOf(properties.command.enum).includes('create')
    const values = { [path]: placed(file.path, properties[path], directory), [content]: file.content }
    return given(verb ? { command: 'create', ...values } : values)
  })
}

function patchUse(tools: readonly OfferedTool[], file: { readonly path: string; readonly content: string }) {
  return firstByName(tools, ['patch'], tool => {
    const lines = file.content.replace(/\n$/, '').split('\n')
    const patch = `*** Begin Patch\n*** Add File: ${file.path}\n${lines.map(line => `+${line}\n`).join('')}*** End Patch`
    if (tool.freeform) return given({ input: patch })
    const name = Object.keys(propertiesOf(tool)).find(property => PATCH.test(property))
    return name === undefined ? null : given({ [name]: patch })
  })
}

function readUse(tools: readonly OfferedTool[], file: string, directory: string | null): ToolUse | null {
  return firstByName(tools, READ_NAMES, tool => {
    const required = requiredOf(tool)
    if (required.length !== 1 || nameWords(tool.name).some(word => NO_TEXT_NAMES.includes(word))) return null
    const own = propertiesOf(tool)[required[0]!]
    if (PATH.test(required[0]!)) return given({ [required[0]!]: placed(file, own, directory) })
    const items = isObject(own) && isObject(own.items) ? own.items : {}
    const inner = isObject(items.properties) ? items.properties : {}
    const path = Object.keys(inner).find(name => PATH.test(name))
    return path === undefined ? null : given({ [path]: placed(file, inner[path], directory) })
  })
}

/**
 * Finds a tool by its name. Tries `names` in order, and returns the first tool whose name contains the word and for which `use`
 * returns arguments.
 */
function firstByName(
  tools: readonly OfferedTool[],
  names: readonly string[],
  use: (tool: OfferedTool) => ReadonlyMap<string, Json> | null,
): ToolUse | null {
  for (const name of names) {
    for (const tool of tools) {
      const values = nameWords(tool.name).includes(name) ? use(tool) : null
      if (values !== null) return { tool, given: values }
    }
  }
  return null
}

/** The path, made absolute if the property requires it and the client's working directory is known. */
function placed(path: string, schema: Json | undefined, directory: string | null): string {
  const wantsAbsolute = isObject(schema) && /\babsolute\b/i.test(textOf(schema.description))
  if (!wantsAbsolute || directory === null || /^(?:[/\\~]|[A-Za-z]:)/.test(path)) return path
  return `${directory}/${path.replace(/^\.\//, '')}`
}

function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function given(values: Record<string, Json>): ReadonlyMap<string, Json> {
  return new Map(Object.entries(values))
}

function propertiesOf(tool: OfferedTool): JsonObject {
  return isObject(tool.schema) && isObject(tool.schema.properties) ? tool.schema.properties : {}
}

function requiredOf(tool: OfferedTool): string[] {
  return listOf(isObject(tool.schema) ? tool.schema.required : []).filter(name => typeof name === 'string')
}
