/** Turns as `messages` of a chat request. */

import type { ToolNames, UpstreamIds } from '../../conversation/names.ts'
import { isCall, isResult, type PairedTurn } from '../../conversation/pairing.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { CallPart, ContentPart, ResultContent, TextPart } from '../../conversation/request.ts'
import type { Dialect, DialectReasoning } from '../../generated/types.ts'
import { isObject, type JsonObject, type JsonValue, objectAtPointer } from '../../lib/json.ts'
import { type ContentWriting, textPart, writeContent } from './write-content.ts'
import { writeResult } from './write-results.ts'

export interface ChatWriting extends ContentWriting {
  readonly names: ToolNames
  readonly ids: UpstreamIds
}

export function writeTurns(turns: readonly PairedTurn[], writing: ChatWriting): JsonObject[] {
  const { dialect } = writing
  const placed = placeSystem(turns, dialect.turns.midSystem)
  const messages = placed.flatMap(turn => writeTurn(turn, writing))
  if (messages.every(message => message.role === dialect.turns.systemRole)) {
    refuse('messages.0', 'user messages must have non-empty content')
  }
  return flagPrefill(dialect.turns.alternate ? mergeRoles(messages) : messages, dialect.turns)
}

/** All instructions before the first turn are one turn; later ones stay, join them, or become user text. */
function placeSystem(turns: readonly PairedTurn[], midSystem: Dialect['turns']['midSystem']): PairedTurn[] {
  const first = turns.findIndex(turn => turn.role !== 'system')
  const isLeading = (turn: PairedTurn, index: number) =>
    turn.role === 'system' && (midSystem === 'hoist' || first < 0 || index < first)
  const leading = turns.filter(isLeading)
  const rest = turns
    .filter((turn, index) => !isLeading(turn, index))
    .map(turn => (turn.role === 'system' && midSystem === 'user_text' ? { ...turn, role: 'user' as const } : turn))
  const top = leading[0]
  return top === undefined ? rest : [{ ...top, parts: leading.flatMap(turn => turn.parts) }, ...rest]
}

function writeTurn(turn: PairedTurn, writing: ChatWriting): JsonObject[] {
  switch (turn.role) {
    case 'system':
      return writeSystem(turn.parts.filter(isText), writing)
    case 'user':
      return writeUser(turn, writing)
    case 'assistant':
      return writeAssistant(turn, writing)
  }
}

function writeSystem(parts: readonly TextPart[], { dialect }: ChatWriting): JsonObject[] {
  const texts = parts.filter(part => part.text.trim() !== '')
  if (texts.length === 0) return []
  const keepsMarks = dialect.content.cacheControl === 'pass' && texts.some(part => part.cacheControl !== undefined)
  const content = keepsMarks ? texts.map(part => textPart(part, dialect)) : texts.map(part => part.text).join('\n\n')
  return [{ role: dialect.turns.systemRole, content }]
}

/** Results first, each a message of its own; everything else of the turn is one user message behind them. */
function writeUser(turn: PairedTurn, writing: ChatWriting): JsonObject[] {
  const results = turn.parts.filter(isResult).map(result => {
    const call = turn.answers.get(result)!
    return writeResult(result, writing.ids.of(call), writing)
  })
  const content: ResultContent[] = [
    ...results.flatMap(result => result.following),
    ...turn.parts.filter(isContent).filter(part => part.kind !== 'text' || part.text !== ''),
  ]
  const messages = results.map(result => result.message)
  return content.length === 0
    ? messages
    : [...messages, { role: 'user', content: writeContent(content, turn.place, writing) }]
}

function writeAssistant(turn: PairedTurn, writing: ChatWriting): JsonObject[] {
  const text = joinText(turn.parts)
  const made = turn.parts.filter(isCall)
  const isSigned = made.some(call => call.signature !== null)
  const calls = made.map((call, index) => writeCall(call, { writing, signs: index === 0 && !isSigned }))
  const thinking = turn.parts.flatMap(part => (part.kind === 'reasoning' ? part.texts : []))
  const echo = echoReasoning(thinking.join('\n\n'), writing.dialect.reasoning)
  // What is left of a turn that held nothing for this format is no turn; reasoning alone is none either.
  if (text === '' && calls.length === 0) return []
  const parts = contentParts(text, echo)
  return [
    {
      role: 'assistant',
      content: parts ?? (text === '' ? null : text),
      ...(parts === null && echo !== null && { [writing.dialect.reasoning.field]: echo }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]

  function contentParts(shown: string, reasoning: string | null): JsonValue | null {
    if (writing.dialect.reasoning.field !== 'content_parts' || reasoning === null || reasoning === '') return null
    const thought = { type: 'thinking', thinking: [{ type: 'text', text: reasoning }] }
    return shown === '' ? [thought] : [thought, { type: 'text', text: shown }]
  }
}

/** Text blocks side by side are parts of one text; those that something stood between are paragraphs. */
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

interface CallWriting {
  readonly writing: ChatWriting
  /** The first call of a turn without signatures gets the one that is accepted for calls of other models. */
  readonly signs: boolean
}

function writeCall(call: CallPart, { writing, signs }: CallWriting): JsonObject {
  const { names, ids, dialect } = writing
  const { path, placeholder } = dialect.tools.signature
  const signature = call.signature ?? (signs ? placeholder : null)
  return {
    id: ids.of(call),
    type: 'function',
    function: { name: names.upstream(call.name), arguments: JSON.stringify(call.input) },
    ...(signature !== null && path !== null && objectAtPointer(path, signature)),
  }
}

/** Reasoning of an earlier turn as the upstream wants it back; null: not at all. */
function echoReasoning(reasoning: string, { echo, echoPlaceholder }: DialectReasoning): string | null {
  switch (echo) {
    case 'always':
      return reasoning === '' ? (echoPlaceholder ?? '') : reasoning
    case 'if_present':
      return reasoning === '' ? null : reasoning
    case 'never':
      return null
  }
}

/** Consecutive messages of one role as one; tool messages stay apart. */
function mergeRoles(messages: readonly JsonObject[]): JsonObject[] {
  const merged: JsonObject[] = []
  for (const message of messages) {
    const last = merged.at(-1)
    const joins = last?.role === message.role && message.role !== 'tool' && last?.tool_calls === undefined
    if (!joins || last === undefined) merged.push(message)
    else merged.splice(-1, 1, { ...last, ...message, content: joinContent(last.content, message.content) })
  }
  return merged
}

function joinContent(first: JsonValue | undefined, second: JsonValue | undefined): JsonValue {
  if (typeof first === 'string' && typeof second === 'string') return [first, second].filter(Boolean).join('\n\n')
  return [...contentParts(first), ...contentParts(second)]
}

function contentParts(content: JsonValue | undefined): JsonObject[] {
  if (Array.isArray(content)) return content.filter(isObject)
  return typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
}

/** A last assistant message that the model shall continue, where a flag asks for it. */
function flagPrefill(messages: JsonObject[], { prefill }: Dialect['turns']): JsonObject[] {
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return messages
  switch (prefill) {
    case 'prefix':
    case 'partial':
      return messages.with(-1, { ...last, [prefill]: true })
    case 'user_turn':
      return [...messages, { role: 'user', content: 'Continue.' }]
    default:
      return messages
  }
}

function isText(part: ContentPart): part is TextPart {
  return part.kind === 'text'
}

function isContent(part: ContentPart): part is ResultContent {
  return part.kind === 'text' || part.kind === 'image' || part.kind === 'document'
}
