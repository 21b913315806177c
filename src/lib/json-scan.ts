/**
 * Scans JSON text before it is parsed, for its depth, its number of values and its top-level members. It can pause anywhere and
 * accepts any text: rejecting invalid JSON is up to the parser.
 */

import type { ByteText } from './byte-text.ts'
import { EXACT_NUMBER_LENGTH_MIN } from './exact-json.ts'
import { NESTING_MAX, NestingError } from './json-text.ts'

export interface ScanLimits {
  /** Maximum number of values in the whole text. Strings, numbers, literals, objects and arrays all count. */
  readonly valuesMax: number
}

export interface ScannedMember {
  /** Positions of the key's opening quote and of the character after its closing quote (`keyEnd`). */
  readonly keyStart: number
  readonly keyEnd: number
  readonly valueStart: number
  /** Position after the value's last character. */
  readonly valueEnd: number
}

/** A string with escapes, including its quotes. */
export interface EscapedText {
  readonly start: number
  readonly end: number
}

/** The text has more values than allowed, an absurdly long key, or absurdly many top-level members. */
export class JsonSizeError extends Error {}

/** Maximum number of long numbers to record, which a double may not represent exactly. No legitimate body has this many. */
const LONG_NUMBERS_MAX = 10_000
/** Strings at least this long are written in slices, and decoded in slices if they have escapes. */
export const LONG_STRING_CHARACTERS_MIN = 256 * 1024
export const KEY_CHARACTERS_MAX = 64 * 1024
/** Each top-level member is looked at several times in one turn of the event loop. No format has nearly as many. */
export const MEMBERS_MAX = 1_000

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const COMMA = 44
const COLON = 58
const SPACE = 32

export class JsonScan {
  readonly #text: ByteText
  readonly #valuesMax: number
  /** Where to resume after a pause. The private fields below hold the rest of the paused state. */
  #at = 0
  #depth = 0
  #values = 1
  /** Whether the last token opened an object or array. The next token then either closes it or begins its first value. */
  #isFresh = false
  /** Position of the current string's opening quote; -1 outside strings. */
  #textStart = -1
  /** Positions of the current top-level member's key and value; -1 until reached. */
  #keyStart = -1
  #keyEnd = -1
  #valueStart = -1
  /** Position after the last token. */
  #tokenEnd = 0
  /** Start of the current or last number or literal. */
  #wordStart = 0
  readonly members: ScannedMember[] = []
  /** Spans of the long strings with escapes that are values. */
  readonly longTexts: EscapedText[] = []
  /** Start positions of long numbers, except those that are top-level members. */
  readonly longNumbers: number[] = []

  constructor(text: ByteText, { valuesMax }: ScanLimits) {
    this.#text = text
    this.#valuesMax = valuesMax
  }

  /** Number of values found so far. */
  get values(): number {
    return this.#values
  }

  /**
   * Continues for about this many steps; true when done. Throws NestingError or JsonSizeError. Local variables hold the state
   * while it runs, which makes it a quarter faster.
   */
  run(steps: number): boolean {
    const text = this.#text
    const { length } = text
    let at = this.#at
    let depth = this.#depth
    let values = this.#values
    let isFresh = this.#isFresh
    let textStart = this.#textStart
    let valueStart = this.#valueStart
    let tokenEnd = this.#tokenEnd
    for (let left = steps; left > 0 && at < length; left--) {
      if (textStart >= 0) {
        // Inside a string: skip to the next quote, which may be escaped.
        const quote = text.indexOf('"', at)
        if (quote < 0) {
          at = length
          break
        }
        let backslashes = 0
        while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++
        left -= ((quote - at) >> 6) + backslashes
        at = quote + 1
        if (backslashes % 2 === 1) continue
        tokenEnd = at
        if (depth === 1 && this.#keyStart < 0) {
          this.#keyStart = textStart
          this.#keyEnd = at
          valueStart = -1
        }
        if (at - textStart > KEY_CHARACTERS_MAX) this.#noteLong(textStart, at)
        textStart = -1
        continue
      }
      const code = text.charCodeAt(at)
      if (code === COMMA) {
        isFresh = false
        values++
        if (depth === 1) {
          this.#endMember(valueStart, tokenEnd)
          valueStart = -1
        }
      } else if (code === COLON) {
        if (depth === 1) valueStart = -1
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        if (depth === 1) {
          this.#endMember(valueStart, tokenEnd)
          valueStart = -1
        }
        isFresh = false
        depth--
        tokenEnd = at + 1
      } else if (code > SPACE) {
        if (isFresh) values++
        isFresh = false
        if (depth === 1 && valueStart < 0) valueStart = at
        if (code === QUOTE) textStart = at
        else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
          if (++depth > NESTING_MAX) throw new NestingError(`nested deeper than ${NESTING_MAX} levels`)
          if (depth === 1) valueStart = -1
          isFresh = true
        } else {
          if (tokenEnd !== at) this.#wordStart = at
          else if (at - this.#wordStart === EXACT_NUMBER_LENGTH_MIN - 1 && depth > 1) this.#noteLongWord()
          tokenEnd = at + 1
        }
      }
      if (values > this.#valuesMax) throw new JsonSizeError(`more than ${this.#valuesMax} values`)
      at++
    }
    this.#at = at
    this.#depth = depth
    this.#values = values
    this.#isFresh = isFresh
    this.#textStart = textStart
    this.#valueStart = valueStart
    this.#tokenEnd = tokenEnd
    return at >= length
  }

  #noteLongWord(): void {
    if (this.longNumbers.length < LONG_NUMBERS_MAX) this.longNumbers.push(this.#wordStart)
  }

  #endMember(valueStart: number, valueEnd: number): void {
    if (this.#keyStart >= 0 && valueStart >= 0) {
      if (this.members.length === MEMBERS_MAX) throw new JsonSizeError(`more than ${MEMBERS_MAX} top-level fields`)
      this.members.push({ keyStart: this.#keyStart, keyEnd: this.#keyEnd, valueStart, valueEnd })
    }
    this.#keyStart = -1
  }

  #noteLong(start: number, end: number): void {
    if (isColonNext(this.#text, end)) throw new JsonSizeError(`a key longer than ${KEY_CHARACTERS_MAX} bytes`)
    if (end - start < LONG_STRING_CHARACTERS_MIN) return
    if (this.#text.slice(start, end).includes('\\')) this.longTexts.push({ start, end })
  }
}

/** Counts the values of a text that is not too long to be scanned at once. Throws NestingError or JsonSizeError. */
export function countValues(text: ByteText, limits: ScanLimits): number {
  const scan = new JsonScan(text, limits)
  scan.run(Number.POSITIVE_INFINITY)
  return scan.values
}

function isColonNext(text: ByteText, at: number): boolean {
  let code = text.charCodeAt(at)
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at)
  return code === COLON
}
