/** Writes the events of a responses stream, numbered consecutively from 0. */

import { DeltaFrame, type EventNumbers } from '../../conversation/delta-frame.ts'
import { ascii, type ByteText, concat, encodeText, NO_BYTES, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import { asciiJson } from '../../lib/json-text.ts'
import { membersWith } from './written-texts.ts'

type DeltaType =
  `response.${'output_text' | 'refusal' | 'reasoning_summary_text' | 'function_call_arguments' | 'custom_tool_call_input'}.delta`

export class EventLog {
  #events = NO_BYTES
  readonly #numbers: EventNumbers = { next: 0 }

  /** Adds an event. `texts` are JSON strings that replace the TEXT placeholders in the members, in order. */
  add(type: string, members: JsonObject, texts: readonly ByteText[] = []): void {
    this.#add(type, membersWith(members, texts))
  }

  /** Adds an `output_item.done` event for an item that is already serialized. */
  addDone(outputIndex: number, itemJson: ByteText): void {
    const before = ofCharacters(`"output_index":${outputIndex},"item":`)
    this.#add('response.output_item.done', concat(before, itemJson, ascii('}')))
  }

  /** Adds an event for a response that is already serialized. */
  addResponse(type: string, responseJson: ByteText): void {
    this.#add(type, concat(ascii('"response":'), responseJson, ascii('}')))
  }

  /**
   * Returns a frame for delta events. `place` has the fields that identify the item and its part; `rest` has the fields that
   * come after the text.
   */
  frame(type: DeltaType, place: JsonObject, rest: JsonObject = {}): DeltaFrame {
    const name = ascii(type)
    const members = asciiJson(place).slice(1, -1)
    const behind = asciiJson(rest).slice(1, -1)
    return new DeltaFrame({
      head: concat(ascii('event: '), name, ascii('\ndata: {"type":"'), name, ascii('","sequence_number":')),
      numbered: { numbers: this.#numbers, middle: concat(ascii(','), members, ascii(',"delta":"')) },
      tail: concat(ascii('"'), behind.length === 0 ? NO_BYTES : ascii(','), behind, ascii('}\n\n')),
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

  /** `members` is the JSON of the event's other members, without the opening brace. */
  #add(type: string, members: ByteText): void {
    const head = `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#numbers.next++},`
    this.#events = concat(this.#events, ofCharacters(head), members, ascii('\n\n'))
  }
}
