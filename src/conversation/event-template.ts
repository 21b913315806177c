/**
 * The fast lane of streams. Most events of a stream differ from the one before by the text of a delta alone: once one of
 * them has been read with care, the others are compared with its bytes and not parsed.
 */

import { isUtf8 } from 'node:buffer'
import { ascii, type ByteText, characters, concat, NO_BYTES, replaceOnce, toBuffer } from '../lib/byte-text.ts'

const QUOTE = 34
const BACKSLASH = 92
const ZERO = 48
const NINE = 57
const CONTROL_MAX = 31
const ASCII_MAX = 127
/** What may stand behind a backslash; `\u` has its own check. */
const ESCAPES = '"\\/bfnrt'

/** Members that differ from event to event and mean nothing: padding against guesses by the length of messages. */
const PADDING = [ascii('"obfuscation":"'), ascii('"obfuscation": "')] as const
/** The number of an event among those of its stream. */
const SEQUENCE = /"sequence_number": ?(?=\d)/

/** Events in a row that were learned from and then did not come again; a stream that does so is left alone. */
const LEARNED_IN_VAIN_MAX = 16

interface Hole {
  readonly start: number
  readonly end: number
}

/** An event with holes where strings stand, and its number. */
export class EventTemplate {
  /** What stands before, between and behind the holes. */
  readonly #literals: readonly ByteText[]
  /** Which hole is the event's number; -1: it has none. */
  readonly #numberHole: number
  /** Which hole is the delta's text. */
  readonly #textHole: number
  /** The literal that is given out in another form, its place, and that form. */
  readonly #rename: Rename | null
  /** One past the event that matched last. */
  end = 0
  /** The delta's text in that event as written: escaped, quotes left out. */
  text = NO_BYTES
  /** That text holds no bytes above 127. */
  textIsAscii = true
  #renamedFrom = 0
  #renamedTo = 0

  constructor(literals: readonly ByteText[], { text, number }: HoleIndexes, rename: Rename | null) {
    this.#literals = literals
    this.#textHole = text
    this.#numberHole = number
    this.#rename = rename
  }

  /** True for an event from `at` on that is this one but for what is in its holes; the delta's text is not empty. */
  match(all: ByteText, at: number): boolean {
    const literals = this.#literals
    const last = literals.length - 1
    let position = at
    for (let index = 0; ; index++) {
      const literal = literals[index] as ByteText
      const next = position + literal.length
      if (all.slice(position, next) !== literal) return false
      if (index === this.#rename?.literal) {
        this.#renamedFrom = position
        this.#renamedTo = next
      }
      position = next
      if (index === last) break
      const end =
        index === this.#numberHole
          ? endOfDigits(all, position)
          : this.#endOfString(all, position, index === this.#textHole)
      if (end < 0) return false
      if (index === this.#textHole) {
        if (end === position) return false
        this.text = all.slice(position, end)
      }
      position = end
    }
    this.end = position
    return true
  }

  /** The text of the event that matched last is UTF-8. */
  get isSound(): boolean {
    return this.textIsAscii || isUtf8(toBuffer(this.text))
  }

