/**
 * Puts the parts of a reply in sequence, although an upstream may interleave items. Only the first unfinished part
 * streams; text for later ones is held back.
 */

import { GatheredText } from '../../conversation/gathered-text.ts'
import type { PartStart, ReplySink } from '../../conversation/reply.ts'
import type { Seal } from '../../conversation/seal.ts'
import { failedStream } from '../../conversation/stream-event.ts'
import type { ByteText } from '../../lib/byte-text.ts'

/** Most characters and parts held back; far more than any model writes in one reply. */
const WAITING_CHARACTERS_MAX = 16_000_000
const WAITING_PARTS_MAX = 100_000

/** Text that waits to be emitted; null: a new piece of reasoning starts. */
type Waiting = string | null

export class QueuedPart {
  readonly start: PartStart
  readonly #queue: PartQueue
  /** Text added since the last `divide`. */
  #said = new GatheredText()
  readonly waiting: Waiting[] = []
  #divides = false
  isOver = false
  seal: Seal | null = null

  constructor(start: PartStart, queue: PartQueue) {
    this.start = start
    this.#queue = queue
  }

  /** Adds text and returns the part. Ignored once the part is over. */
  say(text: string): this {
    if (this.isOver || text === '') return this
    if (this.#divides) this.waiting.push(null)
    this.#divides = false
    this.#said.add(text)
    this.waiting.push(text)
    this.#queue.grew(this, text.length)
    return this
  }

  /** Records text that was already emitted, as written in JSON. */
  saidWritten(text: ByteText): void {
    this.#said.addWritten(text)
  }

  /** Adds the rest of the full text to what has arrived. A full text that contradicts it is ignored. */
  complete(whole: string): void {
    if (this.isOver || whole === '') return
    const { text } = this.#said
    if (whole.length > text.length && whole.startsWith(text)) this.say(whole.slice(text.length))
  }

  /** Starts a new piece, unless the current one is empty. */
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

  /** No text since the last `divide`. */
  get saidNothing(): boolean {
    return this.#said.text === ''
  }
}

export class PartQueue {
  readonly #sink: ReplySink
  #parts: QueuedPart[] = []
  /** Index of the first part that is not finished. */
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

  /** The part whose text is emitted at once; null if none is open. */
  get live(): QueuedPart | null {
    return this.#isOpen ? (this.#first ?? null) : null
  }

  /** Called when a part has grown. */
  grew(part: QueuedPart, characters: number): void {
    this.#waitingCharacters += characters
    if (part === this.#first) this.#tell(part)
    else if (this.#waitingCharacters > WAITING_CHARACTERS_MAX) throw failedStream('too much interleaved output')
  }

  /** Called when a part is over. */
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

  /** Emits what waits in the first part. A part opens with its first piece of text; reasoning also with just a seal. */
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
