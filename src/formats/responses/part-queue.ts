/**
 * The parts of a reply one after the other, made of items that an upstream may interleave: only the first part that is not
 * over is told as it comes, what belongs to later ones waits.
 */

import { GatheredText } from '../../conversation/gathered-text.ts'
import type { PartStart, ReplySink } from '../../conversation/reply.ts'
import type { Seal } from '../../conversation/seal.ts'
import { failedStream } from '../../conversation/stream-event.ts'
import type { ByteText } from '../../lib/byte-text.ts'

/** Most characters, and most parts, that may wait for their turn; far more than any model writes in one reply. */
const WAITING_CHARACTERS_MAX = 16_000_000
const WAITING_PARTS_MAX = 100_000

/** What a part has been told and has not told yet; null: a further piece of reasoning begins. */
type Waiting = string | null

export class QueuedPart {
  readonly start: PartStart
  readonly #queue: PartQueue
  /** What it was told since the last `divide`. */
  #said = new GatheredText()
  readonly waiting: Waiting[] = []
  #divides = false
  isOver = false
  seal: Seal | null = null

  constructor(start: PartStart, queue: PartQueue) {
    this.start = start
    this.#queue = queue
  }

  /** Of a part that is over, nothing. Gives the part itself. */
  say(text: string): this {
    if (this.isOver || text === '') return this
    if (this.#divides) this.waiting.push(null)
    this.#divides = false
    this.#said.add(text)
    this.waiting.push(text)
    this.#queue.grew(this, text.length)
    return this
  }

  /** As `say` for text as it stands in JSON, which has been told already. */
  saidWritten(text: ByteText): void {
    this.#said.addWritten(text)
  }

  /** What is missing of a text that is now known as a whole. One that is another than what was told cannot be mended. */
  complete(whole: string): void {
    if (this.isOver || whole === '') return
    const { text } = this.#said
    if (whole.length > text.length && whole.startsWith(text)) this.say(whole.slice(text.length))
  }

  /** What comes next stands apart from what came before, if anything did. */
  divide(): void {
    if (this.saidNothing) return
    this.#said = new GatheredText()
    this.#divides = true
  }

  end(seal: Seal | null = null): void {
    if (this.isOver) return
    if (this.start.kind === 'call' && this.saidNothing) this.say('{}')
    this.isOver = true
    this.seal = seal
    this.#queue.ended()
  }

  /** Since the last `divide`. */
  get saidNothing(): boolean {
    return this.#said.text === ''
  }
}

export class PartQueue {
  readonly #sink: ReplySink
  #parts: QueuedPart[] = []
  /** Parts before this one have been told. */
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

  /** The part whose text goes straight out; null while nothing is open, or something waits. */
  get live(): QueuedPart | null {
    return this.#isOpen ? (this.#first ?? null) : null
  }

  /** A part has grown. */
  grew(part: QueuedPart, characters: number): void {
    this.#waitingCharacters += characters
    if (part === this.#first) this.#tell(part)
    else if (this.#waitingCharacters > WAITING_CHARACTERS_MAX) throw failedStream('too much interleaved output')
  }

  /** A part is over. */
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

  /** Gives out what waits in the first part. A text begins with its first piece; reasoning may have a seal alone. */
  #tell(part: QueuedPart): void {
    if (part.start.kind === 'call' || part.seal !== null) this.#open(part)
    for (const piece of part.waiting) {
      if (piece === null) {
        this.#sink.divide()
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
