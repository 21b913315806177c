/** Events of a responses stream as text, numbered from 0 without a gap. */

import type { JsonObject } from '../../lib/json.ts'

/** Events of one kind that differ by their number and a text: what stands around these, written once. */
export interface DeltaFrame {
  readonly head: string
  readonly middle: string
  readonly tail: string
}

/** `place`: what the event belongs to, item and indexes. `rest`: members behind the delta. */
export function deltaFrame(type: string, place: JsonObject, rest: JsonObject = {}): DeltaFrame {
  const members = JSON.stringify(place).slice(1, -1)
  const behind = JSON.stringify(rest).slice(1, -1)
  return {
    head: `event: ${type}\ndata: {"type":"${type}","sequence_number":`,
    middle: `,${members},"delta":`,
    tail: `${behind === '' ? '' : `,${behind}`}}\n\n`,
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
    this.#text += `${head}${this.#next++}${middle}${JSON.stringify(text)}${tail}`
  }

  /** A delta's event for text as it stands in JSON; it is not kept for `take`. */
  written({ head, middle, tail }: DeltaFrame, text: string): string {
    return `${head}${this.#next++}${middle}"${text}"${tail}`
  }

  /** What was added since it was last asked. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}
