/** Parses JSON whose strings may be huge, such as images in base64, without copying them. */

import { byteText, characters } from './byte-text.ts'
import { type JsonValue, parseJson } from './json.ts'
import { RUN_BYTES_MAX, runEnd, searched } from './text-run.ts'

/** From this length on, in bytes, strings are shortened. */
const LONG_BYTES = 64 * 1024
/** Texts with more strings than this are not searched further for long ones. */
const STRINGS_MAX = 1_000

const QUOTE = 34
const BACKSLASH = 92
/** Leaves room for the control character that ends each search. */
const SEARCH_BYTES = RUN_BYTES_MAX - 1

/**
 * Does what `parseUndecoded` does, but makes long strings without escapes, keys too, a single character: only that they are there is
 * of interest.
 */
export function parseShortened(bytes: Buffer): JsonValue | undefined {
  const parts: string[] = []
  let from = 0
  let strings = 0
  for (let quote = bytes.indexOf(QUOTE); quote >= 0 && strings < STRINGS_MAX; strings++) {
    const end = closingQuote(bytes, quote)
    if (end < 0) break
    if (end - quote > LONG_BYTES && isPlain(bytes, quote + 1, end)) {
      parts.push(characters(byteText(bytes, from, quote + 1)), 'x')
      from = end
    }
    quote = bytes.indexOf(QUOTE, end + 1)
  }
  parts.push(characters(byteText(bytes, from)))
  return parseJson(parts.join(''))
}

/** Position of the quote that closes the string; -1 if there is none. */
function closingQuote(bytes: Buffer, quote: number): number {
  for (let end = bytes.indexOf(QUOTE, quote + 1); end >= 0; end = bytes.indexOf(QUOTE, end + 1)) {
    let backslashes = 0
    while (bytes[end - 1 - backslashes] === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) return end
  }
  return -1
}

/** Whether a part of the text has neither backslashes nor control characters, which a string may not have. */
function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += SEARCH_BYTES) {
    const part = bytes.subarray(at, Math.min(end, at + SEARCH_BYTES))
    searched.set(part)
    searched[part.length] = 0
    if (runEnd(0) !== part.length) return false
  }
  return true
}
