/**
 * Emits the parts of a reply one after another, even if the upstream interleaves its items. Only the first unfinished part
 * streams; text of later parts is held back.
 */

import type { Seal } from '../../conversation/envelope.ts'
import { GatheredText } from '../../conversation/gathered-text.ts'
import type { PartStart, ReplySink } from '../../conversation/reply.ts'
import { failedStream } from '../../conversation/stream-event.ts'
import type { ByteText } from '../../lib/byte-text.ts'

/** Limits on the characters and parts held back; far more than any model writes in one reply. */
const WAITING_CHARACTERS_MAX = 16_000_000
const WAITING_PARTS_MAX = 100_000

/** A piece of text held back; null marks the start of a new piece of reasoning. */
type Waiting = string | null

export class QueuedPart {
  readonly start: PartStart
  readonly #queue: PartQueue
  /** Text added since the last `divide`. */
  #text = new GatheredText()
  readonly waiting: Waiting[] = []
  #divides = false
  isOver = false
  seal: Seal | null = null

  constructor(start: PartStart, queue: PartQueue) {
    this.start = start
    this.#queue = queue
  }

  /** Adds text, unless the part has ended. Returns the part. */
  say(text: string): this {
    if (this.isOver || text === '') return this
    if (this.#divides) this.waiting.push(null)
    this.#divides = false
    this.#text.add(text)
    this.waiting.push(text)
    this.#queue.grew(this, text.length)
    return this
  }

  /** Records text (escaped JSON string content) that has already been emitted. */
  addWritten(text: ByteText): void {
    this.#text.addWritten(text)
  }

  /** Given the part's full text, adds what has not arrived yet. Does nothing if it does not begin with the text so far. */
  complete(whole: string): void {
    if (this.isOver || whole === '') return
    const { text } = this.#text
    if (whole.length > text.length && whole.startsWith(text)) this.say(whole.slice(text.length))
  }

  /** Starts a new piece of reasoning, unless the current one is empty. */
  divide(): void {
    if (this.isEmpty) return
    this.#text = new GatheredText()
    this.#divides = true
  }

  end(seal: Seal | null = null): void {
    if (this.isOver) return
    if (this.start.kind === 'call' && this.isEmpty) this.say('{}')
    this.isOver = true
    this.seal = seal
    this.#queue.ended()
  }

  /** Whether no text has arrived since the last `divide`. */
  get isEmpty(): boolean {
    return this.#text.text === ''
  }
}

export class PartQueue {
  readonly #sink: ReplySink
  #parts: QueuedPart[] = []
  /** Index of the first part that has not been closed. */
  #head = 0
  #isOpen = false
  #waitingCharacters = 0

  constructor(sink: ReplySink) {
    this.#sink = sink
  }

  add(start: PartStart): QueuedPart {
    if (this.#parts.length - this.#head >= WAITING_PARTS_MAX) throw failedStream('too much interleaved output')
    const part = new QueuedPart(start, this)
    this.#parts.push(part)
    if (part === this.#first) this.#tell(part)
    return part
  }

  /** The part whose text is emitted as it arrives; null if no part is open. */
  get live(): QueuedPart | null {
    return this.#isOpen ? (this.#first ?? null) : null
  }

  /** Parts call this when they have received text. */
  grew(part: QueuedPart, characters: number): void {
    this.#waitingCharacters += characters
    if (part === this.#first) this.#tell(part)
    else if (this.#waitingCharacters > WAITING_CHARACTERS_MAX) throw failedStream('too much interleaved output')
  }

  /** Parts call this when they have ended. Closes all ended parts at the front of the queue. */
  ended(): void {
    for (let part = this.#first; part?.isOver === true; part = this.#first) {
      this.#tell(part)
      if (this.#isOpen) this.#sink.close(part.seal)
      this.#isOpen = false
      this.#head++
      this.#dropFinished()
    }
    if (this.#first !== undefined) this.#tell(this.#first)
  }

  get #first(): QueuedPart | undefined {
    return this.#parts[this.#head]
  }

  /**
   * Emits the text held back in `part`, which is the first part. A part opens with its first piece of text; a call, or
   * reasoning with a seal (see `Seal`), opens even without text.
   */
  #tell(part: QueuedPart): void {
    if (part.start.kind === 'call' || part.seal !== null) this.#open(part)
    for (const piece of part.waiting) {
      if (piece === null) {
        this.#sink.startSection()
        continue
      }
      this.#open(part)
      this.#waitingCharacters -= piece.length
      this.#sink.delta(piece)
    }
    part.waiting.length = 0
  }

  #open({ start }: QueuedPart): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.#sink.open(start)
  }

  #dropFinished(): void {
    if (this.#head * 2 < this.#parts.length) return
    this.#parts = this.#parts.slice(this.#head)
    this.#head = 0
  }
}
