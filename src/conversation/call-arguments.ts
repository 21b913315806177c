/** Collects the arguments of a tool call as they arrive, and detects when they are complete. Scans each character once. */

import type { ByteText } from '../lib/byte-text.ts'
import { parseJson } from '../lib/json.ts'
import { GatheredText } from './gathered-text.ts'

/**
 * How far the scan has come. before: only whitespace so far; inside: within the object; after: the object is closed; never: the
 * text is not a JSON object.
 */
type Place = 'before' | 'inside' | 'after' | 'never'

export class CallArguments {
  /** Text that has already been scanned. */
  #read = ''
  /** Text that arrived since `complete` was last read. Most calls never read `complete`. */
  #unread = new GatheredText()
  #hasBegun = false
  #place: Place = 'before'
  #depth = 0
  #inString = false
  #escaped = false

  push(fragment: string): void {
    if (fragment !== '') this.#hasBegun = true
    this.#unread.add(fragment)
  }

  /** Adds a fragment, given as escaped JSON string content without quotes. */
  pushWritten(fragment: ByteText): void {
    this.#unread.addWritten(fragment)
  }

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  get text(): string {
    return this.#read + this.#unread.text
  }

  clear(): void {
    this.#read = ''
    this.#unread = new GatheredText()
    this.#hasBegun = false
    this.#place = 'before'
    this.#depth = 0
    this.#inString = false
    this.#escaped = false
  }

  /** Whether the text is exactly one JSON object. */
  get complete(): boolean {
    const unread = this.#unread.text
    if (unread !== '') this.#look(unread)
    return this.#place === 'after'
  }

  #look(unread: string): void {
    const wasOpen = this.#place !== 'after'
    for (let at = 0; at < unread.length && this.#place !== 'never'; at++) this.#step(unread.charCodeAt(at))
    this.#read += unread
    this.#unread = new GatheredText()
    // The brackets are balanced, so parse once to check the JSON: more text could not repair it.
    if (wasOpen && this.#place === 'after' && parseJson(this.text) === undefined) this.#place = 'never'
  }

  #step(code: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false
      else if (code === BACKSLASH) this.#escaped = true
      else if (code === QUOTE) this.#inString = false
    } else if (this.#place !== 'inside') {
      if (isSpace(code)) return
      this.#place = this.#place === 'before' && code === OPEN_OBJECT ? 'inside' : 'never'
      this.#depth = 1
    } else if (code === QUOTE) this.#inString = true
    else if (code === OPEN_OBJECT || code === OPEN_ARRAY) this.#depth++
    else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      this.#depth--
      if (this.#depth === 0) this.#place = 'after'
    }
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}
