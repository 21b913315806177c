/** Writes turns as `instructions` and `input` of a responses request. */

import { FREEFORM_INPUT } from '../../conversation/freeform.ts'
import { UpstreamIds } from '../../conversation/names.ts'
import { isCall, isResult, type PairedTurn } from '../../conversation/pairing.ts'
import { refuse } from '../../conversation/refuse.ts'
import type {
  CallPart,
  ContentPart,
  ReasoningPart,
  ResultPart,
  TextPart,
  ToolRequest,
} from '../../conversation/request.ts'
import type { Dialect } from '../../generated/types.ts'
import { type JsonObject, textOrNull } from '../../lib/json.ts'
import { isContent, writeContent, writeOutput } from './write-content.ts'
import { freeformNames } from './write-tools.ts'

export interface WrittenInput {
  /** '' if there are none, or if they are in `input`. */
  readonly instructions: string
  readonly input: JsonObject[]
  /** For each item, the path of its source in the client's body. */
  readonly places: readonly string[]
}

interface Facts {
  readonly dialect: Dialect
  readonly tools: ToolRequest
}

export function writeInput(turns: readonly PairedTurn[], { dialect, tools }: Facts): WrittenInput {
  const writing: InputWriting = {
    dialect,
    ids: new UpstreamIds('any'),
    freeform: freeformNames(tools, dialect),
  }
  const first = turns.findIndex(turn => turn.role !== 'system')
  const leading = turns.slice(0, first < 0 ? turns.length : first)
  // If the request has nothing but instructions, they are sent as `input`, which must not be empty.
  const isField = dialect.turns.systemRole === 'instructions' && leading.length < turns.length
  const input: JsonObject[] = []
  const places: string[] = []
  for (const turn of isField ? turns.slice(leading.length) : turns) {
    const items = writeTurn(turn, writing)
    input.push(...items)
    places.push(...items.map(() => turn.place))
  }
  if (input.length === 0) refuse(turns.at(-1)?.place ?? '', 'expected a message with content')
  return { instructions: isField ? leading.map(systemText).filter(Boolean).join('\n\n') : '', input, places }
}

interface InputWriting {
  readonly dialect: Dialect
  readonly ids: UpstreamIds
  /** Names of the tools that are sent as free-form tools. */
  readonly freeform: ReadonlySet<string>
}

function writeTurn(turn: PairedTurn, writing: InputWriting): JsonObject[] {
  switch (turn.role) {
    case 'system': {
      const text = systemText(turn)
      const role = writing.dialect.turns.systemRole === 'system' ? 'system' : 'developer'
      return text === '' ? [] : [message(role, [{ type: 'input_text', text }])]
    }
    case 'user':
      return writeUser(turn, writing)
    case 'assistant':
      return writeAssistant(turn.parts, writing)
  }
}

function systemText({ parts }: PairedTurn): string {
  const texts = parts.map(part => (part.kind === 'text' ? part.text : ''))
  return texts.filter(text => text.trim() !== '').join('\n\n')
}

function message(role: string, content: JsonObject[]): JsonObject {
  return { type: 'message', role, content }
}

/** Writes each tool output as an item of its own; everything else in the turn follows as a single message. */
function writeUser({ parts, answers }: PairedTurn, writing: InputWriting): JsonObject[] {
  const outputs = parts.filter(isResult).map(result => writeResult(result, answers.get(result)!, writing))
  const content = writeContent(parts.filter(isContent))
  return content.length === 0 ? outputs : [...outputs, message('user', content)]
}

function writeResult(result: ResultPart, call: CallPart, { ids, freeform }: InputWriting): JsonObject {
  return {
    type: freeform.has(call.name) ? 'custom_tool_call_output' : 'function_call_output',
    call_id: ids.of(call),
    output: writeOutput(result),
  }
}

/** Writes items in the order of the parts. Trailing reasoning is dropped, because providers refuse it. */
function writeAssistant(parts: readonly ContentPart[], writing: InputWriting): JsonObject[] {
  const items: JsonObject[] = []
  let texts: TextPart[] = []
  // Without a phase, a model mistakes text that it wrote before a tool call for its final answer.
  const phase = parts.some(isCall) ? 'commentary' : 'final_answer'
  for (const part of parts) {
    if (part.kind === 'text') {
      if (part.text !== '') texts.push(part)
      continue
    }
    endMessage()
    if (part.kind === 'call') items.push(writeCall(part, writing))
    else if (part.kind === 'reasoning') items.push(...writeReasoning(part, writing))
  }
  endMessage()
  return items.slice(0, items.findLastIndex(item => item.type !== 'reasoning') + 1)

  function endMessage(): void {
    if (texts.length === 0) return
    const content = texts.map(({ text }): JsonObject => ({ type: 'output_text', text }))
    items.push({ ...message('assistant', content), ...(writing.dialect.turns.phase && { phase }) })
    texts = []
  }
}

/** Writes a call, without an item id: the client's may come from another provider, and this one would not know it. */
function writeCall(call: CallPart, { ids, freeform }: InputWriting): JsonObject {
  const { name, input } = call
  const call_id = ids.of(call)
  if (!freeform.has(name)) return { type: 'function_call', call_id, name, arguments: JSON.stringify(input) }
  const text = input[FREEFORM_INPUT]
  return { type: 'custom_tool_call', call_id, name, input: typeof text === 'string' ? text : JSON.stringify(input) }
}

/**
 * Writes reasoning. If it was encrypted by a provider of this format, it is sent back unchanged; otherwise as text, which the
 * dialect removes for upstreams that do not accept it.
 */
function writeReasoning({ texts, seal }: ReasoningPart, { dialect }: InputWriting): JsonObject[] {
  const summary = texts.map((text): JsonObject => ({ type: 'summary_text', text }))
  if (seal?.wire !== 'responses') return texts.length === 0 ? [] : [{ type: 'reasoning', summary }]
  const id = dialect.turns.itemIds === 'keep' ? textOrNull(seal.id) : null
  return [{ type: 'reasoning', ...(id !== null && { id }), summary, encrypted_content: seal.encrypted }]
}
