/**
 * Checks JSON text against the whole grammar and finds its top-level members, without building values. Also checks whether
 * large members, such as a request's messages, have a simple shape known in advance; members that do may never need to be
 * parsed. JSON.parse accepts all text that this accepts.
 */

import { EXACT_NUMBER_LENGTH_MIN } from './exact-json.ts'
import { mayBeKeyCharacter } from './json.ts'
import { KEY_CHARACTERS_MAX, type ScannedMember } from './json-scan.ts'
import { bytesOf, indexOfText, type Shape, takeText } from './json-shape.ts'
import { NESTING_MAX } from './json-text.ts'
import { searched as bytes, RUN_BYTES_MAX, runEnd } from './text-run.ts'

/** Texts longer than this get no outline. */
export const OUTLINE_BYTES_MAX = RUN_BYTES_MAX - 1

export interface Outline {
  /** The top-level members, in the order of the text. Their keys are ASCII without escapes. A key may occur twice. */
  readonly members: readonly ScannedMember[]
  /** Whether each top-level member has the shape that `root` gives for its key. Members with other keys may be anything. */
  readonly plain: boolean
  /**
   * Numbers that the shapes noted about the values they checked, such as the length of the longest tool name; see
   * `ShapeOptions`. Meaningless unless `plain`.
   */
  readonly notes: readonly number[]
  /** Whether the text may write characters of field names as escapes, such as `\u0074` for `t`. If so, use `parseText`. */
  readonly mayEscapeKeyCharacters: boolean
}

/** Length of `Outline.notes`. */
const NOTES_LENGTH = 8

const QUOTE = 34
const PLUS = 43
const COMMA = 44
const MINUS = 45
const DOT = 46
const ZERO = 48
const COLON = 58
const OPEN_BRACKET = 91
const BACKSLASH = 92
const SMALL_E = 101
const SMALL_F = 102
const SMALL_N = 110
const SMALL_U = 117
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** For each open object or list, by depth: its closing bracket, its shape if any, and one bit for each key seen so far. */
const closings = new Uint8Array(NESTING_MAX + 1)
const shapes: (Shape | null)[] = Array.from({ length: NESTING_MAX + 1 }, () => null)
const keysSeen = new Int32Array(NESTING_MAX + 1)
/** `Outline.mayEscapeKeyCharacters` for the text so far. */
let mayEscapeKeyCharacters = false

/**
 * Returns the text's outline. `root` gives the shapes of top-level members by key; members with other keys may be anything.
 *
 * Returns null for text that is not JSON, and for text that needs a slower reader: values that are not objects, deep nesting,
 * nested numbers with so many digits that a double may not be exact, top-level keys that need decoding, and texts longer than
 * `OUTLINE_BYTES_MAX`.
 */
export function readOutline(text: Uint8Array, root: Shape): Outline | null {
  const { length } = text
  if (length > OUTLINE_BYTES_MAX) return null
  bytes.set(text)
  // No token contains a zero byte, so no loop reads beyond it.
  bytes[length] = 0
  const members: ScannedMember[] = []
  const notes = new Array<number>(NOTES_LENGTH).fill(0)
  mayEscapeKeyCharacters = false
  let plain = true
  let depth = 0
  let keyStart = -1
  let keyEnd = -1
  let valueStart = -1
  let at = afterSpace(0)
  if (bytes[at] !== OPEN_BRACE) return null
  for (;;) {
    // Reads one value, preceded by its key if it is in an object.
    let shape: Shape | null = depth === 0 ? root : plain ? (shapes[depth] as Shape | null) : null
    if (depth > 0 && closings[depth] === CLOSE_BRACE) {
      const end = textEnd(at)
      const colon = end < 0 ? -1 : afterSpace(end)
      if (colon < 0 || bytes[colon] !== COLON || end - at > KEY_CHARACTERS_MAX) return null
      const key = shape === null ? -1 : indexOfText(shape.keys, bytes, at + 1, end - 1)
      const start = afterSpace(colon + 1)
      if (depth === 1) {
        if (!isBare(at + 1, end - 1)) return null
        keyStart = at
        keyEnd = end
        valueStart = start
      } else if (shape !== null && key < 0) plain = false
      at = start
      if (shape !== null && key >= 0) {
        keysSeen[depth] = (keysSeen[depth] as number) | (1 << key)
        shape = shape.values[key] as Shape
        if (shape.anything) {
          if (shape.note >= 0) notes[shape.note] = (notes[shape.note] as number) + 1
          shape = null
        }
      } else shape = null
    } else if (depth > 0 && shape !== null) shape = shape.each
    const code = bytes[at] as number
    if (code === QUOTE) {
      const start = at + 1
      at = textEnd(at)
      if (at < 0) return null
      if (shape !== null) {
        const taken = takeText(shape, bytes, start, at - 1, notes)
        if (taken < 0) plain = false
        else keysSeen[depth] = (keysSeen[depth] as number) | taken
      }
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (depth === NESTING_MAX) return null
      const closing = code + 2
      const fits = shape === null || (code === OPEN_BRACE ? shape.isObject : shape.each !== null)
      if (!fits) plain = false
      depth++
      closings[depth] = closing
      shapes[depth] = fits ? shape : null
      keysSeen[depth] = 0
      at = afterSpace(at + 1)
      if (bytes[at] !== closing) continue
      if (shape !== null && code === OPEN_BRACKET) plain = false
    } else {
      const start = at
      at = wordEnd(at)
      if (at < 0 || (depth > 1 && at - start >= EXACT_NUMBER_LENGTH_MIN)) return null
      if (shape !== null && !(shape.none && code === SMALL_N)) plain = false
    }
    // Closes the member, and any objects and lists, that end with this value, and moves on to the next value.
    for (;;) {
      if (depth === 1 && keyStart >= 0) {
        members.push({ keyStart, keyEnd, valueStart, valueEnd: at })
        keyStart = -1
      }
      at = afterSpace(at)
      if (bytes[at] === COMMA) {
        at = afterSpace(at + 1)
        break
      }
      if (bytes[at] !== closings[depth]) return null
      if (shapes[depth]?.isComplete(keysSeen[depth] as number) === false) plain = false
      at++
      if (--depth === 0) return afterSpace(at) === length ? { members, plain, notes, mayEscapeKeyCharacters } : null
    }
  }
}

