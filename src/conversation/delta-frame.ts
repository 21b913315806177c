/** Writes the delta events of a content part from a prebuilt frame: they differ only in their text and sequence number. */

import { type ByteText, characters, concat, joinBytes, NO_BYTES, ofCharacters } from '../lib/byte-text.ts'

/** Counter for the sequence numbers of a stream's events. */
export interface EventNumbers {
  next: number
}

/** The constant ASCII around an event's text, including the text's quotes. */
export interface FrameParts {
  readonly head: ByteText
  /** Set if events have sequence numbers. `middle` goes between the number and the text. */
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

  event(text: string): string {
    const { head, numbered, tail } = this.#parts
    const number = numbered === undefined ? '' : `${numbered.numbers.next++}${characters(numbered.middle)}`
    return `${characters(head)}${number}${JSON.stringify(text).slice(1, -1)}${characters(tail)}`
  }

  /** Returns an event for each text. Texts are escaped JSON string content, without quotes. */
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
