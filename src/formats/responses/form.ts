/** Forms: JSON that is written often is serialized once, with blanks for the values that differ. */

import { type ByteText, concat, encodeText, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'

/** Stands for a value that is filled in later. */
export const BLANK = '\u0000'

/** JSON with blanks, or text around such JSON. Everything else in it must be ASCII and our own. */
export class Form {
  readonly #pieces: readonly ByteText[]

  constructor(text: string) {
    this.#pieces = text.split(JSON.stringify(BLANK)).map(ofCharacters)
  }

  /** Returns the text with values, which are JSON, in its blanks. */
  fill(values: readonly ByteText[]): ByteText {
    return this.part(0, values)
  }

  /** Returns what follows the first `from` blanks, with values in the next blanks, up to the blank after those. */
  part(from: number, values: readonly ByteText[]): ByteText {
    let text = this.#pieces[from] as ByteText
    for (const value of values) text = concat(text, value, this.#pieces[++from])
    return text
  }
}

export function formOf(value: JsonObject): Form {
  return new Form(JSON.stringify(value))
}

export function jsonOf(value: unknown): ByteText {
  return encodeText(JSON.stringify(value))
}

/** JSON of a string that needs no escapes. */
export function quoted(text: string): ByteText {
  return ofCharacters(`"${text}"`)
}
