/** Writes a reply in the chat format, streamed or not. */

import type { DeltaFrame } from '../../conversation/delta-frame.ts'
import type { Seal } from '../../conversation/envelope.ts'
import type { WriterFacts } from '../../conversation/format.ts'
import { PIECE_SEPARATOR } from '../../conversation/reasoning-envelope.ts'
import { ReasoningPieces } from '../../conversation/reasoning-pieces.ts'
import type { FoldedReply, PartKind, PartStart, ReplyWriter, StopReason } from '../../conversation/reply.ts'
import type { TokenUsage } from '../../conversation/usage.ts'
import { type ByteText, encodeText } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { ChatEcho } from './read-request.ts'
import { finishReasonOf } from './stop-reason.ts'
import { writeUsage } from './usage.ts'
import { callMembers, StreamedCalls } from './write-calls.ts'
import { ChunkWriter, sealedDetail } from './write-chunks.ts'

/**
 * Separates texts that the model wrote apart, such as an announcement and, after more reasoning, the answer. The chat format has
 * a single text.
 */
const PARAGRAPH = '\n\n'

export class ChatReplyWriter implements ReplyWriter {
  readonly #facts: WriterFacts
  readonly #wantsUsage: boolean
  readonly #chunks: ChunkWriter
  #text = ''
  #kind: PartKind | null = null
  readonly #calls: StreamedCalls
  readonly #legacy: boolean
  #frame: DeltaFrame | null
  #detailIndex = -1
  #hasReasoning = false
  readonly #pieces = new ReasoningPieces()
  /** Whether anything other than reasoning has started. */
  #hasAnswer = false
  #hasText = false
  /** Whether the next text begins a paragraph, because it is a part of its own. */
  #beginsParagraph = false

  constructor({ wantsUsageChunk, tools }: ChatEcho, facts: WriterFacts) {
    this.#facts = facts
    this.#wantsUsage = wantsUsageChunk
    const { newId, clientModel: model, nowSeconds: createdSeconds } = facts
    this.#chunks = new ChunkWriter({ id: `chatcmpl-${newId()}`, model, createdSeconds })
    this.#calls = new StreamedCalls(tools, this.#chunks)
    this.#legacy = tools.legacy
    this.#frame = this.#chunks.frame('content')
  }

  start(): void {
    this.#text += this.#chunks.role()
  }

  open(part: PartStart): void {
    this.#kind = part.kind
    this.#hasAnswer ||= part.kind !== 'reasoning'
    switch (part.kind) {
      case 'reasoning':
        this.#pieces.begin({ apart: this.#hasReasoning })
        this.#frame = this.#chunks.frame('reasoning_content')
        return
      case 'call': {
        const id = part.id === '' ? `call_${this.#facts.newId()}` : part.id
        this.#text += this.#calls.open({ ...part, id })
        this.#frame = this.#calls.frame
        return
      }
      case 'refusal':
        this.#frame = this.#chunks.frame('refusal')
        return
      case 'text':
        this.#beginsParagraph = this.#hasText
        this.#frame = this.#chunks.frame('content')
    }
  }

  delta(text: string): void {
    switch (this.#kind) {
      case 'reasoning':
        this.#hasReasoning = true
        this.#write(this.#pieces.add(text))
        return
      case 'text':
        this.#write(this.#beginsParagraph ? PARAGRAPH + text : text)
        this.#beginsParagraph = false
        this.#hasText = true
        return
      case 'call':
        this.#text += this.#calls.delta(text)
        return
      default:
        this.#write(text)
    }
  }

  startSection(): void {
    this.#pieces.divide()
  }

  close(seal: Seal | null = null): void {
    if (this.#kind === 'call') this.#text += this.#calls.close()
    this.#kind = null
    if (seal === null || !survives(seal, this.#hasAnswer)) return
    this.#detailIndex++
    this.#text += this.#chunks.sealed(this.#facts.wrapSeal(seal, this.#pieces.lengths), this.#detailIndex)
  }

  completeOutput(): void {}

  take(): ByteText {
    const text = encodeText(this.#text)
    this.#text = ''
    return text
  }

  frame(kind: PartKind): DeltaFrame | null {
    if (this.#kind !== kind || (kind === 'text' && this.#beginsParagraph)) return null
    return kind !== 'reasoning' || this.#pieces.isWithin ? this.#frame : null
  }

  recordFramed(text: ByteText): void {
    if (this.#kind === 'reasoning') this.#pieces.addWritten(text)
    this.#hasText ||= this.#kind === 'text'
  }

  end(stopReason: StopReason, usage: TokenUsage): ByteText {
    const finish = finishReasonOf(stopReason, { isLegacy: this.#legacy })
    this.#text += this.#chunks.end(finish, this.#wantsUsage ? usage : null)
    return this.take()
  }

  #write(text: string): void {
    this.#text += this.#frame?.event(text) ?? ''
  }
}

/**
 * Whether a seal is still valid when a chat client sends it back. In a chat history, all reasoning comes before the answer. A
 * seal of the messages format is valid only at its original place, so it is lost if its reasoning came after the answer began.
 * A seal of the responses format is valid anywhere.
 */
function survives(seal: Seal, isAfterAnswer: boolean): boolean {
  return seal.wire === 'responses' || !isAfterAnswer
}

export function writeReply(reply: FoldedReply, { tools }: ChatEcho, facts: WriterFacts): JsonObject {
  const { parts, stopReason, usage } = reply
  const text = joined(reply, 'text', PARAGRAPH)
  const refusal = joined(reply, 'refusal', '')
  const reasoning = parts.flatMap(part => (part.kind === 'reasoning' ? part.texts : []))
  const answer = parts.findIndex(part => part.kind !== 'reasoning')
  const envelopes = parts.flatMap((part, index) => {
    if (part.kind !== 'reasoning' || part.seal === null || !survives(part.seal, index > answer && answer >= 0))
      return []
    const lengths = part.texts.map(piece => piece.length)
    return [facts.wrapSeal(part.seal, lengths)]
  })
  const calls = parts
    .filter(part => part.kind === 'call')
    .map(part => (part.id === '' ? { ...part, id: `call_${facts.newId()}` } : part))
  const message = {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    refusal: refusal === '' ? null : refusal,
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join(PIECE_SEPARATOR) }),
    ...(envelopes.length > 0 && { reasoning_details: envelopes.map(sealedDetail) }),
    ...callMembers(calls, tools),
  }
  const finish_reason = finishReasonOf(stopReason, { isLegacy: tools.legacy })
  return {
    id: `chatcmpl-${facts.newId()}`,
    object: 'chat.completion',
    created: facts.nowSeconds,
    model: facts.clientModel,
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    usage: writeUsage(usage),
  }
}

function joined({ parts }: FoldedReply, kind: 'text' | 'refusal', separator: string): string {
  const texts = parts.map(part => (part.kind === kind ? part.text : ''))
  return texts.filter(text => text !== '').join(separator)
}
