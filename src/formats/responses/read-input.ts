/** Reads the items of a responses request one by one; `read-turns.ts` groups them into turns. */

import { argumentsObject } from '../../conversation/arguments.ts'
import { CarriedItems, unresolvedItems } from '../../conversation/carried-items.ts'
import type { ReadFacts } from '../../conversation/format.ts'
import { FREEFORM_INPUT } from '../../conversation/freeform.ts'
import { unwrappedReasoning } from '../../conversation/reasoning-envelope.ts'
import { refuse } from '../../conversation/refuse.ts'
import type {
  CallPart,
  ContentPart,
  ReasoningPart,
  ResultContent,
  ResultPart,
  TextPart,
} from '../../conversation/request.ts'
import { readSignedId } from '../../conversation/signed-ids.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { readContent, readOutput, readTexts } from './read-content.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** A piece of the conversation, read from one item. `place` is the item's path in the body. */
export type Piece =
  | { readonly by: 'system' | 'user' | 'assistant'; readonly parts: readonly ContentPart[]; readonly place: string }
  | { readonly by: 'tool'; readonly result: ResultPart }

export interface ItemReading {
  readonly registry: ToolRegistry
  readonly carried: CarriedItems
  readonly facts: ReadFacts
}

export function itemReading(body: JsonObject, registry: ToolRegistry, facts: ReadFacts): ItemReading {
  const references = arrayOrEmpty(body.input).filter(item => isObject(item) && typeOf(item) === 'item_reference')
  const ids = references.map(item => textOrNull(objectOrNull(item)?.id) ?? '')
  return { registry, carried: new CarriedItems(ids, facts.openEnvelope), facts }
}

/**
 * Types of items that only one provider understands: calls to its built-in tools, with their results and approvals. Other
 * models cannot use these items, so they are skipped.
 */
const PROVIDERS_OWN = new Set([
  ...['web_search_call', 'file_search_call', 'code_interpreter_call', 'image_generation_call'],
  ...['computer_call', 'computer_call_output', 'program', 'program_output', 'configuration_update'],
  ...['mcp_list_tools', 'mcp_call', 'mcp_approval_request', 'mcp_approval_response'],
])

/**
 * Reads one item. Returns no piece for an item that means nothing to a model, and several pieces for a reference to several
 * items. Throws GatewayError `invalid_request` for an item that can neither be converted nor left out.
 */
export function readItem(value: JsonValue, place: string, reading: ItemReading): Piece[] {
  const item = objectOrNull(value) ?? refuse(place, 'expected an item, e.g. {"role": "user", "content": "…"}')
  const items = typeOf(item) === 'item_reference' ? referredItems(item, place, reading) : [item]
  return items.flatMap(each => readPiece(each, place, reading) ?? [])
}

function readPiece(item: JsonObject, place: string, reading: ItemReading): Piece | null {
  const type = typeOf(item)
  switch (type) {
    case 'message':
      return readMessage(item, place)
    case 'agent_message':
      return readAgentMessage(item, place)
    case 'reasoning':
      return readReasoning(item, place, reading)
    case 'function_call':
    case 'custom_tool_call':
    case 'tool_search_call':
    case 'local_shell_call':
    case 'shell_call':
    case 'apply_patch_call':
      return readCall(item, type, { place, reading })
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'tool_search_output':
    case 'local_shell_call_output':
    case 'shell_call_output':
    case 'apply_patch_call_output':
      return readResult(item, type, { place, reading })
    case 'additional_tools':
      return null
    case 'compaction':
    case 'compaction_summary':
    case 'context_compaction':
      return refuse(
        place,
        `${type} items can only be read by the service that created them; send the original items instead`,
      )
    case 'compaction_trigger':
      return refuse(place, 'compaction is not supported; have your client ask the model for a summary')
    default:
      if (type !== null && PROVIDERS_OWN.has(type)) return null
      return refuse(place, `items of type ${JSON.stringify(type)} are not supported by this model`)
  }
}

/** Returns the item's type, inferred if a message or reference omits it. */
function typeOf(item: JsonObject): string | null {
  if (item.type !== undefined && item.type !== null) return textOrNull(item.type)
  if (item.role !== undefined) return 'message'
  return typeof item.id === 'string' && item.content === undefined ? 'item_reference' : null
}

function readMessage(item: JsonObject, place: string): Piece | null {
  const content = `${place}.content`
  switch (item.role) {
    case 'user':
      return pieceOf('user', readContent(item.content, content), place)
    case 'assistant':
      return pieceOf('assistant', readTexts(item.content, content), place)
    case 'system':
    case 'developer':
      return pieceOf('system', readTexts(item.content, content), place)
    default:
      return refuse(`${place}.role`, 'expected one of user, assistant, system, developer')
  }
}

function pieceOf(by: 'system' | 'user' | 'assistant', parts: readonly ContentPart[], place: string): Piece | null {
  return parts.length === 0 ? null : { by, parts, place }
}

/**
 * Reads a message from one of the client's agents to another. Null if it has no plain text, because encrypted content is only
 * readable to the provider that encrypted it.
 */
function readAgentMessage(item: JsonObject, place: string): Piece | null {
  const texts = typeof item.content === 'string' ? [item.content] : arrayOrEmpty(item.content).map(textOf)
  const text = texts.filter(each => each !== null).join('\n\n')
  if (text === '') return null
  const author = textOrNull(item.author)
  const attributed = author === null ? text : `Message from ${author}:\n${text}`
  return { by: 'user', parts: [{ kind: 'text', text: attributed }], place }
}

