/** Writes the events of a responses stream, numbered consecutively from 0. */

import { DeltaFrame, type EventNumbers } from '../../conversation/delta-frame.ts'
import { ascii, type ByteText, concat, encodeText, NO_BYTES, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import { BLANK, Form } from './form.ts'

/** Returns a form for events of this type. Its first blank is the event's number. */
export function eventForm(type: string, members: JsonObject): Form {
  return new Form(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: BLANK, ...members })}\n\n`)
}

export const ITEM_ADDED = eventForm('response.output_item.added', { output_index: BLANK, item: BLANK })
export const ITEM_DONE = eventForm('response.output_item.done', { output_index: BLANK, item: BLANK })

export class EventLog {
  #events = NO_BYTES
  readonly #numbers: EventNumbers = { next: 0 }

  /** Adds an event with values, which are JSON, in the blanks after its number. */
  add(event: Form, values: readonly ByteText[]): void {
    const number = ofCharacters(String(this.#numbers.next++))
    this.#events = concat(this.#events, event.part(0, []), number, event.part(1, values))
  }

  /** Adds an event for a response that is already serialized. */
  addResponse(type: string, json: ByteText): void {
    const head = `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#numbers.next++},"response":`
    this.#events = concat(this.#events, ofCharacters(head), json, ascii('}\n\n'))
  }

  /** Returns a frame for delta events, whose last blank is the text. `place` has the values of the blanks before it. */
  frame(event: Form, place: readonly ByteText[]): DeltaFrame {
    return new DeltaFrame({
      head: event.part(0, []),
      numbered: { numbers: this.#numbers, middle: concat(event.part(1, place), ascii('"')) },
      tail: concat(ascii('"'), event.part(place.length + 2, [])),
    })
  }

  delta(frame: DeltaFrame, text: string): void {
    this.#events = concat(this.#events, encodeText(frame.event(text)))
  }

  /** Returns the events added since the last call. */
  take(): ByteText {
    const events = this.#events
    this.#events = NO_BYTES
    return events
  }
}
