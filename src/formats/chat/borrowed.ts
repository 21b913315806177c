/**
 * Tools and content in the shapes of other formats. For Claude models, Cursor's agent sends chat requests with the tools, calls and
 * results of the Messages format (CLIProxyAPI#3805, vibeproxy#411); for GPT models, with flat tools as in the Responses format
 * (litellm#34029; all read 2026-11). No upstream takes them, so these requests are converted even if the upstream speaks this
 * format.
 */

import { refuse } from '../../conversation/refuse.ts'
import type { CallPart, ResultPart, ToolChoice } from '../../conversation/request.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { cacheControl, readResultContent } from './read-content.ts'

const BLOCKS: ReadonlySet<unknown> = new Set(['tool_use', 'tool_result', 'image'])
const CHOICES: ReadonlySet<unknown> = new Set(['auto', 'any', 'none', 'tool'])
const TOOLS: ReadonlySet<unknown> = new Set([undefined, 'function', 'custom'])

/** Whether anything in a chat request has the shape of another format. */
export function borrows({ tools, tool_choice, messages }: JsonObject): boolean {
  if (arrayOrEmpty(tools).some(isBorrowedTool) || isBorrowedChoice(tool_choice)) return true
  return arrayOrEmpty(messages).some(message => arrayOrEmpty(objectOrNull(message)?.content).some(isBorrowedBlock))
}

/** Whether a tool has its name and schema beside its type instead of in a member of its own. */
export function isBorrowedTool(tool: JsonValue): tool is JsonObject {
  if (!isObject(tool) || !TOOLS.has(tool.type)) return false
  return typeof tool.name === 'string' && !isObject(tool.function) && !isObject(tool.custom)
}

/** Returns a borrowed tool in this format's own shape. */
export function ownTool(tool: JsonObject): JsonObject {
  const { name, description = null, input_schema: schema, parameters = schema ?? null, strict = null } = tool
  const isFreeform = tool.type === 'custom' && schema === undefined
  if (isFreeform) return { type: 'custom', custom: { name: name ?? null, description, format: tool.format ?? null } }
  const fn = { name: name ?? null, description, parameters, strict }
  return { type: 'function', function: fn, cache_control: tool.cache_control ?? null }
}

export function isBorrowedChoice(choice: JsonValue | undefined): choice is JsonObject {
  return isObject(choice) && CHOICES.has(choice.type)
}

export function readBorrowedChoice({ type, name }: JsonObject): ToolChoice {
  if (type === 'auto' || type === 'any' || type === 'none') return { mode: type }
  return { mode: 'tool', name: textOrNull(name) ?? refuse('tool_choice.name', 'expected the name of the tool') }
}

function isBorrowedBlock(block: JsonValue): boolean {
  return isObject(block) && BLOCKS.has(block.type)
}

/** Reads a part that is a call or a result; null for other parts. */
export function readBorrowed(part: JsonValue, place: string): [CallPart | ResultPart] | null {
  if (!isObject(part)) return null
  if (part.type === 'tool_use') {
    const name = textOrNull(part.name) ?? refuse(`${place}.name`, 'expected the name of the tool')
    const id = textOrNull(part.id) ?? ''
    return [{ kind: 'call', id, name, input: objectOrNull(part.input) ?? {}, signature: null }]
  }
  if (part.type !== 'tool_result') return null
  const content = readResultContent(part.content, `${place}.content`)
  const id = textOrNull(part.tool_use_id) ?? ''
  return [{ kind: 'result', id, name: '', content, isError: part.is_error === true, place, ...cacheControl(part) }]
}
