/**
 * Sets log probabilities aside. They are nearly all of a long reply that has them, up to 1,000 values for a token, and nothing here
 * reads them. Without them, the rest is quickly parsed and edited; then they are put back.
 */

import { randomUUID } from 'node:crypto'
import { type ByteText, characters, joinBytes, NO_BYTES, ofCharacters } from '../lib/byte-text.ts'
import { inTurn } from '../lib/loop-turns.ts'

/** Shorter ones stay where they are, in bytes. */
const LONG_BYTES = 64 * 1024
/** Most members that are looked at; no reply has nearly as many. */
const MEMBERS_MAX = 1_000
/** Characters searched per turn of the event loop; they take a few milliseconds. */
const SEARCH_STEPS = 1024 * 1024

/** The key. In valid JSON, this text is a key or a string of its own, unless a backslash precedes it. */
const KEY = '"logprobs"'
/** What follows the key in a choice of Chat Completions, or in a text part of Responses. */
const VALUE = /[ \n\r\t]{0,99}:[ \n\r\t]{0,99}(?=\{[ \n\r\t]{0,99}"(?:content|refusal)"|\[[ \n\r\t]{0,99}\{)/y

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93

interface Span {
  readonly start: number
  readonly end: number
}

/** Finds long log probabilities in JSON text. It can pause anywhere. */
class Search {
  readonly #text: string
  #members = 0
  /** Where to go on. */
  #at = 0
  /** Where the current value begins; -1 outside. The fields below hold the rest of the paused state. */
  #start = -1
  #depth = 0
  #isString = false
  readonly spans: Span[] = []

  constructor(text: ByteText) {
    this.#text = characters(text)
  }

  /** Continues for about this many characters of values; true when done. */
  run(steps: number): boolean {
    for (let left = steps; left > 0; ) {
      if (this.#start < 0 && !this.#find()) return true
      left = this.#skip(left)
    }
    return false
  }

  #find(): boolean {
    for (let at = this.#next(); at >= 0; at = this.#next()) {
      this.#at = at + KEY.length
      if (this.#text.charCodeAt(at - 1) === BACKSLASH) continue
      VALUE.lastIndex = this.#at
      if (!VALUE.test(this.#text)) continue
      this.#at = this.#start = VALUE.lastIndex
      return true
    }
    return false
  }

  #next(): number {
    return ++this.#members > MEMBERS_MAX ? -1 : this.#text.indexOf(KEY, this.#at)
  }

  /** Goes on to the end of the value. Returns the steps that are left. */
  #skip(steps: number): number {
    const text = this.#text
    let at = this.#at
    let depth = this.#depth
    let isString = this.#isString
    let left = steps
    for (; left > 0 && at < text.length; left--) {
      const code = text.charCodeAt(at++)
      if (isString) {
        if (code === BACKSLASH) at++
        else if (code === QUOTE) isString = false
      } else if (code === QUOTE) isString = true
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
      else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) {
        if (at - this.#start > LONG_BYTES) this.spans.push({ start: this.#start, end: at })
        break
      }
    }
    // At the end of the text, the value is cut off.
    if (depth === 0 || at >= text.length) this.#start = -1
    this.#at = at
    this.#depth = this.#start < 0 ? 0 : depth
    this.#isString = this.#start < 0 ? false : isString
    return left
  }
}

export interface Shortened {
  /** The text with a short string in place of each value that was set aside. */
  readonly text: ByteText
  /** Puts the values back into a text that has been edited. */
  restore(text: ByteText): ByteText
}

/** Returns null if there are no long log probabilities. */
export function withoutLogprobs(text: ByteText): Shortened | null {
  if (text.length <= LONG_BYTES) return null
  const search = new Search(text)
  search.run(Number.POSITIVE_INFINITY)
  return shortened(text, search.spans)
}

/** Does what `withoutLogprobs` does, in many turns of the event loop. */
export async function withoutLogprobsInTurns(text: ByteText): Promise<Shortened | null> {
  const search = new Search(text)
  while (!(await inTurn(() => search.run(SEARCH_STEPS))));
  return shortened(text, search.spans)
}

function shortened(text: ByteText, spans: readonly Span[]): Shortened | null {
  if (spans.length === 0) return null
  // Random, so that it cannot occur in the text.
  const mark = `"${randomUUID()}:`
  const values = spans.map(({ start, end }) => text.slice(start, end))
  const parts = spans.map(({ start }, index) => {
    return joinBytes([text.slice(spans[index - 1]?.end ?? 0, start), ofCharacters(`${mark}${index}"`)])
  })
  return {
    text: joinBytes([...parts, text.slice(spans.at(-1)?.end)]),
    restore(edited) {
      const [first = '', ...others] = characters(edited).split(mark)
      if (others.length === 0) return edited
      const pieces = others.flatMap(other => {
        const end = other.indexOf('"')
        return [values[Number(other.slice(0, end))] ?? NO_BYTES, ofCharacters(other.slice(end + 1))]
      })
      return joinBytes([ofCharacters(first), ...pieces])
    },
  }
}