function textOf(part: JsonValue): string | null {
  return isObject(part) ? textOrNull(part.text) : textOrNull(part)
}

function readReasoning(item: JsonObject, place: string, { facts }: ItemReading): Piece | null {
  const summary = arrayOrEmpty(item.summary).map(textOf)
  const shown = summary.length > 0 ? summary : arrayOrEmpty(item.content).map(textOf)
  const texts = shown.filter(text => text !== null)
  const { seal } = unwrappedReasoning('', textOrNull(item.encrypted_content), facts)
  if (texts.length === 0 && seal === null) return null
  const part: ReasoningPart = { kind: 'reasoning', texts, seal }
  return { by: 'assistant', parts: [part], place }
}

/** Returns the items that an `item_reference` refers to. An id issued by this gateway may contain the items themselves. */
function referredItems(item: JsonObject, place: string, { carried }: ItemReading): readonly JsonObject[] {
  const id = textOrNull(item.id) ?? ''
  return carried.resolve(id) ?? unresolvedItems(id, place)
}

interface Placed {
  readonly place: string
  readonly reading: ItemReading
}

type CallType =
  | 'function_call'
  | 'custom_tool_call'
  | 'tool_search_call'
  | 'local_shell_call'
  | 'shell_call'
  | 'apply_patch_call'

function readCall(item: JsonObject, type: CallType, { place, reading }: Placed): Piece | null {
  if (type === 'tool_search_call' && (item.execution === 'server' || textOrNull(item.call_id) === null)) return null
  const { id, signature } = readSignedId(callIdOf(item, place))
  const part: CallPart = { kind: 'call', id, ...calledTool(item, type, { place, reading }), signature }
  return { by: 'assistant', parts: [part], place }
}

function calledTool(
  item: JsonObject,
  type: CallType,
  { place, reading: { registry } }: Placed,
): Pick<CallPart, 'name' | 'input'> {
  switch (type) {
    case 'function_call':
      return { name: nameOf(), input: argumentsObject(item.arguments) }
    case 'custom_tool_call': {
      const input = item.input ?? ''
      if (typeof input !== 'string') refuse(`${place}.input`, 'expected a string')
      return { name: nameOf(), input: { [FREEFORM_INPUT]: input } }
    }
    case 'tool_search_call': {
      const name = registry.nameOf({ kind: 'tool_search', name: 'tool_search', namespace: null })
      return { name, input: argumentsObject(item.arguments) }
    }
    case 'local_shell_call':
    case 'shell_call':
      return { name: type.replace('_call', ''), input: argumentsObject(item.action) }
    case 'apply_patch_call':
      return { name: 'apply_patch', input: argumentsObject(item.operation) }
  }

  function nameOf(): string {
    const name = textOrNull(item.name) ?? refuse(`${place}.name`, 'expected the name of the tool')
    return registry.nameOf({ name, namespace: textOrNull(item.namespace) })
  }
}

type ResultType =
  | 'function_call_output'
  | 'custom_tool_call_output'
  | 'tool_search_output'
  | 'local_shell_call_output'
  | 'shell_call_output'
  | 'apply_patch_call_output'

function readResult(item: JsonObject, type: ResultType, { place, reading }: Placed): Piece | null {
  if (type === 'tool_search_output' && (item.execution === 'server' || textOrNull(item.call_id) === null)) return null
  // Outputs of this type have the call's id in `id`, according to the types in openai 7.57.0 (read 2026-11).
  const given = type === 'local_shell_call_output' ? { ...item, call_id: item.call_id ?? item.id } : item
  const { id } = readSignedId(callIdOf(given, place))
  const content = outputOf(item, type, { place, reading })
  const isError = type === 'apply_patch_call_output' && item.status === 'failed'
  return { by: 'tool', result: { kind: 'result', id, name: '', content, isError, place } }
}

function outputOf(item: JsonObject, type: ResultType, { place, reading }: Placed): ResultContent[] {
  switch (type) {
    case 'tool_search_output':
      return [toolsFound(item, reading)]
    case 'shell_call_output':
      return Array.isArray(item.output)
        ? item.output.filter(isObject).map(shellOutput)
        : readOutput(item.output, `${place}.output`)
    default:
      return readOutput(item.output, `${place}.output`)
  }
}

/** Lists the names of tools that a tool search found. Names are enough, because all tools are declared from the start. */
function toolsFound(item: JsonObject, { registry }: ItemReading): TextPart {
  const names = arrayOrEmpty(item.tools)
    .filter(isObject)
    .flatMap(tool => {
      if (tool.type !== 'namespace') return namesOf(tool, null)
      return arrayOrEmpty(tool.tools)
        .filter(isObject)
        .flatMap(member => namesOf(member, textOrNull(tool.name)))
    })
  return { kind: 'text', text: names.length === 0 ? 'No tools found.' : `Tools available: ${names.join(', ')}` }

  function namesOf(tool: JsonObject, namespace: string | null): string[] {
    const name = textOrNull(tool.name)
    return name === null ? [] : [registry.nameOf({ name, namespace })]
  }
}

function shellOutput({ stdout, stderr, outcome }: JsonObject): TextPart {
  const end = objectOrNull(outcome)
  const how = end?.type === 'timeout' ? 'timed out' : `exit code ${JSON.stringify(end?.exit_code ?? null)}`
  const lines = [textOrNull(stdout), textOrNull(stderr), how].filter(line => line !== null)
  return { kind: 'text', text: lines.join('\n') }
}

function callIdOf(item: JsonObject, place: string): string {
  return textOrNull(item.call_id) ?? refuse(`${place}.call_id`, 'expected the id of the call')
}
