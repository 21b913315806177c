/** Writes turns as `messages` of a chat request. */

import { UpstreamIds } from '../../conversation/names.ts'
import { isCall, isResult, type PairedTurn } from '../../conversation/pairing.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { CallPart, ContentPart, ResultContent, TextPart } from '../../conversation/request.ts'
import type { Dialect } from '../../generated/types.ts'
import { type JsonObject, objectAtPointer } from '../../lib/json.ts'
import { textPart, writeContent, writeResult } from './write-content.ts'

export interface WrittenTurns {
  readonly messages: JsonObject[]
  /** For each message, the path of its source in the client's body. */
  readonly places: readonly string[]
}

interface Writing {
  readonly dialect: Dialect
  readonly ids: UpstreamIds
}

interface Placed {
  readonly message: JsonObject
  readonly place: string
}

export function writeTurns(turns: readonly PairedTurn[], dialect: Dialect): WrittenTurns {
  const writing = { dialect, ids: new UpstreamIds('as_given') }
  const written = joinLeading(promoted(turns)).flatMap(turn => writeTurn(turn, writing))
  const messages = written.map(({ message }) => message)
  if (messages.every(({ role }) => role === 'system')) {
    refuse('messages.0', 'user messages must have non-empty content')
  }
  return { messages, places: written.map(({ place }) => place) }
}

/** If the conversation consists of instructions only, the last one becomes a user turn: many hosts require one. */
function promoted(turns: readonly PairedTurn[]): readonly PairedTurn[] {
  const last = turns.at(-1)
  if (last === undefined || turns.some(turn => turn.role !== 'system')) return turns
  return turns.with(-1, { ...last, role: 'user' })
}

/** Merges the instructions at the start of the conversation. */
function joinLeading(turns: readonly PairedTurn[]): readonly PairedTurn[] {
  const first = turns.findIndex(turn => turn.role !== 'system')
  const leading = turns.slice(0, first < 0 ? turns.length : first)
  const [top] = leading
  return top === undefined
    ? turns
    : [{ ...top, parts: leading.flatMap(turn => turn.parts) }, ...turns.slice(leading.length)]
}

function writeTurn(turn: PairedTurn, writing: Writing): Placed[] {
  switch (turn.role) {
    case 'system':
      return writeSystem(turn.parts.filter(isText)).map(message => ({ message, place: turn.place }))
    case 'user':
      return writeUser(turn, writing)
    case 'assistant':
      return writeAssistant(turn, writing).map(message => ({ message, place: turn.place }))
  }
}

function writeSystem(parts: readonly TextPart[]): JsonObject[] {
  const texts = parts.filter(part => part.text.trim() !== '')
  if (texts.length === 0) return []
  const hasBreakpoint = texts.some(part => part.cacheControl !== undefined)
  return [{ role: 'system', content: hasBreakpoint ? texts.map(textPart) : texts.map(part => part.text).join('\n\n') }]
}

/** Writes each result as a message of its own; everything else in the turn follows as a single user message. */
function writeUser(turn: PairedTurn, { ids, dialect }: Writing): Placed[] {
  const results = turn.parts.filter(isResult).map(result => {
    const content = writeResult(result, dialect)
    return { message: { role: 'tool', tool_call_id: ids.of(turn.answers.get(result)!), content }, place: result.place }
  })
  const content = turn.parts.filter(isContent).filter(part => part.kind !== 'text' || part.text !== '')
  if (content.length === 0) return results
  return [...results, { message: { role: 'user', content: writeContent(content, dialect) }, place: turn.place }]
}

function writeAssistant(turn: PairedTurn, writing: Writing): JsonObject[] {
  const text = joinText(turn.parts)
  const calls = turn.parts.filter(isCall).map(call => writeCall(call, writing))
  const reasoning = turn.parts.flatMap(part => (part.kind === 'reasoning' ? part.texts : [])).join('\n\n')
  // There is nothing left to write. Reasoning alone is not enough for a message.
  if (text === '' && calls.length === 0) return []
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(reasoning !== '' && { reasoning_content: reasoning }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}

/** Joins text blocks: adjacent ones directly, separated ones as paragraphs. */
function joinText(parts: readonly ContentPart[]): string {
  let text = ''
  let adjacent = true
  for (const part of parts) {
    if (part.kind !== 'text') {
      adjacent = false
      continue
    }
    if (part.text === '') continue
    text += text === '' || adjacent ? part.text : `\n\n${part.text}`
    adjacent = true
  }
  return text
}

function writeCall(call: CallPart, { ids, dialect }: Writing): JsonObject {
  const { path } = dialect.tools.signature
  return {
    id: ids.of(call),
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.input) },
    ...(call.signature !== null && path !== null && objectAtPointer(path, call.signature)),
  }
}

function isText(part: ContentPart): part is TextPart {
  return part.kind === 'text'
}

function isContent(part: ContentPart): part is ResultContent {
  return part.kind === 'text' || part.kind === 'image' || part.kind === 'document'
}