function afterSpace(at: number): number {
  let end = at
  for (;;) {
    const code = bytes[end]
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return end
    end++
  }
}

/** Offset just after the closing quote of the string that begins at `at`; -1 when there is no valid string there. */
function textEnd(at: number): number {
  if (bytes[at] !== QUOTE) return -1
  let end = at + 1
  for (;;) {
    end = runEnd(end)
    const code = bytes[end]
    if (code === QUOTE) return end + 1
    if (code !== BACKSLASH) return -1
    if (bytes[end + 1] !== SMALL_U) {
      if (!isEscape(bytes[end + 1] as number)) return -1
      end += 2
      continue
    }
    for (let digit = end + 2; digit < end + 6; digit++) if (!isHex(bytes[digit] as number)) return -1
    if (bytes[end + 2] === ZERO && bytes[end + 3] === ZERO && mayBeKeyCharacter(bytes[end + 4] as number))
      mayEscapeKeyCharacters = true
    end += 6
  }
}

function isHex(code: number): boolean {
  const small = code | 32
  return isDigit(code) || (small >= 97 && small <= SMALL_F)
}

/** Whether a character may follow a backslash; `u` is not included, since its digits need checking. */
function isEscape(code: number): boolean {
  switch (code) {
    case QUOTE:
    case BACKSLASH:
    case 47: // /
    case 98: // b
    case SMALL_F:
    case SMALL_N:
    case 114: // r
    case 116: // t
      return true
    default:
      return false
  }
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 57
}

const LITERALS = ['true', 'null', 'false'].map(bytesOf)

/** Offset just after the number or literal that begins at `at`; -1 when there is none. */
function wordEnd(at: number): number {
  const code = bytes[at] as number
  if (code !== MINUS && !isDigit(code)) {
    const end = at + (code === SMALL_F ? 5 : 4)
    return indexOfText(LITERALS, bytes, at, end) < 0 ? -1 : end
  }
  const whole = code === MINUS ? at + 1 : at
  let end = bytes[whole] === ZERO ? whole + 1 : digitsEnd(whole)
  if (end === whole) return -1
  if (bytes[end] === DOT) {
    const fraction = end + 1
    end = digitsEnd(fraction)
    if (end === fraction) return -1
  }
  if (((bytes[end] as number) | 32) !== SMALL_E) return end
  const sign = bytes[end + 1]
  const exponent = end + (sign === MINUS || sign === PLUS ? 2 : 1)
  end = digitsEnd(exponent)
  return end === exponent ? -1 : end
}

function digitsEnd(at: number): number {
  let end = at
  while (isDigit(bytes[end] as number)) end++
  return end
}

/** Whether the bytes from `start` up to `end` are ASCII without escapes. */
function isBare(start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] as number) > 126 || bytes[at] === BACKSLASH) return false
  return true
}
