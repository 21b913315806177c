/** Writes the events of a responses stream as text, numbered consecutively from 0. */

import { ascii, type ByteText, characters, concat, NO_BYTES, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import { asciiJson } from '../../lib/json-text.ts'

/** The constant ASCII of events that only differ in their number and text, serialized once. */
export interface DeltaFrame {
  readonly head: ByteText
  readonly middle: ByteText
  readonly tail: ByteText
}

type DeltaType =
  `response.${'output_text' | 'refusal' | 'reasoning_summary_text' | 'function_call_arguments' | 'custom_tool_call_input'}.delta`

/** `place`: item and indexes that the event belongs to. `rest`: members after the delta. */
export function deltaFrame(type: DeltaType, place: JsonObject, rest: JsonObject = {}): DeltaFrame {
  const name = ascii(type)
  const members = asciiJson(place).slice(1, -1)
  const behind = asciiJson(rest).slice(1, -1)
  return {
    head: concat(ascii('event: '), name, ascii('\ndata: {"type":"'), name, ascii('","sequence_number":')),
    middle: concat(ascii(','), members, ascii(',"delta":')),
    tail: concat(behind.length === 0 ? NO_BYTES : ascii(','), behind, ascii('}\n\n')),
  }
}

export class EventLog {
  #text = ''
  #next = 0

  add(type: string, members: JsonObject): void {
    const rest = JSON.stringify(members).slice(1)
    this.#text += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#next++},${rest}\n\n`
  }

  /** Adds an event with a response that is already serialized. */
  addResponse(type: string, responseJson: string): void {
    this.#text += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#next++},"response":${responseJson}}\n\n`
  }

  delta({ head, middle, tail }: DeltaFrame, text: string): void {
    this.#text += `${characters(head)}${this.#next++}${characters(middle)}${JSON.stringify(text)}${characters(tail)}`
  }

  /** Returns a delta's event for text as written in JSON, without adding it to the log. */
  written({ head, middle, tail }: DeltaFrame, text: ByteText): ByteText {
    const number = ofCharacters(String(this.#next++))
    return concat(concat(head, number, middle), ascii('"'), text, ascii('"'), tail)
  }

  /** Returns the text added since the last call. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}
