/** Writes a reply in the responses format, streamed or not. */

import type { DeltaFrame } from '../../conversation/delta-frame.ts'
import type { Seal } from '../../conversation/envelope.ts'
import type { WriterFacts } from '../../conversation/format.ts'
import type { FoldedPart, FoldedReply, PartKind, PartStart, ReplyWriter, StopReason } from '../../conversation/reply.ts'
import type { TokenUsage } from '../../conversation/usage.ts'
import type { GatewayError } from '../../errors.ts'
import { type ByteText, decodeText, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import { carrierIdOf, ownIdOf, type WrittenItem } from './carrier.ts'
import type { ResponsesEcho } from './echo.ts'
import { failureCodeOf } from './failure.ts'
import { BLANK, formOf, quoted } from './form.ts'
import { EventLog, ITEM_ADDED, ITEM_DONE } from './write-events.ts'
import {
  callItem,
  type EndStatus,
  envelopeOf,
  itemId,
  messageItem,
  REASONING_ADDED,
  ReplyCalls,
  reasoningItem,
  refusalContent,
  textContent,
} from './write-items.ts'
import { CallItem, MessageItem, type OpenItem, ReasoningItem } from './write-parts.ts'
import { endState, failedState, ResponseObject, type ResponseState } from './write-response.ts'

/** The empty item whose id carries the others. */
const CARRIER = formOf(reasoningItem(BLANK, [], null))

export class ResponsesWriter implements ReplyWriter {
  readonly #events = new EventLog()
  readonly #response: ResponseObject
  readonly #calls: ReplyCalls
  readonly #echo: ResponsesEcho
  readonly #facts: WriterFacts
  readonly #items: WrittenItem[] = []
  #open: OpenItem | null = null
  /**
   * The item of the part that was closed last. Its final events are written when the next part opens or the reply ends: only
   * then is it known whether the item was truncated.
   */
  #over: { readonly item: OpenItem; readonly seal: Seal | null } | null = null
  #started = false

  constructor(echo: ResponsesEcho, facts: WriterFacts) {
    this.#echo = echo
    this.#facts = facts
    this.#response = new ResponseObject(echo, facts)
    this.#calls = new ReplyCalls(echo, facts)
  }

  start(): void {
    if (this.#started) return
    this.#started = true
    const begun = this.#response.begun()
    this.#events.addResponse('response.created', begun)
    this.#events.addResponse('response.in_progress', begun)
  }

  open(part: PartStart): void {
    this.#finish('completed')
    this.#open = this.#itemOf(part)
  }

  delta(text: string): void {
    const item = this.#open
    if (item === null) return
    const frame = item.frame ?? item.begin()
    if (frame !== null) this.#events.delta(frame, text)
    item.text.add(text)
  }

  startSection(): void {
    this.#open?.startSection()
  }

  close(seal: Seal | null = null): void {
    if (this.#open !== null) this.#over = { item: this.#open, seal }
    this.#open = null
  }

  take(): ByteText {
    return this.#events.take()
  }

  frame(kind: PartKind): DeltaFrame | null {
    return this.#open?.kind === kind ? this.#open.frame : null
  }

  recordFramed(text: ByteText): void {
    this.#open?.text.addWritten(text)
  }

  end(stopReason: StopReason, usage: TokenUsage): ByteText {
    const state = endState(stopReason, usage, this.#facts.clock())
    this.#finish(lastStatus(state))
    this.#carryItems()
    this.#events.addResponse(`response.${state.status}`, this.#response.ended(state, this.#items))
    return this.#events.take()
  }

  completeOutput(): void {}

  /**
   * Returns the events that end a failed stream. If the stream has not begun, they include the events that start a response,
   * because clients require those.
   */
  failureEvent(error: GatewayError): string {
    this.start()
    this.#finish('completed')
    const state = failedState(failureCodeOf(error), error.message)
    this.#events.addResponse('response.failed', this.#response.ended(state, this.#items))
    return decodeText(this.#events.take())
  }

  #finish(status: EndStatus): void {
    const done = this.#over?.item.close(this.#over.seal, status) ?? null
    this.#over = null
    if (done !== null) this.#addDone(done)
  }

  #itemOf(part: PartStart): OpenItem {
    const place = { events: this.#events, outputIndex: this.#items.length, facts: this.#facts }
    switch (part.kind) {
      case 'text':
      case 'refusal':
        return new MessageItem(part.kind, place)
      case 'reasoning':
        return new ReasoningItem(place)
      case 'call':
        return new CallItem(this.#calls.describe(part), place)
    }
  }

  #carryItems(): void {
    if (!this.#echo.refersToItems) return
    const id = carrierIdOf(this.#items, this.#facts.wrapJson)
    if (id === null) return
    // This id carries the items of the whole reply, so it is long, and several events repeat it.
    const written = quoted(id)
    this.#events.add(ITEM_ADDED, [this.#nextIndex, REASONING_ADDED.fill([written])])
    this.#addDone({ type: 'reasoning', json: CARRIER.fill([written]) })
  }

  #addDone(item: WrittenItem): void {
    this.#events.add(ITEM_DONE, [this.#nextIndex, item.json])
    this.#items.push(item)
  }

  get #nextIndex(): ByteText {
    return ofCharacters(String(this.#items.length))
  }
}

export function writeReply(reply: FoldedReply, echo: ResponsesEcho, facts: WriterFacts): JsonObject {
  const response = new ResponseObject(echo, facts)
  const calls = new ReplyCalls(echo, facts)
  const output = reply.parts.map(part => wholeItem(part, calls, facts)).filter(item => item !== null)
  const state = endState(reply.stopReason, reply.usage, facts.clock())
  const last = output.pop()
  if (last !== undefined) output.push({ ...last, status: lastStatus(state) })
  return response.whole(
    state,
    echo.refersToItems ? output.map(item => ({ ...item, id: ownIdOf(item, facts.wrapJson) })) : output,
  )
}

/** Returns the last item's status. If the reply was truncated, the last item was cut off. */
function lastStatus({ status }: ResponseState): EndStatus {
  return status === 'incomplete' ? status : 'completed'
}

/** Returns the item for a part of a non-streamed reply; null if the part is empty. */
function wholeItem(part: FoldedPart, calls: ReplyCalls, facts: WriterFacts): JsonObject | null {
  switch (part.kind) {
    case 'text':
    case 'refusal': {
      const content = part.kind === 'text' ? textContent(part.text) : refusalContent(part.text)
      return part.text === '' ? null : messageItem(itemId('message', facts), content)
    }
    case 'reasoning': {
      const texts = part.texts.filter(text => text !== '')
      const envelope = envelopeOf(part.seal, facts)
      return texts.length === 0 && envelope === null ? null : reasoningItem(itemId('reasoning', facts), texts, envelope)
    }
    case 'call': {
      const call = calls.describe(part)
      return callItem(itemId(call.kind, facts), call, part.arguments === '' ? '{}' : part.arguments)
    }
  }
}
