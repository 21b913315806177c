/** Writes the events of a responses stream as text, numbered consecutively from 0. */

import { DeltaFrame, type EventNumbers } from '../../conversation/delta-frame.ts'
import { ascii, concat, NO_BYTES } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import { asciiJson } from '../../lib/json-text.ts'

type DeltaType =
  `response.${'output_text' | 'refusal' | 'reasoning_summary_text' | 'function_call_arguments' | 'custom_tool_call_input'}.delta`

export class EventLog {
  #text = ''
  readonly #numbers: EventNumbers = { next: 0 }

  add(type: string, members: JsonObject): void {
    const rest = JSON.stringify(members).slice(1)
    this.#text += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#numbers.next++},${rest}\n\n`
  }

  /** Adds the event of a finished item that is already serialized. */
  addDone(outputIndex: number, itemJson: string): void {
    const type = 'response.output_item.done'
    this.#text += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#numbers.next++},"output_index":${outputIndex},"item":${itemJson}}\n\n`
  }

  /** Adds an event with a response that is already serialized. */
  addResponse(type: string, responseJson: string): void {
    this.#text += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#numbers.next++},"response":${responseJson}}\n\n`
  }

  /** Events with pieces of text. `place`: item and indexes that they belong to. `rest`: members after the piece. */
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
    this.#text += frame.event(text)
  }

  /** Returns the text added since the last call. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}
