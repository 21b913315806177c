/**
 * The fast path of streams. Most events differ from the previous one only in the text of a delta, so once an event has been
 * parsed, later events are compared with its bytes instead of being parsed.
 */

import { ascii, type ByteText, characters, concat, NO_BYTES, replaceOnce } from '../lib/byte-text.ts'

const QUOTE = 34
const BACKSLASH = 92
const ZERO = 48
const NINE = 57
const CONTROL_MAX = 31
const ASCII_MAX = 127
/** Characters that may follow a backslash; `\u` is checked separately. */
const ESCAPES = '"\\/bfnrt'

/** The member that pads events to hide message lengths from eavesdroppers. Its value varies but means nothing. */
const PADDING = [ascii('"obfuscation":"'), ascii('"obfuscation": "')] as const
/** Finds the event's number within its stream. */
const SEQUENCE = /"sequence_number": ?(?=\d)/

/** Maximum number of templates learned in a row without a match. After that, learning stops for the rest of the stream. */
const LEARNED_IN_VAIN_MAX = 16

export interface Hole {
  readonly start: number
  readonly end: number
}

/** The bytes of an event, with holes for its variable strings and its sequence number. */
export class EventTemplate {
  /** The text before, between and after the holes. */
  readonly #literals: readonly ByteText[]
  /** Index of the hole for the event's sequence number; -1 if it has no number. */
  readonly #numberHole: number
  /** Index of the hole for the delta's text. */
  readonly #textHole: number
  /** The literal to replace before events go to the client, and its replacement. */
  readonly #rename: Rename | null
  /** Offset after the last event that the latest `run` matched. */
  end = 0
  /** Bytes of the deltas that the latest `run` returned. */
  textBytes = 0
  #text = NO_BYTES
  /**
   * Where the literal to replace begins: `#renamedAt` in the event just matched, `#renamed` in each event of the latest `run`.
   */
  #renamedAt = 0
  readonly #renamed: number[] = []

  constructor(literals: readonly ByteText[], { text, number }: HoleIndexes, rename: Rename | null) {
    this.#literals = literals
    this.#textHole = text
    this.#numberHole = number
    this.#rename = rename
  }

  /**
   * Matches consecutive events, starting at `at`, that equal the template except in their holes and have non-empty deltas, which
   * together have at most `textBytesMax` bytes. Returns the deltas as escaped JSON string content, without quotes.
   */
  run(all: ByteText, at: number, textBytesMax: number): readonly ByteText[] {
    const texts: ByteText[] = []
    this.end = at
    this.textBytes = 0
    this.#renamed.length = 0
    for (let end = this.#match(all, at); end > 0; end = this.#match(all, end)) {
      const textBytes = this.textBytes + this.#text.length
      if (textBytes > textBytesMax) break
      this.textBytes = textBytes
      texts.push(this.#text)
      if (this.#rename !== null) this.#renamed.push(this.#renamedAt)
      this.end = end
    }
    return texts
  }

  /** Returns the events that the latest `run` matched, as the client gets them. `at` is where that run started. */
  emit(all: ByteText, at: number): ByteText {
    if (this.#rename === null) return all.slice(at, this.end)
    const { literal, emitted } = this.#rename
    const { length } = this.#literals[literal] as ByteText
    let events = NO_BYTES
    let from = at
    for (const renamedAt of this.#renamed) {
      events = concat(events, all.slice(from, renamedAt), emitted)
      from = renamedAt + length
    }
    return concat(events, all.slice(from, this.end))
  }

  /** Returns the offset after the event at `at`; -1 if the event does not match. */
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

/**
 * Returns the offset of the closing quote of the JSON string whose content begins at `at`; -1 if the string is invalid or
 * incomplete.
 */
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
    // Written as a negation because `code` is NaN at the end of the text, which must fail too.
    else if (!(code > CONTROL_MAX)) return -1
  }
}

/** Returns the offset of the last byte of the non-ASCII character at `at`; -1 if it is not valid UTF-8 (RFC 3629, section 4). */
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

/** Returns the offset after the digits at `at`; -1 if there are none, or more than a sequence number can have. */
export function endOfDigits(all: ByteText, at: number): number {
  let end = at
  while (isDigit(all.charCodeAt(end))) end++
  return end === at || end - at > DIGITS_MAX ? -1 : end
}

const DIGITS_MAX = 15

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

/** A JSON key, with its quotes and colon, whose string value is model output. */
export type OutputMember =
  | '"content":'
  | '"reasoning_content":'
  | '"arguments":'
  | '"partial_json":'
  | '"text":'
  | '"thinking":'
  | '"delta":'

/** Builds templates from events that have been parsed in full. */
export class TemplateLearner {
  #current: EventTemplate | null = null
  #inVain = 0

  get current(): EventTemplate | null {
    return this.#current
  }

  /** Call this when the template has matched. */
  served(): void {
    this.#inVain = 0
  }

  /**
   * Learns a template from an event whose only output is the non-empty string `member` (such as `"content":`). `rename` is a part
   * of the event that must be replaced for the client. No template is learned if `member` is missing or occurs more than once, or
   * if `rename` is missing.
   */
  learn(
    raw: ByteText,
    member: OutputMember,
    rename: { readonly written: ByteText; readonly emitted: ByteText } | null = null,
  ): void {
    if (this.#inVain >= LEARNED_IN_VAIN_MAX) {
      // The caller takes what matches the template for more of what this event carries.
      this.#current = null
      return
    }
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

/**
 * Finds the event's first sequence number. A match cannot be inside a string, where quotes are escaped. Only this number may
 * vary; any further one must be the same in every event.
 */
export function numberOf(raw: ByteText): Hole | null {
  const found = SEQUENCE.exec(characters(raw))
  if (found === null) return null
  const start = found.index + found[0].length
  const end = endOfDigits(raw, start)
  return end < 0 ? null : { start, end }
}

/**
 * Finds the string value of the only member whose text starts with one of these prefixes; null if there is none, or more than
 * one. A prefix cannot match inside a string, because quotes are escaped there.
 */
function holeOf(raw: ByteText, prefixes: readonly ByteText[]): Hole | null {
  for (const prefix of prefixes) {
    const at = raw.indexOf(prefix)
    if (at < 0) continue
    if (raw.includes(prefix, at + 1)) return null
    const start = at + prefix.length
    let end = start
    while (raw.charCodeAt(end) !== QUOTE) {
      if (end >= raw.length) return null
      end += raw.charCodeAt(end) === BACKSLASH ? 2 : 1
    }
    return { start, end }
  }
  return null
}
