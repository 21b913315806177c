/** Events of a responses stream as text, numbered from 0 without a gap. */

import { ascii, type ByteText, characters, concat, NO_BYTES, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'
import { asciiJson } from '../../lib/json-text.ts'

/** Events of one kind that differ by their number and a text: the ASCII around these, written once. */
export interface DeltaFrame {
  readonly head: ByteText
  readonly middle: ByteText
  readonly tail: ByteText
}

type DeltaType =
  `response.${'output_text' | 'refusal' | 'reasoning_summary_text' | 'function_call_arguments' | 'custom_tool_call_input'}.delta`

/** `place`: what the event belongs to, item and indexes. `rest`: members behind the delta. */
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

  /** An event with a response whose JSON is there already. */
  addResponse(type: string, responseJson: string): void {
    this.#text += `event: ${type}\ndata: {"type":"${type}","sequence_number":${this.#next++},"response":${responseJson}}\n\n`
  }

  delta({ head, middle, tail }: DeltaFrame, text: string): void {
    this.#text += `${characters(head)}${this.#next++}${characters(middle)}${JSON.stringify(text)}${characters(tail)}`
  }

  /** A delta's event for text as it stands in JSON; it is not kept for `take`. */
  written({ head, middle, tail }: DeltaFrame, text: ByteText): ByteText {
    const number = ofCharacters(String(this.#next++))
    return concat(concat(head, number, middle), ascii('"'), text, ascii('"'), tail)
  }

  /** What was added since it was last asked. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}
