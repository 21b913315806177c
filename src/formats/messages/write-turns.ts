/** Turns as `system` and `messages` of a messages request. */

import { PIECES_APART } from '../../conversation/marks.ts'
import type { ToolNames, UpstreamIds } from '../../conversation/names.ts'
import type { PairedTurn } from '../../conversation/pairing.ts'
import { refuse, refuseCapability } from '../../conversation/refuse.ts'
import type {
  CallPart,
  ContentPart,
  DocumentPart,
  ImagePart,
  ReasoningPart,
  ResultPart,
  TextPart,
} from '../../conversation/request.ts'
import type { Dialect } from '../../generated/types.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'

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

export function writeTurns(turns: readonly PairedTurn[], writing: MessagesWriting): WrittenConversation {
  const spoken = turns.filter(turn => mergeBlanks(turn.parts).some(isWritten))
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
): { leading: TextPart[]; rest: PairedTurn[] } {
  const first = turns.findIndex(turn => turn.role !== 'system')
  const isLeading = (turn: PairedTurn, index: number) =>
    turn.role === 'system' && (midSystem === 'hoist' || first < 0 || index < first)
  const leading = turns.filter(isLeading).flatMap(turn => turn.parts.filter(part => part.kind === 'text'))
  return {
    leading: leading.filter(part => part.text.trim() !== ''),
    rest: turns
      .filter((turn, index) => !isLeading(turn, index))
      .map(turn => (turn.role === 'system' && midSystem === 'user_text' ? { ...turn, role: 'user' as const } : turn)),
  }
}

function systemOf(parts: readonly TextPart[], { dialect }: MessagesWriting): string | JsonValue[] {
  const keepsMarks = dialect.content.cacheControl === 'pass' && parts.some(part => part.cacheControl !== undefined)
  return keepsMarks ? parts.map(part => textBlock(part, dialect)) : parts.map(part => part.text).join('\n')
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
  const parts = mergeBlanks(turn.parts)
  const blocks = parts.flatMap(part => writePiece(part, turn, writing))
  if (turn.role === 'assistant' && continued) trimEnd(blocks)
  const only = blocks[0]
  if (only === undefined) return null
  if (blocks.length === 1 && only.type === 'text' && only.cache_control === undefined) return only.text ?? ''
  return blocks
}

/** Text blocks may not be blank: blanks join the text before them, or go when there is none. */
function mergeBlanks(parts: readonly ContentPart[]): ContentPart[] {
  const merged: ContentPart[] = []
  for (const part of parts) {
    const last = merged.at(-1)
    if (part.kind !== 'text' || part.text.trim() !== '') merged.push(part)
    else if (last?.kind === 'text') merged.splice(-1, 1, { ...last, text: last.text + part.text })
  }
  return merged
}

/** Reasoning alone is no turn; a gap is nothing. */
function isWritten(part: ContentPart): boolean {
  return part.kind !== 'reasoning' && part.kind !== 'gap'
}

function writePiece(part: ContentPart, turn: PairedTurn, writing: MessagesWriting): JsonObject[] {
  switch (part.kind) {
    case 'text':
      return [textBlock(part, writing.dialect)]
    case 'image':
      return [writeImage(part, turn.place, writing)]
    case 'document':
      return writeDocument(part, turn, writing)
    case 'call':
      return [writeCall(part, writing)]
    case 'result':
      return [writeResult(part, turn, writing)]
    case 'reasoning':
      return writeReasoning(part)
    case 'gap':
      return []
  }
}

/** Without its signature it is refused by every upstream of this format. */
function writeReasoning({ texts, seal }: ReasoningPart): JsonObject[] {
  if (seal?.wire !== 'messages') return []
  if ('redacted' in seal) return [{ type: 'redacted_thinking', data: seal.redacted }]
  return [{ type: 'thinking', thinking: texts.join(PIECES_APART), signature: seal.signature }]
}

function textBlock(part: TextPart, dialect: Dialect): JsonObject {
  return { type: 'text', text: part.text, ...mark(part, dialect) }
}

function writeImage(part: ImagePart, place: string, { dialect, hasVision }: MessagesWriting): JsonObject {
  if (!hasVision) {
    if (dialect.content.imagesUnsupported === 'placeholder')
      return { type: 'text', text: '[image omitted: this model takes no images]' }
    return refuseCapability('image_block', `${place}: this model takes no images`)
  }
  if (part.source.type === 'base64') {
    const { mediaType, data } = part.source
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data }, ...mark(part, dialect) }
  }
  if (dialect.content.imageUrl !== 'pass')
    refuse(place, 'this model takes no image URLs; send the image as a base64 data URL')
  return { type: 'image', source: { type: 'url', url: part.source.url }, ...mark(part, dialect) }
}

function writeDocument(part: DocumentPart, turn: PairedTurn, { dialect }: MessagesWriting): JsonObject[] {
  const title = part.title === '' ? 'document.pdf' : part.title
  if (dialect.content.documents === 'placeholder') return [{ type: 'text', text: `[document ${title} omitted]` }]
  if (dialect.content.documents === 'reject')
    refuseCapability('document_block', `${turn.place}: this model takes no documents`)
  const source =
    part.source.type === 'url'
      ? part.source
      : { type: 'base64', media_type: part.source.mediaType, data: part.source.data }
  const document = { type: 'document', source, title, ...mark(part, dialect) }
  // A document wants text beside it.
  const hasText = turn.parts.some(other => other.kind === 'text' && other.text.trim() !== '')
  const isFirst = turn.parts.find(other => other.kind === 'document') === part
  return hasText || !isFirst ? [document] : [document, { type: 'text', text: title }]
}

function writeCall(part: CallPart, { names, ids }: MessagesWriting): JsonObject {
  return { type: 'tool_use', id: ids.of(part), name: names.upstream(part.name), input: part.input }
}

function writeResult(part: ResultPart, turn: PairedTurn, writing: MessagesWriting): JsonObject {
  const call = turn.answers.get(part)!
  const inner = { ...turn, parts: part.content, place: part.place }
  const blocks = mergeBlanks(part.content).flatMap(content => writePiece(content, inner, writing))
  const only = blocks[0]
  const content = blocks.length === 1 && only?.type === 'text' ? only.text : blocks
  return {
    type: 'tool_result',
    tool_use_id: writing.ids.of(call),
    ...(only !== undefined && { content }),
    ...mark(part, writing.dialect),
  }
}

function mark(part: { readonly cacheControl?: JsonObject }, dialect: Dialect): { cache_control?: JsonObject } {
  return part.cacheControl !== undefined && dialect.content.cacheControl === 'pass'
    ? { cache_control: part.cacheControl }
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
