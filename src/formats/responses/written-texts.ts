/** JSON of values with long texts. Several events repeat each text, but it is serialized once. */

import { type ByteText, encodeText, joinBytes, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'

/** Placeholder for a text that is already serialized. In a value, it must come before all strings from outside. */
export const TEXT = '\u0000text'

const WRITTEN = ofCharacters(JSON.stringify(TEXT))

/** The value as JSON, with each TEXT replaced by the next of the texts, which are JSON strings. */
export function jsonWith(value: JsonObject, texts: readonly ByteText[]): ByteText {
  let rest = encodeText(JSON.stringify(value))
  const pieces: ByteText[] = []
  for (const text of texts) {
    const at = rest.indexOf(WRITTEN)
    pieces.push(rest.slice(0, at), text)
    rest = rest.slice(at + WRITTEN.length)
  }
  return pieces.length === 0 ? rest : joinBytes([...pieces, rest])
}