  /** The event that matched last as the client gets it. */
  emit(all: ByteText, at: number): ByteText {
    if (this.#rename === null) return all.slice(at, this.end)
    const { emitted } = this.#rename
    return concat(all.slice(at, this.#renamedFrom), emitted, all.slice(this.#renamedTo, this.end))
  }

  /** Where the string that begins at `at` ends, or -1 when it is not one that JSON allows. */
  #endOfString(all: ByteText, at: number, isText: boolean): number {
    let isAscii = true
    for (let position = at; ; position++) {
      const code = all.charCodeAt(position)
      if (code === QUOTE) {
        if (isText) this.textIsAscii = isAscii
        return position
      }
      if (code === BACKSLASH) {
        position++
        const escaped = characters(all)[position] ?? ''
        if (escaped === 'u' && /^[0-9a-fA-F]{4}$/.test(characters(all).slice(position + 1, position + 5))) position += 4
        else if (escaped === '' || !ESCAPES.includes(escaped)) return -1
      } else if (code > ASCII_MAX) isAscii = false
      // Not a number behind the end of the text.
      else if (!(code > CONTROL_MAX)) return -1
    }
  }
}

interface HoleIndexes {
  readonly text: number
  readonly number: number
}

interface Rename {
  readonly literal: number
  readonly emitted: ByteText
}

/** Where the digits end that begin at `at`, or -1 for none, and for more than any number of an event has. */
function endOfDigits(all: ByteText, at: number): number {
  let end = at
  while (isDigit(all.charCodeAt(end))) end++
  return end === at || end - at > DIGITS_MAX ? -1 : end
}

const DIGITS_MAX = 15

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

/** A member whose string is output, as it is written in an event. */
export type OutputMember =
  | '"content":'
  | '"reasoning_content":'
  | '"arguments":'
  | '"text":'
  | '"thinking":'
  | '"delta":'

/** Learns templates out of events that were read with care. */
export class TemplateLearner {
  #current: EventTemplate | null = null
  #inVain = 0

  get current(): EventTemplate | null {
    return this.#current
  }

  /** The template has served. */
  served(): void {
    this.#inVain = 0
  }

  /**
   * From an event whose only meaning is the string of `member` (as `"content":`), which is not empty. `rename` is a part of
   * it that the client gets in another form. Events of which it cannot be said for sure are left alone.
   */
  learn(
    raw: ByteText,
    member: OutputMember,
    rename: { readonly written: ByteText; readonly emitted: ByteText } | null = null,
  ): void {
    if (this.#inVain >= LEARNED_IN_VAIN_MAX) return
    this.#inVain++
    this.#current = learn(raw, member, rename)
  }
}

function learn(
  raw: ByteText,
  member: OutputMember,
  rename: { written: ByteText; emitted: ByteText } | null,
): EventTemplate | null {
  if (!raw.endsWith('\n')) return null
  const text = holeOf(raw, [ascii(`${member}"`), ascii(`${member} "`)])
  if (text === null) return null
  const padding = holeOf(raw, PADDING)
  const number = numberOf(raw)
  const holes = [text, padding, number].filter(hole => hole !== null).sort((a, b) => a.start - b.start)
  const indexes = { text: holes.indexOf(text), number: number === null ? -1 : holes.indexOf(number) }
  const literals: ByteText[] = []
  let from = 0
  for (const { start, end } of holes) {
    literals.push(raw.slice(from, start))
    from = end
  }
  literals.push(raw.slice(from))
  if (rename === null) return new EventTemplate(literals, indexes, null)
  const literal = literals.findIndex(part => part.includes(rename.written))
  if (literal < 0) return null
  const emitted = replaceOnce(literals[literal] as ByteText, rename.written, rename.emitted)
  return new EventTemplate(literals, indexes, { literal, emitted })
}

/** Where it stands twice, the second one is a literal like all else. Quotes inside strings are escaped. */
function numberOf(raw: ByteText): Hole | null {
  const found = SEQUENCE.exec(characters(raw))
  if (found === null) return null
  const start = found.index + found[0].length
  const end = endOfDigits(raw, start)
  return end < 0 ? null : { start, end }
}

/** The string value of the one member that begins so. Quotes inside strings are escaped, so it cannot stand in one. */
function holeOf(raw: ByteText, beginnings: readonly ByteText[]): Hole | null {
  for (const beginning of beginnings) {
    const at = raw.indexOf(beginning)
    if (at < 0) continue
    if (raw.includes(beginning, at + 1)) return null
    const start = at + beginning.length
    let end = start
    while (raw.charCodeAt(end) !== QUOTE) {
      if (end >= raw.length) return null
      end += raw.charCodeAt(end) === BACKSLASH ? 2 : 1
    }
    return { start, end }
  }
  return null
}
