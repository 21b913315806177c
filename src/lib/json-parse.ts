/**
 * Parses JSON without blocking the event loop for long. Short texts are parsed at once; long ones are scanned in
 * slices, and strings full of escapes, the slowest part, are decoded in slices of their own.
 */

import { isAscii } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { type ByteText, characters, decodeText, joinBytes } from './byte-text.ts'
import { exactNumber } from './exact-json.ts'
import {
  hasEscapedKeyCharacters,
  type JsonObject,
  type JsonValue,
  parseText,
  setMember,
  unescapeKeyCharacters,
} from './json.ts'
import { type EscapedText, JsonScan, type ScanLimits } from './json-scan.ts'
import { asciiJson } from './json-text.ts'
import { inTurn } from './loop-turns.ts'

/** Texts up to this size are scanned and parsed without a pause. Each takes well below a millisecond, whatever the text. */
export const SHORT_BYTES = 16 * 1024
/** Scan steps per turn of the event loop; they take a few milliseconds. */
const SCAN_STEPS = 500_000
const SLICE_CHARACTERS = 1024 * 1024
/** Replacing escapes of characters that occur in field names takes ten times as long as decoding them. */
const KEY_SLICE_CHARACTERS = 128 * 1024

const BACKSLASH = 92
const SMALL_U = 117

/** Scans the text, pausing between turns if it is long. Rejects with NestingError or JsonSizeError. */
export async function scanJson(text: ByteText, limits: ScanLimits): Promise<JsonScan> {
  const scan = new JsonScan(text, limits)
  if (text.length <= SHORT_BYTES) scan.run(Number.POSITIVE_INFINITY)
  else while (!(await inTurn(() => scan.run(SCAN_STEPS))));
  return scan
}

/**
 * Parses JSON text that has been scanned. Long numbers keep their digits (see lib/exact-json.ts), except direct members of the
 * top-level object. `bytes` and `text` have the same content: decoding from the bytes saves a copy. Rejects with SyntaxError
 * for anything but JSON.
 */
export async function parseScanned(
  bytes: Buffer,
  text: ByteText,
  { longTexts, longNumbers }: Pick<JsonScan, 'longTexts' | 'longNumbers'>,
): Promise<JsonValue> {
  const isPlain = isAscii(bytes)
  if (longTexts.length === 0 && longNumbers.length === 0) {
    const decode = () => (isPlain ? characters(text) : bytes.toString('utf8'))
    if (text.length <= SHORT_BYTES) return parseText(decode())
    const unicode = isPlain ? decode() : await inTurn(decode)
    return parseInTurns(unicode)
  }
  const decoded: JsonValue[] = []
  for (const long of longTexts) decoded.push(await decodeLong(text, long))
  const numbers = longNumbers.map(start => numberAt(text, start)).filter(number => number !== null)
  for (const { start, end } of numbers) decoded.push(exactNumber(characters(text.slice(start, end))))
  // Random, so that it cannot occur in the input.
  const mark = `${randomUUID()}:`
  const rest = await inTurn(() => withMarks(text, [...longTexts, ...numbers], mark))
  const value = await parseInTurns(await inTurn(() => (isPlain ? characters(rest) : decodeText(rest))))
  await inTurn(() => putBack(value, mark, decoded))
  return value
}

/** Does what `parseText` does, but in separate turns of the event loop. */
async function parseInTurns(text: string): Promise<JsonValue> {
  const value = await inTurn(() => JSON.parse(text) as JsonValue)
  if (!hasEscapedKeyCharacters(text)) return value
  const parts: string[] = []
  for (let from = 0; from < text.length; ) {
    const next = from + KEY_SLICE_CHARACTERS
    const slice = text.slice(from, next < text.length ? cutBeforeEscape(text, from, next) : text.length)
    parts.push(await inTurn(() => unescapeKeyCharacters(slice)))
    from += slice.length
  }
  return inTurn(() => JSON.parse(parts.join('')) as JsonValue)
}

async function decodeLong(text: ByteText, { start, end }: EscapedText): Promise<string> {
  const parts: string[] = []
  const last = end - 1
  for (let from = start + 1; from < last; ) {
    const to = from + SLICE_CHARACTERS >= last ? last : cutBefore(text, from, from + SLICE_CHARACTERS)
    const slice = from
    parts.push(await inTurn(() => JSON.parse(`"${decodeText(text.slice(slice, to))}"`) as string))
    from = to
  }
  return parts.join('')
}

/**
 * The last position up to `at` where the text can be cut without splitting an escape or a character. `from` must be such a
 * position, too.
 */
function cutBefore(text: ByteText, from: number, at: number): number {
  let cut = cutBeforeEscape(text, from, at)
  // A character has at most three continuation bytes.
  for (let back = 0; back < 3 && (text.charCodeAt(cut) & 0xc0) === 0x80; back++) cut--
  return cut
}

function cutBeforeEscape(text: Pick<ByteText, 'charCodeAt'>, from: number, at: number): number {
  for (let back = 1; back <= 5; back++) {
    if (text.charCodeAt(at - back) !== BACKSLASH) continue
    let backslashes = 1
    while (at - back - backslashes >= from && text.charCodeAt(at - back - backslashes) === BACKSLASH) backslashes++
    const length = text.charCodeAt(at - back + 1) === SMALL_U ? 6 : 2
    return backslashes % 2 === 1 && length > back ? at - back : at
  }
  return at
}

/** Span of the number that begins at `start`; null when there is none. */
function numberAt(text: ByteText, start: number): EscapedText | null {
  NUMBER.lastIndex = start
  const found = NUMBER.exec(characters(text))
  return found === null ? null : { start, end: start + found[0].length }
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[\s,\]}])/y

function withMarks(text: ByteText, values: readonly EscapedText[], mark: string): ByteText {
  const parts: ByteText[] = []
  let from = 0
  const inOrder = values.map((place, index) => ({ ...place, index })).sort((a, b) => a.start - b.start)
  for (const { index, start, end } of inOrder) {
    parts.push(text.slice(from, start), asciiJson(mark + index))
    from = end
  }
  parts.push(text.slice(from))
  return joinBytes(parts)
}

function putBack(root: JsonValue, mark: string, decoded: readonly JsonValue[]): void {
  const open: JsonValue[] = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (value === null || typeof value !== 'object') continue
    const holder = value as JsonObject
    for (const key of Object.keys(holder)) {
      const member = holder[key] as JsonValue
      if (typeof member === 'string' && member.startsWith(mark))
        setMember(holder, key, decoded[Number(member.slice(mark.length))]!)
      else if (member !== null && typeof member === 'object') open.push(member)
    }
  }
}
