/**
 * Scans JSON text before it is parsed: how deep it is nested, how many values it has, where the top-level members are.
 * It can pause anywhere, and accepts any text: refusing what is not JSON is up to the parser.
 */

import type { ByteText } from './byte-text.ts'
import { EXACT_NUMBER_LENGTH_MIN } from './exact-json.ts'
import { NESTING_MAX, NestingError } from './json-text.ts'

export interface ScanLimits {
  /** Values in the whole text: strings, numbers, literals, objects and arrays. */
  readonly valuesMax: number
}

export interface ScannedMember {
  /** Positions of the key's opening quote and of the character after its closing one. */
  readonly keyStart: number
  readonly keyEnd: number
  readonly valueStart: number
  /** One past the value's last character. */
  readonly valueEnd: number
}

/** A string with escapes, including its quotes. */
export interface EscapedText {
  readonly start: number
  readonly end: number
}

/** More values than allowed, or an absurdly long key. */
export class JsonSizeError extends Error {}

/** Most numbers recorded that a double may not hold; more than any honest body has. */
const LONG_NUMBERS_MAX = 10_000
/** Strings with escapes are decoded in slices from this length on. */
const LONG_CHARACTERS = 256 * 1024
const KEY_CHARACTERS_MAX = 64 * 1024

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const COMMA = 44
const COLON = 58

export class JsonScan {
  readonly #text: ByteText
  readonly #valuesMax: number
  #at = 0
  #depth = 0
  #values = 1
  /** The last token opened an object or an array, so the next one adds a value, unless it closes it. */
  #isFresh = false
  /** Opening quote of the current string; -1 outside strings. */
  #textStart = -1
  #searchFrom = 0
  #key: { start: number; end: number } | null = null
  #valueStart = -1
  /** One past the last token. */
  #tokenEnd = 0
  /** Start of the current or last number or literal. */
  #wordStart = 0
  readonly members: ScannedMember[] = []
  /** Long strings that are values. */
  readonly longTexts: EscapedText[] = []
  /** Starts of long numbers that are not top-level members. */
  readonly longNumbers: number[] = []

  constructor(text: ByteText, { valuesMax }: ScanLimits) {
    this.#text = text
    this.#valuesMax = valuesMax
  }

  /** Continues for about this many steps; true at the end. Throws NestingError or JsonSizeError. */
  run(steps: number): boolean {
    const text = this.#text
    let left = steps
    while (left-- > 0) {
      if (this.#textStart >= 0) {
        left -= this.#skipText()
        continue
      }
      const code = text.charCodeAt(this.#at)
      if (code === QUOTE) {
        this.#token()
        this.#textStart = this.#at
        this.#searchFrom = this.#at + 1
        continue
      }
      if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#open()
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) this.#close()
      else if (code === COMMA) this.#comma()
      else if (code === COLON) {
        if (this.#depth === 1) this.#valueStart = -1
      } else if (Number.isNaN(code)) return true
      else if (code > 32) {
        if (this.#tokenEnd !== this.#at) this.#wordStart = this.#at
        else if (this.#at - this.#wordStart === EXACT_NUMBER_LENGTH_MIN - 1) this.#noteLongWord()
        this.#token()
        this.#tokenEnd = this.#at + 1
      }
      this.#at++
    }
    return this.#at >= text.length
  }

  #noteLongWord(): void {
    if (this.#depth > 1 && this.longNumbers.length < LONG_NUMBERS_MAX) this.longNumbers.push(this.#wordStart)
  }

  #token(): void {
    if (this.#isFresh) this.#count()
    this.#isFresh = false
    if (this.#depth === 1 && this.#valueStart < 0) this.#valueStart = this.#at
  }

  #open(): void {
    this.#token()
    if (++this.#depth > NESTING_MAX) throw new NestingError(`nested deeper than ${NESTING_MAX} levels`)
    if (this.#depth === 1) this.#valueStart = -1
    this.#isFresh = true
  }

  #close(): void {
    if (this.#depth === 1) this.#endMember()
    this.#isFresh = false
    this.#depth--
    this.#tokenEnd = this.#at + 1
  }

  #comma(): void {
    this.#isFresh = false
    this.#count()
    if (this.#depth === 1) this.#endMember()
  }

  #count(): void {
    if (++this.#values > this.#valuesMax) {
      throw new JsonSizeError(`more than ${this.#valuesMax} values`)
    }
  }

  #endMember(): void {
    const key = this.#key
    if (key !== null && this.#valueStart >= 0) {
      this.members.push({
        keyStart: key.start,
        keyEnd: key.end,
        valueStart: this.#valueStart,
        valueEnd: this.#tokenEnd,
      })
    }
    this.#key = null
    this.#valueStart = -1
  }

  /** Searches for the string's end, up to the next quote; returns the steps it took. */
  #skipText(): number {
    const text = this.#text
    const from = this.#searchFrom
    const quote = text.indexOf('"', from)
    if (quote < 0) {
      this.#at = text.length
      this.#textStart = -1
      return (text.length - from) >> 6
    }
    let backslashes = 0
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes++
    this.#searchFrom = quote + 1
    if (backslashes % 2 === 0) this.#endText(quote + 1)
    return ((quote - from) >> 6) + backslashes
  }

  #endText(end: number): void {
    const start = this.#textStart
    this.#textStart = -1
    this.#at = end
    this.#tokenEnd = end
    if (this.#depth === 1 && this.#key === null) {
      this.#key = { start, end }
      this.#valueStart = -1
    }
    if (end - start > KEY_CHARACTERS_MAX) this.#noteLong(start, end)
  }

  #noteLong(start: number, end: number): void {
    if (isColonNext(this.#text, end)) throw new JsonSizeError(`a key longer than ${KEY_CHARACTERS_MAX} bytes`)
    if (end - start < LONG_CHARACTERS) return
    if (this.#text.slice(start, end).includes('\\')) this.longTexts.push({ start, end })
  }
}

function isColonNext(text: ByteText, at: number): boolean {
  let code = text.charCodeAt(at)
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at)
  return code === COLON
}
