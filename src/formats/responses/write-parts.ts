/** The items of a responses stream. An open item writes its own events. */

import type { DeltaFrame } from '../../conversation/delta-frame.ts'
import type { Seal } from '../../conversation/envelope.ts'
import type { WriterFacts } from '../../conversation/format.ts'
import { GatheredText } from '../../conversation/gathered-text.ts'
import type { PartKind } from '../../conversation/reply.ts'
import { ascii, type ByteText, concat, joinBytes, ofCharacters, replaceOnce } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { WrittenItem } from './carrier.ts'
import { BLANK, type Form, formOf, jsonOf, quoted } from './form.ts'
import { type EventLog, eventForm, ITEM_ADDED } from './write-events.ts'
import {
  type ClientCall,
  callItem,
  type EndStatus,
  envelopeOf,
  itemId,
  messageItem,
  REASONING_ADDED,
  reasoningItem,
  refusalContent,
  summaryPart,
  textContent,
} from './write-items.ts'

/** Where an item writes its events, and its position in the output. */
export interface ItemPlace {
  readonly events: EventLog
  readonly outputIndex: number
  readonly facts: WriterFacts
}

export interface OpenItem {
  readonly kind: PartKind
  /** The text so far of the item, or of its current section. */
  readonly text: GatheredText
  /** Turns the item's next text into an event; null if that is impossible (see `ReplyWriter.frame`). */
  readonly frame: DeltaFrame | null
  /** Writes the events before the next text. Returns the frame; null if nothing is sent until the item is complete. */
  begin(): DeltaFrame | null
  startSection(): void
  /** Returns the finished item; the caller writes its last event. Null if the item never started, because it was empty. */
  close(seal: Seal | null, status: EndStatus): WrittenItem | null
}

/** Members of events that identify the item. */
const ITEM = { item_id: BLANK, output_index: BLANK }
/** The values of `ITEM`. */
type ItemAt = readonly [id: ByteText, index: ByteText]

/** Begins an item, whose only blank is its id. */
function addItem({ events, outputIndex, facts }: ItemPlace, kind: 'message' | 'reasoning', item: Form): ItemAt {
  const id = quoted(itemId(kind, facts))
  const index = ofCharacters(String(outputIndex))
  events.add(ITEM_ADDED, [index, item.fill([id])])
  return [id, index]
}

const MESSAGE = { ...ITEM, content_index: 0 }
const MESSAGE_ADDED = formOf(messageItem(BLANK, null))
const MESSAGES = {
  text: {
    ...contentForms(textContent),
    delta: eventForm('response.output_text.delta', { ...MESSAGE, delta: BLANK, logprobs: [] }),
    done: eventForm('response.output_text.done', { ...MESSAGE, text: BLANK, logprobs: [] }),
  },
  refusal: {
    ...contentForms(refusalContent),
    delta: eventForm('response.refusal.delta', { ...MESSAGE, delta: BLANK }),
    done: eventForm('response.refusal.done', { ...MESSAGE, refusal: BLANK }),
  },
}

function contentForms(content: (text: string) => JsonObject) {
  return {
    partAdded: eventForm('response.content_part.added', { ...MESSAGE, part: content('') }),
    partDone: eventForm('response.content_part.done', { ...MESSAGE, part: content(BLANK) }),
    item: formOf({ ...messageItem(BLANK, content(BLANK)), status: BLANK }),
  }
}

/** A message with a single part, either text or a refusal. Starts with the first piece of text. */
export class MessageItem implements OpenItem {
  readonly kind: 'text' | 'refusal'
  readonly text = new GatheredText()
  frame: DeltaFrame | null = null
  readonly #place: ItemPlace
  #at: ItemAt | null = null

  constructor(kind: 'text' | 'refusal', place: ItemPlace) {
    this.kind = kind
    this.#place = place
  }

