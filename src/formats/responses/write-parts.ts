/** The items of a responses stream. An open item writes its own events. */

import type { DeltaFrame } from '../../conversation/delta-frame.ts'
import type { Seal } from '../../conversation/envelope.ts'
import type { WriterFacts } from '../../conversation/format.ts'
import { GatheredText } from '../../conversation/gathered-text.ts'
import type { PartKind } from '../../conversation/reply.ts'
import type { ByteText } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { EventLog } from './write-events.ts'
import {
  begunReasoning,
  type ClientCall,
  callItem,
  envelopeOf,
  itemId,
  messageItem,
  reasoningItem,
  refusalContent,
  summaryPart,
  textContent,
} from './write-items.ts'
import { TEXT } from './written-texts.ts'

/** Where an item writes its events, and its position in the output. */
export interface ItemPlace {
  readonly events: EventLog
  readonly outputIndex: number
  readonly facts: WriterFacts
}

export interface OpenItem {
  readonly kind: PartKind
  /**
   * A frame that turns the item's next text into an event; null if that is impossible (see `ReplyWriter.frame`). Text written
   * with it must be passed to `recordFramed` too.
   */
  readonly frame: DeltaFrame | null
  delta(text: string): void
  recordFramed(text: ByteText): void
  startSection(): void
  /** Returns the finished item; the caller writes its last event. Null if the item never started, because it was empty. */
  close(seal: Seal | null): FinishedItem | null
}

/** A finished item. `texts`: JSON strings that replace the TEXT placeholders in `item`, in order. */
export interface FinishedItem {
  readonly item: JsonObject
  readonly texts: readonly ByteText[]
}

function addItem({ events, outputIndex }: ItemPlace, item: JsonObject): void {
  events.add('response.output_item.added', { output_index: outputIndex, item })
}

/** A message with a single part, either text or a refusal. Starts with the first piece of text. */
export class MessageItem implements OpenItem {
  readonly kind: 'text' | 'refusal'
  readonly #place: ItemPlace
  readonly #text = new GatheredText()
  #id = ''
  #frame: DeltaFrame | null = null

  constructor(kind: 'text' | 'refusal', place: ItemPlace) {
    this.kind = kind
    this.#place = place
  }

  get frame(): DeltaFrame | null {
    return this.#frame
  }

  delta(text: string): void {
    this.#place.events.delta(this.#begin(), text)
    this.#text.add(text)
  }

  recordFramed(text: ByteText): void {
    this.#text.addWritten(text)
  }

  startSection(): void {}

