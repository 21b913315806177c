/**
 * Passes a reply from its reader to its writer. Undoes what the gateway changed for the request, such as the names of tools.
 */

import type { Seal } from '../conversation/envelope.ts'
import type { TaggedText } from '../conversation/reasoning-tag.ts'
import type { PartKind, PartStart, ReplySink, StopReason } from '../conversation/reply.ts'
import { TextUndo } from '../conversation/undo-text.ts'
import type { ReplyFacts } from '../dialect/types.ts'

export interface PipeOptions {
  readonly to: ReplySink
  readonly facts: ReplyFacts
  /** Receives all output for the client, piece by piece: text, reasoning, call arguments. */
  readonly onOutput: (text: string) => void
}

export class ReplyPipe implements ReplySink {
  readonly #to: ReplySink
  readonly #facts: ReplyFacts
  readonly #onOutput: (text: string) => void
  /** Removes reasoning tags and code fences from the model's text; null if neither is expected. */
  readonly #text: TextUndo | null
  /** Kind of the part that the reader has open; null between parts. */
  #from: PartKind | null = null
  /**
   * Kind of the part that the writer has open; null between parts. Text and reasoning parts are opened when their first piece
   * arrives.
   */
  #open: PartKind | null = null
  /**
   * Whether the open call is of the tool whose input is the JSON reply (`replyTool`), so that its arguments go to the client as
   * text.
   */
  #isReply = false
  #repliedByTool = false
  #hasCalls = false

  constructor({ to, facts, onOutput }: PipeOptions) {
    this.#to = to
    this.#facts = facts
    this.#onOutput = onOutput
    this.#text = facts.tag === null && !facts.unwrapsFence ? null : new TextUndo(facts)
  }

  start(): void {
    this.#to.start()
  }

  open(part: PartStart): void {
    this.#from = part.kind
    if (part.kind !== 'call') return
    this.#flush()
    this.#end()
    this.#isReply = part.name === this.#facts.replyTool && !this.#repliedByTool
    if (this.#isReply) {
      this.#repliedByTool = true
      return
    }
    this.#hasCalls = true
    this.#open = 'call'
    this.#to.open({ ...part, name: this.#facts.names?.client(part.name) ?? part.name })
  }

  delta(text: string): void {
    switch (this.#from) {
      case 'text':
        this.#show(this.#text?.push(text) ?? { reasoning: '', text })
        return
      case 'call':
        if (this.#isReply) this.#say('text', text)
        else this.#give(text)
        return
      case 'reasoning':
      case 'refusal':
        this.#say(this.#from, text)
    }
  }

  startSection(): void {
    if (this.#open === 'reasoning') this.#to.startSection()
  }

  close(seal: Seal | null = null): void {
    const from = this.#from
    this.#from = null
    // A seal, which the provider needs back later, is passed on even if its reasoning has no text.
    if (from === 'reasoning' && seal !== null && this.#open !== 'reasoning') this.#begin('reasoning')
    if (from === this.#open && !this.#holdsText(from)) this.#end(seal)
  }

  completeOutput(): void {
    this.#flush()
    this.#to.completeOutput()
  }

  /** Closes the open part. Returns the client's stop reason. */
  end(stopReason: StopReason): StopReason {
    this.#flush()
    this.#end()
    return stopReason === 'tool_use' && !this.#hasCalls ? 'end_turn' : stopReason
  }

  /** Whether text of this kind, or a call's arguments, would pass through unchanged. */
  passes(kind: 'text' | 'reasoning' | 'call'): boolean {
    return this.#from === kind && this.#open === kind && (kind !== 'text' || this.#text === null)
  }

  #show({ reasoning, text }: TaggedText): void {
    this.#say('reasoning', reasoning)
    this.#say('text', text)
  }

  /** Releases text that was held back, because no more can come. */
  #flush(): void {
    if (this.#text !== null) this.#show(this.#text.end())
  }

  #holdsText(kind: PartKind | null): boolean {
    return kind === 'text' && this.#text !== null
  }

  #say(kind: PartKind, text: string): void {
    if (text === '') return
    if (this.#open !== kind) this.#begin(kind)
    this.#give(text)
  }

  #begin(kind: PartKind): void {
    this.#end()
    this.#open = kind
    this.#to.open({ kind } as PartStart)
  }

  #give(text: string): void {
    this.#onOutput(text)
    this.#to.delta(text)
  }

  #end(seal: Seal | null = null): void {
    if (this.#open === null) return
    this.#open = null
    this.#to.close(seal)
  }
}
