/**
 * The blocks of a messages stream, made from parts that may come interleaved. Blocks of that format stand one after the
 * other, so only the first segment of the queue is open and streams live; what belongs to later ones waits.
 */

import { failedStream } from '../../conversation/stream-event.ts'
import type { CallArguments } from './call-arguments.ts'
import { blockStart, blockStop, inputDelta, textDelta, thinkingDelta, writtenDelta } from './events.ts'

/** Most characters, and most segments, that may wait for their turn; far more than any model writes in one reply. */
const WAITING_CHARACTERS_MAX = 16_000_000
const WAITING_SEGMENTS_MAX = 100_000

export interface SpokenSegment {
  readonly kind: 'text' | 'thinking'
  waiting: string
}

export interface CallSegment {
  readonly kind: 'call'
  /** As the upstream writes it; '' until known. */
  id: string
  name: string
  signature: string | null
  readonly arguments: CallArguments
  waiting: string
  /** The call stands for the JSON reply: its arguments are shown as text. */
  isReply: boolean
  /** Its block has ended. */
  isClosed: boolean
}

export type Segment = SpokenSegment | CallSegment

export interface SegmentOptions {
  /** Id and name of a call as the client gets them. */
  readonly describeCall: (call: CallSegment) => { readonly id: string; readonly name: string }
  /** Gets each part of output that is given out. */
  readonly onOutput?: ((text: string) => void) | undefined
}

export class SegmentQueue {
  readonly #options: SegmentOptions
  /** Open segments are those from `#head` on; the others are dropped now and then. */
  #queue: Segment[] = []
  #head = 0
  #nextIndex = 0
  #openIndex: number | null = null
  #waitingCharacters = 0
  /** Characters given out so far. */
  characters = 0

  constructor(options: SegmentOptions) {
    this.#options = options
  }

  /** Text or reasoning that has arrived; '' opens nothing. */
  speak(kind: SpokenSegment['kind'], text: string): string {
    if (text === '') return ''
    const last = this.#length === 0 ? undefined : this.#queue.at(-1)
    if (last?.kind === kind) return this.#extend(last, text)
    const segment: SpokenSegment = { kind, waiting: '' }
    this.#add(segment)
    return this.#advance() + this.#extend(segment, text)
  }

  /** Whether what is spoken goes straight out: the one segment there is is of this kind and open. */
  isSpeaking(kind: SpokenSegment['kind']): boolean {
    const head = this.#first
    return this.#length === 1 && head?.kind === kind && head.waiting === '' && this.#openIndex !== null
  }

  /** As `speak` while `isSpeaking`, for text as it stands in JSON; `onOutput` is not told. */
  speakWritten(kind: SpokenSegment['kind'], text: string): string {
    this.characters += text.length
    return writtenDelta(kind, this.#openIndex ?? 0, text)
  }

  /** A call that has begun. */
  begin(call: CallSegment): string {
    this.#add(call)
    return this.#advance()
  }

  /** Arguments of a call. Those of a call whose block is closed already are lost: its arguments were complete. */
  extendCall(call: CallSegment, fragment: string): string {
    if (call.isClosed) return ''
    // Some upstreams begin with an empty object and send the arguments after it.
    if (call.arguments.text === '{}' && call.waiting === '{}' && fragment.startsWith('{')) this.#forget(call)
    call.arguments.push(fragment)
    return this.#extend(call, fragment) + this.#advance()
  }

  /** Gives out everything that waits; the last block stays open unless `close` says so. */
  flush({ close }: { close: boolean }): string {
    let output = ''
    while (this.#length > 1) output += this.#closeHead()
    const head = this.#first
    if (head === undefined) return output
    const isNothing = head.kind === 'call' && head.name === '' && head.arguments.text === ''
    return output + (close || isNothing ? this.#closeHead() : this.#stream(head, { force: true }))
  }

  get #first(): Segment | undefined {
    return this.#queue[this.#head]
  }

  get #length(): number {
    return this.#queue.length - this.#head
  }

  #add(segment: Segment): void {
    if (this.#length >= WAITING_SEGMENTS_MAX) throw failedStream('too much interleaved output')
    this.#queue.push(segment)
  }

  #drop(head: Segment): void {
    if (head.kind === 'call') head.isClosed = true
    this.#head++
    if (this.#head * 2 < this.#queue.length) return
    this.#queue = this.#queue.slice(this.#head)
    this.#head = 0
  }

  #forget(call: CallSegment): void {
    this.#waitingCharacters -= call.waiting.length
    call.arguments.clear()
    call.waiting = ''
  }

  #extend(segment: Segment, text: string): string {
    segment.waiting += text
    this.#waitingCharacters += text.length
    if (this.#waitingCharacters > WAITING_CHARACTERS_MAX) throw failedStream('too much interleaved output')
    return segment === this.#first ? this.#stream(segment, { force: false }) : ''
  }

  /** Closes the first segments for as long as they are over and something stands behind them. */
  #advance(): string {
    let output = ''
    while (this.#length > 1 && isOver(this.#first!)) output += this.#closeHead()
    const head = this.#first
    return head === undefined ? output : output + this.#stream(head, { force: false })
  }

  #closeHead(): string {
    const head = this.#first!
    if (head.kind === 'call' && head.name === '' && head.arguments.text === '') {
      this.#drop(head)
      return ''
    }
    const streamed = this.#stream(head, { force: true })
    // Clients parse the arguments of every call, so empty ones are written out.
    const empty = head.kind === 'call' && head.arguments.text.trim() === '' ? this.#give(head, '{}') : ''
    const stop = this.#openIndex === null ? '' : blockStop(this.#openIndex)
    this.#openIndex = null
    this.#drop(head)
    return streamed + empty + stop
  }

  /** What the head can give out now. `force`: nothing more will come that it could wait for. */
  #stream(head: Segment, { force }: { force: boolean }): string {
    if (head.kind === 'call') {
      if (head.name === '') {
        if (force) throw failedStream('a tool call without a name')
        return ''
      }
      // The id comes with the name or right behind it; arguments end the wait.
      if (head.id === '' && head.waiting === '' && !force) return ''
      if (head.waiting === '{}' && head.arguments.text === '{}' && !force) return this.#open(head)
    }
    const opened = this.#open(head)
    const waiting = head.waiting
    head.waiting = ''
    this.#waitingCharacters -= waiting.length
    return waiting === '' ? opened : opened + this.#give(head, waiting)
  }

  #open(head: Segment): string {
    if (this.#openIndex !== null) return ''
    this.#openIndex = this.#nextIndex
    this.#nextIndex += 1
    switch (head.kind) {
      case 'text':
        return blockStart(this.#openIndex, { type: 'text', text: '', citations: null })
      case 'thinking':
        return blockStart(this.#openIndex, { type: 'thinking', thinking: '', signature: '' })
      case 'call': {
        if (head.isReply) return blockStart(this.#openIndex, { type: 'text', text: '', citations: null })
        return blockStart(this.#openIndex, { type: 'tool_use', ...this.#options.describeCall(head), input: {} })
      }
    }
  }

  #give(head: Segment, text: string): string {
    this.characters += text.length
    this.#options.onOutput?.(text)
    const index = this.#openIndex ?? 0
    if (head.kind === 'thinking') return thinkingDelta(index, text)
    return head.kind === 'call' && !head.isReply ? inputDelta(index, text) : textDelta(index, text)
  }
}

/** Text is over as soon as something else arrives, a call when its arguments are complete. */
function isOver(segment: Segment): boolean {
  return segment.kind !== 'call' || segment.arguments.complete
}
