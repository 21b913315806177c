/**
 * UTF-8 bytes held in a string, one character per byte, so that a relay can forward and edit text without decoding it. Offsets
 * count bytes. V8 stores such strings with one byte per character, which also makes searching and slicing fast.
 */

import { type JsonValue, parseJson } from './json.ts'

/** Accepts string literals only: not `string`, not templates with placeholders. */
type Literal<Text extends string> = Record<never, never> extends Record<Text, 1> ? never : Text
type Search<Text extends string> = ByteText | Literal<Text>

interface ByteTextMethods {
  readonly length: number
  charCodeAt(at: number): number
  slice(start?: number, end?: number): ByteText
  indexOf<Text extends string>(search: Search<Text>, from?: number): number
  lastIndexOf<Text extends string>(search: Search<Text>, from?: number): number
  includes<Text extends string>(search: Search<Text>, from?: number): boolean
  startsWith<Text extends string>(search: Search<Text>, at?: number): boolean
  endsWith<Text extends string>(search: Search<Text>, end?: number): boolean
}

/**
 * A string at run time, but a separate type for the compiler, so that byte text and ordinary strings are never mixed by
 * accident. The type is based on symbol, because TypeScript rejects symbols in `+` and template literals, but accepts objects
 * there. String literals to search for must be ASCII.
 */
export type ByteText = symbol & ByteTextMethods

/** Returns the text as a string with one character per byte, for regular expressions and for writing it as latin1. */
export function characters(bytes: ByteText): string {
  return bytes as unknown as string
}

/** Treats each character as one byte; none may be above U+00FF. */
export function ofCharacters(text: string): ByteText {
  return text as unknown as ByteText
}

/** The literal must be ASCII. */
export function ascii<Text extends string>(literal: Literal<Text>): ByteText {
  return ofCharacters(literal)
}

export const NO_BYTES: ByteText = ofCharacters('')

export function byteText(buffer: Buffer, start?: number, end?: number): ByteText {
  return ofCharacters(buffer.toString('latin1', start, end))
}

export function toBuffer(bytes: ByteText): Buffer {
  return Buffer.from(characters(bytes), 'latin1')
}

/** Encodes text as UTF-8; costs nothing for ASCII. */
export function encodeText(text: string): ByteText {
  return isAsciiText(text) ? ofCharacters(text) : byteText(Buffer.from(text, 'utf8'))
}

/**
 * Whether the text is ASCII. Comparing its length in UTF-8 with its number of characters takes a fraction of the time that a
 * regular expression needs.
 */
export function isAsciiText(text: string): boolean {
  return Buffer.byteLength(text, 'utf8') === text.length
}

export function decodeText(bytes: ByteText): string {
  return toBuffer(bytes).toString('utf8')
}

/** Concatenates byte texts, to which `+` does not apply. */
export function concat(
  first: ByteText,
  second: ByteText,
  third: ByteText = NO_BYTES,
  fourth: ByteText = NO_BYTES,
  fifth: ByteText = NO_BYTES,
): ByteText {
  return ofCharacters(
    characters(first) + characters(second) + characters(third) + characters(fourth) + characters(fifth),
  )
}

export function joinBytes(parts: readonly ByteText[], separator: ByteText | ',' = NO_BYTES): ByteText {
  const [first = NO_BYTES, second = NO_BYTES] = parts
  if (parts.length < 2) return first
  if (parts.length === 2) return concat(first, separator as ByteText, second)
  return ofCharacters((parts as unknown as readonly string[]).join(separator as unknown as string))
}

/** Replaces the first occurrence of `from`, if any, with `to`. */
export function replaceOnce(bytes: ByteText, from: ByteText, to: ByteText): ByteText {
  const at = bytes.indexOf(from)
  return at < 0 ? bytes : concat(bytes.slice(0, at), to, bytes.slice(at + from.length))
}

/**
 * Parses JSON without decoding UTF-8 first; undefined if it is not JSON. Non-ASCII strings come out garbled, so use only ASCII
 * names, numbers and the structure.
 */
export function parseUndecoded(bytes: ByteText): JsonValue | undefined {
  return parseJson(characters(bytes))
}

/** The text without white space. A regular expression takes ten times as long if there is white space between all characters. */
export function withoutWhiteSpace(text: string): string {
  if (!/\s/.test(text)) return text
  if (!isAsciiText(text)) return withoutWideSpace(text)
  const bytes = Buffer.from(text, 'latin1')
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte > 32 || byte < 9 || (byte > 13 && byte < 32)) bytes[length++] = byte
  }
  return bytes.toString('latin1', 0, length)
}

/** As above, for any text: two bytes a character. */
function withoutWideSpace(text: string): string {
  const units = new Uint16Array(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (!isSpace(unit)) units[length++] = unit
  }
  return Buffer.from(units.buffer, 0, 2 * length).toString('utf16le')
}

const WIDE_SPACES: ReadonlySet<number> = new Set([0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff])

/** Whether it is what `\s` matches. */
function isSpace(unit: number): boolean {
  if (unit < 0xa0) return unit === 0x20 || (unit >= 9 && unit <= 13)
  return (unit >= 0x2000 && unit <= 0x200a) || WIDE_SPACES.has(unit)
}
