/**
 * The fast path of streams. Most events differ from the previous one only in the text of a delta. Once one of them has
 * been parsed, later ones are compared with its bytes instead of being parsed.
 */

import { ascii, type ByteText, characters, joinBytes, NO_BYTES, replaceOnce } from '../lib/byte-text.ts'

const QUOTE = 34
const BACKSLASH = 92
const ZERO = 48
const NINE = 57
const CONTROL_MAX = 31
const ASCII_MAX = 127
/** Characters that may follow a backslash; `\u` is checked separately. */
const ESCAPES = '"\\/bfnrt'

/** Members that vary between events without meaning: padding that hides message lengths from eavesdroppers. */
const PADDING = [ascii('"obfuscation":"'), ascii('"obfuscation": "')] as const
/** The event's number within its stream. */
const SEQUENCE = /"sequence_number": ?(?=\d)/

/** Templates learned in a row without a match, after which learning stops for the rest of the stream. */
const LEARNED_IN_VAIN_MAX = 16

interface Hole {
  readonly start: number
  readonly end: number
}

/** An event with holes in place of its variable strings and its number. */
export class EventTemplate {
  /** The text before, between and after the holes. */
  readonly #literals: readonly ByteText[]
  /** Index of the hole for the event's number; -1 without one. */
  readonly #numberHole: number
  /** Index of the hole for the delta's text. */
  readonly #textHole: number
  /** The literal that clients get in another form, and that form. */
  readonly #rename: Rename | null
  /** Offset of the end of the last run's events. */
  end = 0
  /** The delta's text in the event just matched. */
  #text = NO_BYTES
  /** Where the literal that clients get in another form begins, in the event just matched and in all of the last run. */
  #renamedAt = 0
  readonly #renamed: number[] = []

  constructor(literals: readonly ByteText[], { text, number }: HoleIndexes, rename: Rename | null) {
    this.#literals = literals
    this.#textHole = text
    this.#numberHole = number
    this.#rename = rename
  }

  /**
   * Matches the events from `at` on that equal this one except in their holes, with non-empty deltas. Returns the deltas
   * as written in JSON: escaped, without quotes.
   */
  run(all: ByteText, at: number): readonly ByteText[] {
    const texts: ByteText[] = []
    this.end = at
    this.#renamed.length = 0
    for (let end = this.#match(all, at); end > 0; end = this.#match(all, end)) {
      texts.push(this.#text)
      if (this.#rename !== null) this.#renamed.push(this.#renamedAt)
      this.end = end
    }
    return texts
  }

  /** The events of the last run, which began at `at`, in the form for the client. */
  emit(all: ByteText, at: number): ByteText {
    if (this.#rename === null) return all.slice(at, this.end)
    const { literal, emitted } = this.#rename
    const { length } = this.#literals[literal] as ByteText
    const kept: ByteText[] = []
    let from = at
    for (const renamedAt of this.#renamed) {
      kept.push(all.slice(from, renamedAt))
      from = renamedAt + length
    }
    kept.push(all.slice(from, this.end))
    return joinBytes(kept, emitted)
  }

  /** Offset of the end of the event at `at`; -1 if it does not match. */
  #match(all: ByteText, at: number): number {
    const literals = this.#literals
    const last = literals.length - 1
    let position = at
    for (let index = 0; ; index++) {
      const literal = literals[index] as ByteText
      const start = position
      position += literal.length
      if (all.slice(start, position) !== literal) return -1
      if (index === this.#rename?.literal) this.#renamedAt = start
      if (index === last) break
      const end = index === this.#numberHole ? endOfDigits(all, position) : endOfString(all, position)
      if (end < 0) return -1
      if (index === this.#textHole) {
        if (end === position) return -1
        this.#text = all.slice(position, end)
      }
      position = end
    }
    return position
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

/** Offset of the end of the JSON string that begins at `at`; -1 if it is invalid or incomplete. */
function endOfString(all: ByteText, at: number): number {
  for (let position = at; ; position++) {
    const code = all.charCodeAt(position)
    if (code === QUOTE) return position
    if (code > ASCII_MAX) {
      position = endOfCharacter(all, position)
      if (position < 0) return -1
    } else if (code === BACKSLASH) {
      position++
      const escaped = characters(all)[position] ?? ''
      if (escaped === 'u' && /^[0-9a-fA-F]{4}$/.test(characters(all).slice(position + 1, position + 5))) position += 4
      else if (escaped === '' || !ESCAPES.includes(escaped)) return -1
    }
    // Also true at the end of the text, where `code` is NaN.
    else if (!(code > CONTROL_MAX)) return -1
  }
}

/** Offset of the last byte of the character at `at`, which is not ASCII; -1 if it is not UTF-8 (RFC 3629, section 4). */
function endOfCharacter(all: ByteText, at: number): number {
  const first = all.charCodeAt(at)
  const further = first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3
  const min = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80
  const max = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf
  const second = all.charCodeAt(at + 1)
  if (further === 0 || !(second >= min && second <= max)) return -1
  for (let position = at + 2; position <= at + further; position++) {
    if ((all.charCodeAt(position) & 0xc0) !== 0x80) return -1
  }
  return at + further
}

/** Offset of the end of the digits at `at`; -1 if there are none, or more than an event's number can have. */
function endOfDigits(all: ByteText, at: number): number {
  let end = at
  while (isDigit(all.charCodeAt(end))) end++
  return end === at || end - at > DIGITS_MAX ? -1 : end
}

const DIGITS_MAX = 15

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

/** A member whose string value is output, spelled as in the events. */
export type OutputMember =
  | '"content":'
  | '"reasoning_content":'
  | '"arguments":'
  | '"partial_json":'
  | '"text":'
  | '"thinking":'
  | '"delta":'

/** Builds templates from events that were parsed in full. */
export class TemplateLearner {
  #current: EventTemplate | null = null
  #inVain = 0

  get current(): EventTemplate | null {
    return this.#current
  }

  /** Call it when the template has matched. */
  served(): void {
    this.#inVain = 0
  }

  /**
   * Learns from an event whose only meaning is the non-empty string of `member` (such as `"content":`). `rename`: a
   * part of the event that the client gets in another form. Ambiguous events give no template.
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

/** The event's number. It cannot be inside a string, where quotes are escaped. A second one is part of a literal. */
function numberOf(raw: ByteText): Hole | null {
  const found = SEQUENCE.exec(characters(raw))
  if (found === null) return null
  const start = found.index + found[0].length
  const end = endOfDigits(raw, start)
  return end < 0 ? null : { start, end }
}

/**
 * The place of the value of the only member with such a beginning; null if there is none, or more than one. A match cannot
 * be inside a string, where quotes are escaped.
 */
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
