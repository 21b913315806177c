/** Serializes values that contain long texts. Several events repeat each text, but it is serialized only once. */

import { ascii, type ByteText, concat, encodeText, NO_BYTES, ofCharacters } from '../../lib/byte-text.ts'
import type { JsonObject } from '../../lib/json.ts'

/**
 * Placeholder for a text that is already serialized. In each object, it must precede every string of a client or model: such a
 * string may contain the same characters, and the first match is replaced.
 */
export const TEXT = '\u0000text'

const WRITTEN = ofCharacters(JSON.stringify(TEXT))

/** Returns the value as JSON, with each TEXT replaced by the next of `texts`, which are JSON strings. */
export function jsonWith(value: JsonObject, texts: readonly ByteText[]): ByteText {
  return concat(ascii('{'), membersWith(value, texts))
}

/** As `jsonWith`, without the opening brace. */
export function membersWith(value: JsonObject, texts: readonly ByteText[]): ByteText {
  let rest = encodeText(JSON.stringify(value)).slice(1)
  let members = NO_BYTES
  for (const text of texts) {
    const at = rest.indexOf(WRITTEN)
    members = concat(members, rest.slice(0, at), text)
    rest = rest.slice(at + WRITTEN.length)
  }
  return concat(members, rest)
}
