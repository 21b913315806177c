/**
 * Puts the parts of a reply in order even if an upstream interleaves them. Only the first segment of the queue streams; text for
 * the others is held back.
 */

import type { ByteText } from '../lib/byte-text.ts'
import { CallArguments } from './call-arguments.ts'
import type { Seal } from './envelope.ts'
import { type OutputMember, TemplateLearner } from './event-template.ts'
import type { ReplySink, Skimmable } from './reply.ts'
import { failedStream } from './stream-event.ts'

/** Limits on the characters and segments held back: far more than any model writes in one reply. */
const WAITING_CHARACTERS_MAX = 16_000_000
const WAITING_SEGMENTS_MAX = 100_000

export interface SpokenSegment {
  readonly kind: 'text' | 'refusal' | 'reasoning'
  waiting: string
  /** Whether the segment is finished, so that further text of the same kind starts a new part. */
  isOver: boolean
  /** The provider's signature or encrypted copy of finished reasoning; null if it sent none. */
  seal: Seal | null
}

export interface CallSegment {
  readonly kind: 'call'
  /** The upstream's id for the call; '' until it is known. */
  id: string
  name: string
  signature: string | null
  readonly arguments: CallArguments
  waiting: string
  isClosed: boolean
}

export type Segment = SpokenSegment | CallSegment

export function callSegment({ id, name }: { readonly id: string; readonly name: string }): CallSegment {
  return { kind: 'call', id, name, signature: null, arguments: new CallArguments(), waiting: '', isClosed: false }
}

/** What an event extends: text, reasoning, or a call's arguments. */
type Extended = 'text' | 'reasoning' | CallSegment

export class Sequencer {
  readonly #sink: ReplySink
  readonly #isReplay: boolean
  /** Pending segments start at `#head`. The segments before it are finished, and removed from time to time. */
  #queue: Segment[] = []
  #head = 0
  #isOpen = false
  #waitingCharacters = 0
  readonly #learner = new TemplateLearner()
  /** What an event extends if it matches the learned template. */
  #extended: Extended = 'text'

  /** `isReplay`: each segment is complete before the next begins, so a call's arguments need not be scanned for their end. */
  constructor(sink: ReplySink, { isReplay }: { readonly isReplay: boolean }) {
    this.#sink = sink
    this.#isReplay = isReplay
  }

  /** Adds text or reasoning. Ignores empty strings. */
  speak(kind: SpokenSegment['kind'], text: string): void {
    if (text === '') return
    const last = this.#length === 0 ? undefined : this.#queue.at(-1)
    if (last !== undefined && last.kind === kind && !last.isOver) {
      this.#extend(last, text)
      return
    }
    const segment: SpokenSegment = { kind, waiting: '', isOver: false, seal: null }
    this.#add(segment)
    this.#advance()
    this.#extend(segment, text)
  }

  /** Closes the open reasoning. Empty reasoning is emitted only if it has a seal. */
  endReasoning(seal: Seal | null): void {
    const last = this.#length === 0 ? undefined : this.#queue.at(-1)
    if (last?.kind === 'reasoning' && !last.isOver) {
      last.isOver = true
      last.seal = seal
    } else if (seal !== null) this.#add({ kind: 'reasoning', waiting: '', isOver: true, seal })
    this.#advance()
  }

  /**
   * Learns a template from an event, so that similar events need no parsing (see `event-template.ts`). The event's only output
   * must be the value of `member`, a non-empty string, which was added to `extended`.
   */
  learn(event: ByteText, member: OutputMember, extended: Extended): void {
    this.#extended = extended
    this.#learner.learn(event, member)
  }

