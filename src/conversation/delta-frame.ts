/** Writes the events of one part from a prebuilt frame, because they differ only in their text and their number. */

import { type ByteText, characters, concat, joinBytes, NO_BYTES, ofCharacters } from '../lib/byte-text.ts'

/** Numbers the events of a stream. */
export interface EventNumbers {
  next: number
}

/** The constant ASCII around the text, including its quotes. */
export interface FrameParts {
  readonly head: ByteText
  /** Between the event's number and its text; absent: the events have no number. */
  readonly numbered?: { readonly numbers: EventNumbers; readonly middle: ByteText }
  readonly tail: ByteText
}

export class DeltaFrame {
  readonly #parts: FrameParts
  readonly #between: ByteText

  constructor(parts: FrameParts) {
    this.#parts = parts
    this.#between = concat(parts.tail, parts.head)
  }

  /** An event with this text. */
  event(text: string): string {
    const { head, numbered, tail } = this.#parts
    const number = numbered === undefined ? '' : `${numbered.numbers.next++}${characters(numbered.middle)}`
    return `${characters(head)}${number}${JSON.stringify(text).slice(1, -1)}${characters(tail)}`
  }

  /** An event for each text, as written in JSON. */
  written(texts: readonly ByteText[]): ByteText {
    const { head, numbered, tail } = this.#parts
    if (numbered === undefined) return concat(head, joinBytes(texts, this.#between), tail)
    const { numbers, middle } = numbered
    let events = NO_BYTES
    for (const text of texts) {
      const before = events.length === 0 ? head : this.#between
      events = concat(events, before, ofCharacters(String(numbers.next++)), middle, text)
    }
    return concat(events, tail)
  }
}
