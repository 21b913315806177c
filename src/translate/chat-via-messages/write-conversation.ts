/** Turns as `system` and `messages` of a messages request. */

import type { JsonObject, JsonValue } from '../../lib/json.ts'
import type { Dialect } from '../dialect.ts'
import type { ToolNames, UpstreamIds } from '../names.ts'
import type { PairedTurn } from '../pairing.ts'
import type { CallPiece, DocumentPiece, ImagePiece, Piece, ResultPiece, TextPiece } from '../pieces.ts'
import { refuse, refuseCapability } from '../refuse.ts'

export interface MessagesWriting {
  readonly dialect: Dialect
  readonly names: ToolNames
  readonly ids: UpstreamIds
  readonly hasVision: boolean
}

export interface WrittenConversation {
  /** '' for none; blocks where cache marks are kept. */
  readonly system: string | JsonValue[]
  readonly messages: JsonObject[]
}

/** Asks the model to go on where a format does not continue a last assistant message. */
const GO_ON = 'Continue.'

export function writeConversation(turns: readonly PairedTurn[], writing: MessagesWriting): WrittenConversation {
  const spoken = turns.filter(turn => mergeBlanks(turn.pieces).some(isWritten))
  const { leading, rest } = splitSystem(spoken, writing.dialect.turns.midSystem)
  const written = rest.flatMap((turn, index) => {
    const continued = index === rest.length - 1 && writing.dialect.turns.prefill === 'continue'
    const content = writeTurn(turn, { continued, writing })
    return content === null ? [] : [{ role: turn.role, content }]
  })
  const messages = written.map((message, index) => ({ ...message, role: placedRole(message, written[index + 1]) }))
  const promoted = leading.at(-1)
  if (!messages.some(message => message.role === 'user')) {
    // The format needs a user turn: a conversation of instructions only becomes one.
    if (promoted === undefined || messages.length > 0) refuse('messages', 'expected a user message with content')
    return { system: systemOf(leading.slice(0, -1), writing), messages: [{ role: 'user', content: promoted.text }] }
  }
  return { system: systemOf(leading, writing), messages: finish(messages, writing.dialect.turns) }
}

/** Instructions before the first turn, and the turns. Later instructions join them where the dialect says `hoist`. */
function splitSystem(
  turns: readonly PairedTurn[],
  midSystem: Dialect['turns']['midSystem'],
): { leading: TextPiece[]; rest: PairedTurn[] } {
  const first = turns.findIndex(turn => turn.role !== 'system')
  const isLeading = (turn: PairedTurn, index: number) =>
    turn.role === 'system' && (midSystem === 'hoist' || first < 0 || index < first)
  const leading = turns.filter(isLeading).flatMap(turn => turn.pieces.filter(piece => piece.kind === 'text'))
  return {
    leading: leading.filter(piece => piece.text.trim() !== ''),
    rest: turns
      .filter((turn, index) => !isLeading(turn, index))
      .map(turn => (turn.role === 'system' && midSystem === 'user_text' ? { ...turn, role: 'user' as const } : turn)),
  }
}

function systemOf(pieces: readonly TextPiece[], { dialect }: MessagesWriting): string | JsonValue[] {
  const keepsMarks = dialect.content.cacheControl === 'pass' && pieces.some(piece => piece.cacheControl !== undefined)
  return keepsMarks ? pieces.map(piece => textBlock(piece, dialect)) : pieces.map(piece => piece.text).join('\n')
}

/** A system message stands at the end or before an assistant turn; elsewhere the format refuses it, so it is user text. */
function placedRole(message: { role: string }, next: { role: string } | undefined): string {
  return message.role === 'system' && next !== undefined && next.role !== 'assistant' ? 'user' : message.role
}

interface TurnPlace {
  /** The model continues this turn. */
  readonly continued: boolean
  readonly writing: MessagesWriting
}

/** Null for a turn that holds nothing. */
function writeTurn(turn: PairedTurn, { continued, writing }: TurnPlace): JsonValue | null {
  const pieces = mergeBlanks(turn.pieces)
  const blocks = pieces.flatMap(piece => writePiece(piece, turn, writing))
  if (turn.role === 'assistant' && continued) trimEnd(blocks)
  const only = blocks[0]
  if (only === undefined) return null
  if (blocks.length === 1 && only.type === 'text' && only.cache_control === undefined) return only.text ?? ''
  return blocks
}

