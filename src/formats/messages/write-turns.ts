/** Writes a conversation's turns into the `system` and `messages` fields of a messages request. */

import { UpstreamIds } from '../../conversation/names.ts'
import type { PairedTurn } from '../../conversation/pairing.ts'
import { PIECE_SEPARATOR } from '../../conversation/reasoning-envelope.ts'
import { refuse } from '../../conversation/refuse.ts'
import type {
  CallPart,
  ContentPart,
  DocumentPart,
  ImagePart,
  ReasoningPart,
  ResultPart,
  TextPart,
} from '../../conversation/request.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'

export interface WrittenTurns {
  /** The instructions: '' if there are none, a list of blocks if some have a cache breakpoint, otherwise a string. */
  readonly system: string | JsonValue[]
  readonly messages: JsonObject[]
  /** For each message, the path of its source in the client's body. */
  readonly places: readonly string[]
}

/**
 * User message for a conversation that begins with the model: with a greeting, or in the middle, because the client has cut off
 * its beginning. The API requires a user message first (`messages: first message must use the "user" role`, read 2026-11).
 */
const OPENING = { message: { role: 'user', content: 'Begin.' }, place: '' } as const

/**
 * Writes the turns. Instructions before the first other turn become `system`. Later instructions stay where they are, as
 * messages with the role `system`; the dialect decides whether the model accepts that.
 */
export function writeTurns(turns: readonly PairedTurn[]): WrittenTurns {
  const spoken = turns.filter(turn => mergeBlanks(turn.parts).some(isWritten))
  const first = spoken.findIndex(turn => turn.role !== 'system')
  const leading = spoken.slice(0, first < 0 ? spoken.length : first)
  const texts = leading.flatMap(turn => turn.parts.filter(isText)).filter(part => part.text.trim() !== '')
  const ids = new UpstreamIds('word')
  const written = spoken.slice(leading.length).flatMap(turn => {
    const content = writeTurn(turn, ids)
    return content === null ? [] : [{ message: { role: turn.role, content }, place: turn.place }]
  })
  const promoted = texts.at(-1)
  if (written.some(({ message }) => message.role !== 'assistant')) {
    const begun = written[0]?.message.role === 'user' ? written : [OPENING, ...written]
    return {
      system: systemOf(texts),
      messages: begun.map(({ message }) => message),
      places: begun.map(({ place }) => place),
    }
  }
  // The format requires a user turn. If the request has only instructions, the last one becomes the user turn.
  if (promoted === undefined || written.length > 0) refuse('messages', 'expected a user message with content')
  return { system: systemOf(texts.slice(0, -1)), messages: [{ role: 'user', content: promoted.text }], places: [''] }
}

function systemOf(parts: readonly TextPart[]): string | JsonValue[] {
  const hasBreakpoint = parts.some(part => part.cacheControl !== undefined)
  return hasBreakpoint ? parts.map(textBlock) : parts.map(part => part.text).join('\n')
}

/** Returns the content of a turn; null if it is empty. */
function writeTurn(turn: PairedTurn, ids: UpstreamIds): JsonValue | null {
  const blocks = mergeBlanks(turn.parts).flatMap(part => writePiece(part, turn, ids))
  const only = blocks[0]
  if (only === undefined) return null
  if (blocks.length === 1 && only.type === 'text' && only.cache_control === undefined) return only.text ?? ''
  return blocks
}

/** Removes blank text blocks, which the format forbids. If a text comes right before, their whitespace is appended to it. */
function mergeBlanks(parts: readonly ContentPart[]): ContentPart[] {
  const merged: ContentPart[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (part.kind !== 'text' || part.text.trim() !== '') merged.push(part)
    else if (last?.kind === 'text') merged.splice(-1, 1, { ...last, text: last.text + part.text })
  }
  return merged
}

/**
 * Whether a part justifies writing the turn. Reasoning alone does not. Nor do gaps, which only stand in for removed content.
 */
function isWritten(part: ContentPart): boolean {
  return part.kind !== 'reasoning' && part.kind !== 'gap'
}

function writePiece(part: ContentPart, turn: PairedTurn, ids: UpstreamIds): JsonObject[] {
  switch (part.kind) {
    case 'text':
      return [textBlock(part)]
    case 'image':
      return [writeImage(part)]
    case 'document':
      return [writeDocument(part)]
    case 'call':
      return [writeCall(part, ids)]
    case 'result':
      return [writeResult(part, turn, ids)]
    case 'reasoning':
      return writeReasoning(part)
    case 'gap':
      return []
  }
}

/** Writes reasoning. Without a signature it is dropped, because every upstream of this format would refuse it. */
function writeReasoning({ texts, seal }: ReasoningPart): JsonObject[] {
  if (seal?.wire !== 'messages') return []
  if ('redacted' in seal) return [{ type: 'redacted_thinking', data: seal.redacted }]
  return [{ type: 'thinking', thinking: texts.join(PIECE_SEPARATOR), signature: seal.signature }]
}

function textBlock(part: TextPart): JsonObject {
  return { type: 'text', text: part.text, ...breakpoint(part) }
}

function writeImage(part: ImagePart): JsonObject {
  const { source } = part
  const written =
    source.type === 'url' ? { ...source } : { type: 'base64', media_type: source.mediaType, data: source.data }
  return { type: 'image', source: written, ...breakpoint(part) }
}

function writeDocument(part: DocumentPart): JsonObject {
  const { source, title } = part
  const written =
    source.type === 'url' ? { ...source } : { type: 'base64', media_type: source.mediaType, data: source.data }
  return { type: 'document', source: written, title: title === '' ? 'document.pdf' : title, ...breakpoint(part) }
}

function writeCall(part: CallPart, ids: UpstreamIds): JsonObject {
  return { type: 'tool_use', id: ids.of(part), name: part.name, input: part.input }
}

function writeResult(part: ResultPart, turn: PairedTurn, ids: UpstreamIds): JsonObject {
  const call = turn.answers.get(part)!
  const blocks = mergeBlanks(part.content).flatMap(content => writePiece(content, turn, ids))
  const only = blocks[0]
  const content = blocks.length === 1 && only?.type === 'text' ? only.text : blocks
  return {
    type: 'tool_result',
    tool_use_id: ids.of(call),
    ...(only !== undefined && { content }),
    // The API refuses an error without content.
    ...(part.isError && { ...(only === undefined && { content: 'Error' }), is_error: true }),
    ...breakpoint(part),
  }
}

function breakpoint({ cacheControl }: { readonly cacheControl?: JsonObject }): JsonObject {
  return cacheControl === undefined ? {} : { cache_control: cacheControl }
}

function isText(part: ContentPart): part is TextPart {
  return part.kind === 'text'
}