  close(): FinishedItem | null {
    if (this.#frame === null) return null
    const { events } = this.#place
    const texts = [this.#text.json]
    if (this.kind === 'text') events.add('response.output_text.done', { ...this.#at, text: TEXT, logprobs: [] }, texts)
    else events.add('response.refusal.done', { ...this.#at, refusal: TEXT }, texts)
    events.add('response.content_part.done', { ...this.#at, part: this.#content(TEXT) }, texts)
    return { item: messageItem(this.#id, this.#content(TEXT)), texts }
  }

  get #at(): JsonObject {
    return { item_id: this.#id, output_index: this.#place.outputIndex, content_index: 0 }
  }

  #begin(): DeltaFrame {
    if (this.#frame !== null) return this.#frame
    this.#id = itemId('message', this.#place.facts)
    addItem(this.#place, messageItem(this.#id, null))
    const { events } = this.#place
    events.add('response.content_part.added', { ...this.#at, part: this.#content('') })
    this.#frame =
      this.kind === 'text'
        ? events.frame('response.output_text.delta', this.#at, { logprobs: [] })
        : events.frame('response.refusal.delta', this.#at)
    return this.#frame
  }

  #content(text: string): JsonObject {
    return this.kind === 'text' ? textContent(text) : refusalContent(text)
  }
}

/**
 * Reasoning, written as summary parts because clients hide raw reasoning. The item starts with its first piece of text or, if
 * it has none, with the provider's encrypted reasoning.
 */
export class ReasoningItem implements OpenItem {
  readonly kind = 'reasoning'
  readonly #place: ItemPlace
  #text = new GatheredText()
  readonly #finishedParts: ByteText[] = []
  #id = ''
  /** Null if no part is open. */
  #frame: DeltaFrame | null = null

  constructor(place: ItemPlace) {
    this.#place = place
  }

  get frame(): DeltaFrame | null {
    return this.#frame
  }

  delta(text: string): void {
    this.#place.events.delta(this.#beginPart(), text)
    this.#text.add(text)
  }

  recordFramed(text: ByteText): void {
    this.#text.addWritten(text)
  }

  startSection(): void {
    if (this.#frame === null) return
    const { events } = this.#place
    const at = this.#at
    const text = this.#text.json
    this.#text = new GatheredText()
    events.add('response.reasoning_summary_text.done', { ...at, text: TEXT }, [text])
    events.add('response.reasoning_summary_part.done', { ...at, part: summaryPart(TEXT) }, [text])
    this.#finishedParts.push(text)
    this.#frame = null
  }

  close(seal: Seal | null): FinishedItem | null {
    this.startSection()
    const envelope = envelopeOf(seal, this.#place.facts)
    if (this.#finishedParts.length === 0 && envelope === null) return null
    this.#begin()
    const parts = this.#finishedParts.map(() => TEXT)
    return { item: reasoningItem(this.#id, parts, envelope), texts: this.#finishedParts }
  }

  get #at(): JsonObject {
    return { item_id: this.#id, output_index: this.#place.outputIndex, summary_index: this.#finishedParts.length }
  }

  #begin(): void {
    if (this.#id !== '') return
    this.#id = itemId('reasoning', this.#place.facts)
    addItem(this.#place, begunReasoning(this.#id))
  }

  #beginPart(): DeltaFrame {
    if (this.#frame !== null) return this.#frame
    this.#begin()
    const at = this.#at
    const { events } = this.#place
    events.add('response.reasoning_summary_part.added', { ...at, part: summaryPart('') })
    this.#frame = events.frame('response.reasoning_summary_text.delta', at)
    return this.#frame
  }
}

/**
 * A tool call. The arguments of a function are sent as they arrive. The input of other tools is sent at the end, because the
 * model writes it in another form (as a function's arguments).
 */
export class CallItem implements OpenItem {
  readonly kind = 'call'
  readonly #place: ItemPlace
  readonly #call: ClientCall
  readonly #id: string
  readonly #at: JsonObject
  /** Null if nothing is sent until the call is complete. */
  readonly frame: DeltaFrame | null
  readonly #arguments = new GatheredText()

  constructor(call: ClientCall, place: ItemPlace) {
    this.#place = place
    this.#call = call
    this.#id = itemId(call.kind, place.facts)
    this.#at = { item_id: this.#id, output_index: place.outputIndex }
    const { events } = place
    this.frame = call.kind === 'function' ? events.frame('response.function_call_arguments.delta', this.#at) : null
    addItem(place, callItem(this.#id, call, null))
  }

  delta(text: string): void {
    this.#arguments.add(text)
    if (this.frame !== null) this.#place.events.delta(this.frame, text)
  }

  recordFramed(text: ByteText): void {
    this.#arguments.addWritten(text)
  }

  startSection(): void {}

  close(): FinishedItem {
    if (this.frame !== null) return this.#closeFunction()
    const item = callItem(this.#id, this.#call, this.#arguments.text)
    if (typeof item.input === 'string') this.#tellInput(item.input)
    return { item, texts: [] }
  }

  #closeFunction(): FinishedItem {
    // Clients parse the arguments of every call, so empty ones become `{}`.
    if (this.#arguments.isEmpty) this.delta('{}')
    const texts = [this.#arguments.json]
    this.#place.events.add('response.function_call_arguments.done', { ...this.#at, arguments: TEXT }, texts)
    return { item: callItem(this.#id, this.#call, TEXT), texts }
  }

  #tellInput(input: string): void {
    const { events } = this.#place
    if (input !== '') events.delta(events.frame('response.custom_tool_call_input.delta', this.#at), input)
    events.add('response.custom_tool_call_input.done', { ...this.#at, input })
  }
}