/** Text blocks may not be blank: blanks join the text before them, or go when there is none. */
function mergeBlanks(pieces: readonly Piece[]): Piece[] {
  const merged: Piece[] = []
  for (const piece of pieces) {
    const last = merged.at(-1)
    if (piece.kind !== 'text' || piece.text.trim() !== '') merged.push(piece)
    else if (last?.kind === 'text') merged.splice(-1, 1, { ...last, text: last.text + piece.text })
  }
  return merged
}

/** Reasoning without its signature is refused by every upstream of this format; a gap is nothing. */
function isWritten(piece: Piece): boolean {
  return piece.kind !== 'thinking' && piece.kind !== 'gap'
}

function writePiece(piece: Piece, turn: PairedTurn, writing: MessagesWriting): JsonObject[] {
  switch (piece.kind) {
    case 'text':
      return [textBlock(piece, writing.dialect)]
    case 'image':
      return [writeImage(piece, turn.place, writing)]
    case 'document':
      return writeDocument(piece, turn, writing)
    case 'call':
      return [writeCall(piece, writing)]
    case 'result':
      return [writeResult(piece, turn, writing)]
    case 'thinking':
    case 'gap':
      return []
  }
}

function textBlock(piece: TextPiece, dialect: Dialect): JsonObject {
  return { type: 'text', text: piece.text, ...mark(piece, dialect) }
}

function writeImage(piece: ImagePiece, place: string, { dialect, hasVision }: MessagesWriting): JsonObject {
  if (!hasVision) {
    if (dialect.content.imagesUnsupported === 'placeholder')
      return { type: 'text', text: '[image omitted: this model takes no images]' }
    return refuseCapability('image_block', `${place}: this model takes no images`)
  }
  if (piece.source.type === 'base64') {
    const { mediaType, data } = piece.source
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data }, ...mark(piece, dialect) }
  }
  if (dialect.content.imageUrl !== 'pass')
    refuse(place, 'this model takes no image URLs; send the image as a base64 data URL')
  return { type: 'image', source: { type: 'url', url: piece.source.url }, ...mark(piece, dialect) }
}

function writeDocument(piece: DocumentPiece, turn: PairedTurn, { dialect }: MessagesWriting): JsonObject[] {
  const title = piece.title === '' ? 'document.pdf' : piece.title
  if (dialect.content.documents === 'placeholder') return [{ type: 'text', text: `[document ${title} omitted]` }]
  if (dialect.content.documents === 'reject')
    refuseCapability('document_block', `${turn.place}: this model takes no documents`)
  const source = { type: 'base64', media_type: piece.mediaType, data: piece.data }
  const document = { type: 'document', source, title, ...mark(piece, dialect) }
  // A document wants text beside it.
  const hasText = turn.pieces.some(other => other.kind === 'text' && other.text.trim() !== '')
  const isFirst = turn.pieces.find(other => other.kind === 'document') === piece
  return hasText || !isFirst ? [document] : [document, { type: 'text', text: title }]
}

function writeCall(piece: CallPiece, { names, ids }: MessagesWriting): JsonObject {
  return { type: 'tool_use', id: ids.of(piece), name: names.upstream(piece.name), input: piece.input }
}

function writeResult(piece: ResultPiece, turn: PairedTurn, writing: MessagesWriting): JsonObject {
  const call = turn.answers.get(piece)!
  const inner = { ...turn, pieces: piece.content, place: piece.place }
  const blocks = mergeBlanks(piece.content).flatMap(content => writePiece(content, inner, writing))
  const only = blocks[0]
  const content = blocks.length === 1 && only?.type === 'text' ? only.text : blocks
  return {
    type: 'tool_result',
    tool_use_id: writing.ids.of(call),
    ...(only !== undefined && { content }),
    ...mark(piece, writing.dialect),
  }
}

function mark(piece: { readonly cacheControl?: JsonObject }, dialect: Dialect): { cache_control?: JsonObject } {
  return piece.cacheControl !== undefined && dialect.content.cacheControl === 'pass'
    ? { cache_control: piece.cacheControl }
    : {}
}

/** The last text of a continued reply may not end in blanks. */
function trimEnd(blocks: JsonObject[]): void {
  const last = blocks.at(-1)
  if (last?.type !== 'text' || typeof last.text !== 'string') return
  const text = last.text.trimEnd()
  if (text === '') blocks.pop()
  else blocks.splice(-1, 1, { ...last, text })
}

function finish(messages: JsonObject[], { prefill }: Dialect['turns']): JsonObject[] {
  const last = messages.at(-1)
  if (last?.role !== 'assistant' || prefill === 'continue') return messages
  if (prefill === 'user_turn') return [...messages, { role: 'user', content: GO_ON }]
  return refuse(
    'messages',
    'This model does not support assistant message prefill. The conversation must end with a user message.',
  )
}