  begin(): DeltaFrame {
    const { events } = this.#place
    const { partAdded, delta } = MESSAGES[this.kind]
    this.#at = addItem(this.#place, 'message', MESSAGE_ADDED)
    events.add(partAdded, this.#at)
    this.frame = events.frame(delta, this.#at)
    return this.frame
  }

  startSection(): void {}

  close(_seal: Seal | null, status: EndStatus): WrittenItem | null {
    if (this.#at === null) return null
    const { events } = this.#place
    const { done, partDone, item } = MESSAGES[this.kind]
    const [id, index] = this.#at
    const text = this.text.json
    events.add(done, [id, index, text])
    events.add(partDone, [id, index, text])
    return { type: 'message', json: item.fill([id, quoted(status), text]) }
  }
}

const SUMMARY = { ...ITEM, summary_index: BLANK }
const SUMMARY_ADDED = eventForm('response.reasoning_summary_part.added', { ...SUMMARY, part: summaryPart('') })
const SUMMARY_DELTA = eventForm('response.reasoning_summary_text.delta', { ...SUMMARY, delta: BLANK })
const SUMMARY_TEXT_DONE = eventForm('response.reasoning_summary_text.done', { ...SUMMARY, text: BLANK })
const SUMMARY_DONE = eventForm('response.reasoning_summary_part.done', { ...SUMMARY, part: summaryPart(BLANK) })
const SUMMARY_PART = formOf(summaryPart(BLANK))
/** Finished reasoning without and with the provider's encrypted copy. */
const REASONING = formOf({ ...reasoningItem(BLANK, [], null), status: BLANK, summary: BLANK })
const SEALED_REASONING = formOf({ ...reasoningItem(BLANK, [], BLANK), status: BLANK, summary: BLANK })

/**
 * Reasoning, written as summary parts because clients hide raw reasoning. The item starts with its first piece of text or, if
 * it has none, with the provider's encrypted reasoning.
 */
export class ReasoningItem implements OpenItem {
  readonly kind = 'reasoning'
  text = new GatheredText()
  /** Null if no part is open. */
  frame: DeltaFrame | null = null
  readonly #place: ItemPlace
  readonly #finishedParts: ByteText[] = []
  #at: ItemAt | null = null

  constructor(place: ItemPlace) {
    this.#place = place
  }

  begin(): DeltaFrame {
    const { events } = this.#place
    const at = this.#partAt
    events.add(SUMMARY_ADDED, at)
    this.frame = events.frame(SUMMARY_DELTA, at)
    return this.frame
  }

  startSection(): void {
    if (this.frame === null) return
    const { events } = this.#place
    const text = this.text.json
    const values = [...this.#partAt, text]
    events.add(SUMMARY_TEXT_DONE, values)
    events.add(SUMMARY_DONE, values)
    this.#finishedParts.push(SUMMARY_PART.fill([text]))
    this.text = new GatheredText()
    this.frame = null
  }

  close(seal: Seal | null, status: EndStatus): WrittenItem | null {
    this.startSection()
    const envelope = envelopeOf(seal, this.#place.facts)
    if (this.#finishedParts.length === 0 && envelope === null) return null
    const [id] = this.#itemAt
    const summary = concat(ascii('['), joinBytes(this.#finishedParts, ','), ascii(']'))
    const values = [id, quoted(status), summary]
    const json = envelope === null ? REASONING.fill(values) : SEALED_REASONING.fill([...values, quoted(envelope)])
    return { type: 'reasoning', json }
  }

  /** Begins the item if it has not begun. */
  get #itemAt(): ItemAt {
    this.#at ??= addItem(this.#place, 'reasoning', REASONING_ADDED)
    return this.#at
  }

  get #partAt(): ByteText[] {
    return [...this.#itemAt, ofCharacters(String(this.#finishedParts.length))]
  }
}

const ARGUMENTS_DELTA = eventForm('response.function_call_arguments.delta', { ...ITEM, delta: BLANK })
const ARGUMENTS_DONE = eventForm('response.function_call_arguments.done', { ...ITEM, arguments: BLANK })
const INPUT_DELTA = eventForm('response.custom_tool_call_input.delta', { ...ITEM, delta: BLANK })
const INPUT_DONE = eventForm('response.custom_tool_call_input.done', { ...ITEM, input: BLANK })

/**
 * A tool call. The arguments of a function are sent as they arrive. The input of other tools is sent at the end, because the
 * model writes it in another form (as a function's arguments).
 */
export class CallItem implements OpenItem {
  readonly kind = 'call'
  readonly text = new GatheredText()
  readonly frame: DeltaFrame | null
  readonly #place: ItemPlace
  readonly #call: ClientCall
  readonly #id: string
  readonly #at: ItemAt

  constructor(call: ClientCall, place: ItemPlace) {
    const { events, outputIndex, facts } = place
    const index = ofCharacters(String(outputIndex))
    this.#place = place
    this.#call = call
    this.#id = itemId(call.kind, facts)
    this.#at = [quoted(this.#id), index]
    this.frame = call.kind === 'function' ? events.frame(ARGUMENTS_DELTA, this.#at) : null
    events.add(ITEM_ADDED, [index, jsonOf(callItem(this.#id, call, null))])
  }

  begin(): DeltaFrame | null {
    return this.frame
  }

  startSection(): void {}

  close(_seal: Seal | null, status: EndStatus): WrittenItem {
    if (this.frame !== null) return this.#closeFunction(this.frame, status)
    const item: JsonObject = { ...callItem(this.#id, this.#call, this.text.text), status }
    if (typeof item.input === 'string') this.#tellInput(item.input)
    return { type: item.type, json: jsonOf(item) }
  }

  #closeFunction(frame: DeltaFrame, status: EndStatus): WrittenItem {
    const { events } = this.#place
    // Clients parse the arguments of every call, so empty ones become `{}`.
    if (this.text.isEmpty) {
      events.delta(frame, '{}')
      this.text.add('{}')
    }
    const written = this.text.json
    events.add(ARGUMENTS_DONE, [...this.#at, written])
    const item = jsonOf({ ...callItem(this.#id, this.#call, ''), status })
    // Only ids and constants precede the arguments.
    const json = replaceOnce(item, ascii('"arguments":""'), concat(ascii('"arguments":'), written))
    return { type: 'function_call', json }
  }

  #tellInput(input: string): void {
    const { events } = this.#place
    if (input !== '') events.delta(events.frame(INPUT_DELTA, this.#at), input)
    events.add(INPUT_DONE, [...this.#at, jsonOf(input)])
  }
}