  /**
   * How to read the next events without parsing them, by comparing them with the template. Null unless text that they add can
   * be emitted immediately: their segment must be open, be the only one pending and have no text waiting.
   */
  get skimmable(): Skimmable | null {
    const learner = this.#learner
    const extended = this.#extended
    const head = this.#first
    if (learner.current === null || this.#length !== 1 || !this.#isOpen) return null
    if (head === undefined || head.waiting !== '') return null
    if (typeof extended === 'string') return head.kind === extended ? { kind: extended, learner } : null
    if (head !== extended || !extended.arguments.hasBegun) return null
    return { kind: 'call', learner, onSkimmed: written => extended.arguments.pushWritten(written) }
  }

  begin(call: CallSegment): void {
    this.#add(call)
    this.#advance()
  }

  /** Adds to a call's arguments. Fragments that arrive after the arguments were complete and the call was closed are ignored. */
  extendCall(call: CallSegment, fragment: string): void {
    if (call.isClosed) return
    // Some upstreams start with an empty object and then send the real arguments.
    if (call.waiting === '{}' && call.arguments.text === '{}' && fragment.startsWith('{')) this.#forget(call)
    call.arguments.push(fragment)
    this.#extend(call, fragment)
    if (this.#length > 1) this.#advance()
  }

  /** Whether any call is pending whose arguments are incomplete. */
  get hasOpenCall(): boolean {
    return this.#queue.slice(this.#head).some(segment => segment.kind === 'call' && !segment.arguments.complete)
  }

  /** Emits all text held back. The last part stays open unless `close` is set. */
  flush({ close }: { close: boolean }): void {
    while (this.#length > 1) this.#closeHead()
    const head = this.#first
    if (head === undefined) return
    const isNothing = head.kind === 'call' && head.name === '' && head.arguments.text === ''
    if (close || isNothing) this.#closeHead()
    else this.#stream(head, { force: true })
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

  #extend(segment: Segment, text: string): void {
    if (segment === this.#first && this.#isOpen && segment.waiting === '' && text !== '{}') {
      if (text !== '') this.#sink.delta(text)
      return
    }
    segment.waiting += text
    this.#waitingCharacters += text.length
    if (this.#waitingCharacters > WAITING_CHARACTERS_MAX) throw failedStream('too much interleaved output')
    if (segment === this.#first) this.#stream(segment, { force: false })
  }

  /** Closes finished segments at the front of the queue while others follow, then emits the waiting text of the next one. */
  #advance(): void {
    while (this.#length > 1 && (this.#isReplay || isOver(this.#first!))) this.#closeHead()
    const head = this.#first
    if (head === undefined) return
    if (head.kind === 'reasoning' && head.isOver) this.#closeHead()
    else this.#stream(head, { force: false })
  }

  #closeHead(): void {
    const head = this.#first!
    if (head.kind === 'call' && head.name === '' && head.arguments.text === '') {
      this.#drop(head)
      return
    }
    this.#stream(head, { force: true })
    // Clients parse the arguments of every call, so empty ones become `{}`.
    if (head.kind === 'call' && head.arguments.text.trim() === '') this.#sink.delta('{}')
    if (this.#isOpen) this.#sink.close(head.kind === 'call' ? null : head.seal)
    this.#isOpen = false
    this.#drop(head)
  }

  /** Emits the waiting text of the first segment. `force`: do not wait for a call's id or name. */
  #stream(head: Segment, { force }: { force: boolean }): void {
    if (head.kind === 'call') {
      if (head.name === '') {
        if (force) throw failedStream('a tool call without a name')
        return
      }
      // The id comes with the name or right after it. Once arguments arrive, stop waiting for the id.
      if (head.id === '' && head.waiting === '' && !force) return
      if (head.waiting === '{}' && head.arguments.text === '{}' && !force) {
        this.#open(head)
        return
      }
    }
    this.#open(head)
    const { waiting } = head
    head.waiting = ''
    this.#waitingCharacters -= waiting.length
    if (waiting !== '') this.#sink.delta(waiting)
  }

  #open(head: Segment): void {
    if (this.#isOpen) return
    this.#isOpen = true
    if (head.kind !== 'call') this.#sink.open({ kind: head.kind })
    else this.#sink.open({ kind: 'call', id: head.id, name: head.name, signature: head.signature })
  }
}

/** Whether a segment is finished, given that others follow it. A call also needs complete arguments. */
function isOver(segment: Segment): boolean {
  return segment.kind !== 'call' || segment.arguments.complete
}
