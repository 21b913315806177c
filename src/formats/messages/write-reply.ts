/** Writes a reply in the messages format, streamed or not. */

import { argumentsObject } from '../../conversation/arguments.ts'
import { CallIds } from '../../conversation/call-ids.ts'
import type { DeltaFrame } from '../../conversation/delta-frame.ts'
import type { Seal } from '../../conversation/envelope.ts'
import type { WriterFacts } from '../../conversation/format.ts'
import { PIECE_SEPARATOR } from '../../conversation/reasoning-envelope.ts'
import { ReasoningPieces } from '../../conversation/reasoning-pieces.ts'
import type { FoldedPart, FoldedReply, PartKind, PartStart, ReplyWriter, StopReason } from '../../conversation/reply.ts'
import type { TokenUsage } from '../../conversation/usage.ts'
import { type ByteText, encodeText } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { MessagesEcho } from './read-request.ts'
import { writeStopReason } from './stop-reason.ts'
import { writeUsage } from './usage.ts'
import { blockStart, blockStop, deltaFrame, messageEnd, messageStart, signatureDelta } from './write-events.ts'

export class MessagesReplyWriter implements ReplyWriter {
  readonly #facts: WriterFacts
  readonly #ids: CallIds
  #text = ''
  #index = -1
  #kind: PartKind | null = null
  #frame: DeltaFrame | null = null
  readonly #pieces = new ReasoningPieces()

  constructor({ knownIds }: MessagesEcho, facts: WriterFacts) {
    this.#facts = facts
    this.#ids = new CallIds(knownIds, () => `toolu_${facts.newId()}`)
  }

  /**
   * Starts the message. If the upstream has not reported its input tokens yet, or only as zero, sends our own count, because
   * some clients read the count only from this event.
   */
  start(): void {
    const { newId, clientModel, usageSoFar, countInputTokens } = this.#facts
    const reported = usageSoFar()
    const isReported = reported !== null && reported.inputTokens > 0
    const usage = isReported ? reported : { ...NOTHING, inputTokens: countInputTokens() }
    this.#text += messageStart({ id: `msg_${newId()}`, model: clientModel, usage })
  }

  open(part: PartStart): void {
    this.#index++
    this.#kind = part.kind
    this.#pieces.begin({ apart: false })
    this.#text += blockStart(this.#index, this.#block(part))
    this.#frame = deltaFrame(part.kind === 'refusal' ? 'text' : part.kind, this.#index)
  }

  delta(text: string): void {
    this.#text += this.#frame?.event(this.#kind === 'reasoning' ? this.#pieces.add(text) : text) ?? ''
  }

  startSection(): void {
    this.#pieces.divide()
  }

  close(seal: Seal | null = null): void {
    if (seal !== null) this.#text += signatureDelta(this.#index, this.#facts.wrapSeal(seal, this.#pieces.lengths))
    this.#text += blockStop(this.#index)
    this.#kind = null
  }

  completeOutput(): void {}

  take(): ByteText {
    const text = encodeText(this.#text)
    this.#text = ''
    return text
  }

  frame(kind: PartKind): DeltaFrame | null {
    return this.#kind === kind && (kind !== 'reasoning' || this.#pieces.isWithin) ? this.#frame : null
  }

  recordFramed(text: ByteText): void {
    if (this.#kind === 'reasoning') this.#pieces.addWritten(text)
  }

  end(stopReason: StopReason, usage: TokenUsage): ByteText {
    this.#text += messageEnd(stopReason, usage)
    return this.take()
  }

  #block(part: PartStart): JsonObject {
    switch (part.kind) {
      case 'reasoning':
        return { type: 'thinking', thinking: '', signature: '' }
      case 'call':
        return { type: 'tool_use', id: this.#ids.assign(part.id, part.signature), name: part.name, input: {} }
      default:
        return { type: 'text', text: '' }
    }
  }
}

const NOTHING: TokenUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
}

export function writeReply(reply: FoldedReply, { knownIds }: MessagesEcho, facts: WriterFacts): JsonObject {
  const ids = new CallIds(knownIds, () => `toolu_${facts.newId()}`)
  const content = reply.parts.map(part => writePart(part, ids, facts))
  return {
    id: `msg_${facts.newId()}`,
    type: 'message',
    role: 'assistant',
    model: facts.clientModel,
    content,
    stop_reason: writeStopReason(reply.stopReason),
    stop_sequence: null,
    usage: writeUsage(reply.usage),
  }
}

function writePart(part: FoldedPart, ids: CallIds, { wrapSeal }: WriterFacts): JsonObject {
  switch (part.kind) {
    case 'reasoning': {
      const lengths = part.texts.map(text => text.length)
      const signature = part.seal === null ? '' : wrapSeal(part.seal, lengths)
      return { type: 'thinking', thinking: part.texts.join(PIECE_SEPARATOR), signature }
    }
    case 'call': {
      const id = ids.assign(part.id, part.signature)
      return { type: 'tool_use', id, name: part.name, input: argumentsObject(part.arguments) }
    }
    default:
      return { type: 'text', text: part.text }
  }
}
