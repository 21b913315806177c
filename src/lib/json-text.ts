/**
 * Edits JSON as text: values are located and replaced in place, so that everything else stays as written (key order, numbers
 * above 2^53, unknown fields, keys named `__proto__`). The text must be valid JSON.
 */

import { ascii, type ByteText, characters, concat, decodeText, joinBytes, NO_BYTES, ofCharacters } from './byte-text.ts'
import { unescapeKey } from './json.ts'

export interface Member {
  readonly key: string
  /** Position of the key's opening quote. */
  readonly keyStart: number
  readonly valueStart: number
  /** Position after the value's last character. */
  readonly valueEnd: number
}

export type BodyEdit =
  | { readonly op: 'set'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string }
  | { readonly op: 'arrange'; readonly path: string; readonly items: readonly ArrangedItem[] }

/** An element of a rearranged list: the old element at index `from` with edits applied to it, or a new value. */
export type ArrangedItem = { readonly from: number; readonly edits: readonly BodyEdit[] } | { readonly value: unknown }

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACE = 123
const CLOSE_BRACE = 125
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const COMMA = 44
const COLON = 58

function skipSpace(text: ByteText, at: number): number {
  let code = text.charCodeAt(at)
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at)
  return at
}

/** Position after the closing quote of the string that opens at `at`. */
function skipString(text: ByteText, at: number): number {
  let end = text.indexOf('"', at + 1)
  while (text.charCodeAt(end - 1) === BACKSLASH) {
    let backslashes = 1
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes++
    if (backslashes % 2 === 0) break
    end = text.indexOf('"', end + 1)
  }
  return end + 1
}

/** Deepest nesting allowed, because tree walks recurse once per level. */
export const NESTING_MAX = 500

/** Thrown for text that is nested deeper than NESTING_MAX. */
export class NestingError extends SyntaxError {}

/** Position after the value that begins at `at`. Throws NestingError. */
export function skipValue(text: ByteText, at: number): number {
  const first = text.charCodeAt(at)
  if (first === QUOTE) return skipString(text, at)
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) {
    for (;;) {
      const code = text.charCodeAt(at)
      if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET || code <= 32 || Number.isNaN(code))
        return at
      at++
    }
  }
  let depth = 0
  for (;;) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = skipString(text, at)
      continue
    }
    if (Number.isNaN(code)) throw new SyntaxError('unbalanced JSON text')
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++depth > NESTING_MAX) throw new NestingError(`nested deeper than ${NESTING_MAX} levels`)
    } else if ((code === CLOSE_BRACE || code === CLOSE_BRACKET) && --depth === 0) return at + 1
    at++
  }
}

/** Decodes a key: resolves escapes and reads bytes as UTF-8. */
export function decodeKey(written: ByteText): string {
  if (!/[\\\u0080-\u00ff]/.test(characters(written))) return characters(written)
  return JSON.parse(`"${decodeText(written)}"`) as string
}

/**
 * Lists the members of the object at `start`, in the order written and with duplicates. White space may precede its opening
 * brace.
 */
export function membersOf(text: ByteText, start = 0): Member[] {
  const members: Member[] = []
  let at = skipSpace(text, skipSpace(text, start) + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const keyStart = at
    const keyEnd = skipString(text, at)
    const key = decodeKey(text.slice(keyStart + 1, keyEnd - 1))
    at = skipSpace(text, keyEnd)
    if (text.charCodeAt(at) !== COLON) throw new SyntaxError('a colon was expected')
    const valueStart = skipSpace(text, at + 1)
    const valueEnd = skipValue(text, valueStart)
    members.push({ key, keyStart, valueStart, valueEnd })
    at = skipSpace(text, valueEnd)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return members
}

/** Positions of the elements of the array that begins at `start`. */
export function elementsOf(text: ByteText, start: number): { start: number; end: number }[] {
  const elements: { start: number; end: number }[] = []
  let at = skipSpace(text, start + 1)
  while (text.charCodeAt(at) !== CLOSE_BRACKET) {
    const end = skipValue(text, at)
    elements.push({ start: at, end })
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return elements
}

/** JSON of a value with every non-ASCII character escaped. */
export function asciiJson(value: unknown): ByteText {
  const escaped = JSON.stringify(value).replace(/[\u007f-\uffff]/g, character => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  return ofCharacters(escaped)
}

export function replacement(text: ByteText, at: number, edit: Exclude<BodyEdit, { op: 'remove' }>): ByteText {
  if (edit.op === 'set') return asciiJson(edit.value)
  const elements = text.charCodeAt(at) === OPEN_BRACKET ? elementsOf(text, at) : []
  const items = edit.items.flatMap(item => {
    if ('value' in item) return [asciiJson(item.value)]
    const element = elements[item.from]
    return element === undefined ? [] : [editJson(text.slice(element.start, element.end), item.edits)]
  })
  return concat(ascii('['), joinBytes(items, ','), ascii(']'))
}

interface Splice {
  readonly start: number
  readonly end: number
  readonly text: ByteText
}

/** The splice that removes a member, together with a comma. */
function removalOf(members: readonly Member[], index: number): Splice {
  const member = members[index] as Member
  const next = members[index + 1]
  if (next) return { start: member.keyStart, end: next.keyStart, text: NO_BYTES }
  const previous = members[index - 1]
  return { start: previous ? previous.valueEnd : member.keyStart, end: member.valueEnd, text: NO_BYTES }
}

function editObject(text: ByteText, start: number, tokens: readonly string[], edit: BodyEdit): ByteText {
  const token = unescapeKey(tokens[0] as string)
  const members = membersOf(text, start)
  const index = members.findLastIndex(member => member.key === token)
  const present = members[index]
  const opening = present ? text.charCodeAt(present.valueStart) : 0
  if (present && tokens.length > 1 && (opening === OPEN_BRACE || opening === OPEN_BRACKET)) {
    return editAt(text, present.valueStart, tokens.slice(1), edit)
  }
  if (edit.op === 'remove' && tokens.length > 1) return text
  if (edit.op === 'remove') return index < 0 ? text : applySplice(text, removalOf(members, index))
  if (present && tokens.length === 1) {
    const { valueStart, valueEnd } = present
    return applySplice(text, { start: valueStart, end: valueEnd, text: replacement(text, valueStart, edit) })
  }
  if (edit.op === 'arrange') return text
  const value = asciiJson(tokens.slice(1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), edit.value))
  if (present) return applySplice(text, { start: present.valueStart, end: present.valueEnd, text: value })
  const open = skipSpace(text, start) + 1
  const separator = members.length > 0 ? ascii(',') : NO_BYTES
  return applySplice(text, { start: open, end: open, text: concat(asciiJson(token), ascii(':'), value, separator) })
}

function editAt(text: ByteText, at: number, tokens: readonly string[], edit: BodyEdit): ByteText {
  const code = text.charCodeAt(at)
  if (code === OPEN_BRACE) return editObject(text, at, tokens, edit)
  if (code !== OPEN_BRACKET || tokens.length < 2) {
    const element = code === OPEN_BRACKET ? elementsOf(text, at)[Number(tokens[0])] : undefined
    if (!element || edit.op === 'remove') return text
    return applySplice(text, { ...element, text: replacement(text, element.start, edit) })
  }
  const element = elementsOf(text, at)[Number(tokens[0])]
  return element ? editAt(text, element.start, tokens.slice(1), edit) : text
}

function applySplice(text: ByteText, splice: Splice): ByteText {
  return concat(text.slice(0, splice.start), splice.text, text.slice(splice.end))
}

interface Step {
  /** The pointer tokens that are left, relative to the current value. */
  readonly tokens: readonly string[]
  readonly edit: BodyEdit
}

function inside(steps: readonly Step[]): Step[] {
  return steps.map(({ tokens, edit }) => ({ tokens: tokens.slice(1), edit }))
}

/** Applies all edits to a value. Scans each part of the text only once, because a body may need an edit for each message. */
function editAll(text: ByteText, steps: readonly Step[]): ByteText {
  const start = skipSpace(text, 0)
  if (text.charCodeAt(start) === OPEN_BRACKET && steps.every(({ tokens }) => tokens.length > 1)) {
    return editElements(text, start, steps)
  }
  let edited = text
  for (let from = 0, to = 1; from < steps.length; from = to++) {
    while (steps[to]?.tokens[0] === steps[from]?.tokens[0]) to++
    edited = editMember(edited, steps.slice(from, to))
  }
  return edited
}

/** Applies edits that all concern the same member. */
function editMember(text: ByteText, steps: readonly Step[]): ByteText {
  const start = skipSpace(text, 0)
  const isDeep = steps.length > 1 && steps.every(({ tokens }) => tokens.length > 1)
  const key = unescapeKey(steps[0]?.tokens[0] as string)
  const member =
    isDeep && text.charCodeAt(start) === OPEN_BRACE
      ? membersOf(text, start).findLast(one => one.key === key)
      : undefined
  const opening = member ? text.charCodeAt(member.valueStart) : 0
  if (member === undefined || (opening !== OPEN_BRACE && opening !== OPEN_BRACKET)) {
    return steps.reduce((edited, { tokens, edit }) => editAt(edited, skipSpace(edited, 0), tokens, edit), text)
  }
  const { valueStart, valueEnd } = member
  const value = editAll(text.slice(valueStart, valueEnd), inside(steps))
  return applySplice(text, { start: valueStart, end: valueEnd, text: value })
}

/** Applies edits inside the elements of an array. No edit removes an element, so edits of different elements are independent. */
function editElements(text: ByteText, start: number, steps: readonly Step[]): ByteText {
  const byIndex = Map.groupBy(steps, ({ tokens }) => Number(tokens[0]))
  const parts: ByteText[] = []
  let from = 0
  for (const [index, element] of elementsOf(text, start).entries()) {
    const own = byIndex.get(index)
    if (own === undefined) continue
    parts.push(text.slice(from, element.start), editAll(text.slice(element.start, element.end), inside(own)))
    from = element.end
  }
  parts.push(text.slice(from))
  return joinBytes(parts)
}

/**
 * Applies edits to an object one after the other. Paths are RFC 6901 pointers. `set` creates missing members; a scalar in the
 * middle of the path is replaced by an object. `remove` and `arrange` do nothing if the path does not exist. Array elements can
 * be edited or replaced, but not removed.
 */
export function editJson(text: ByteText, edits: readonly BodyEdit[]): ByteText {
  const steps = edits.map(edit => ({ tokens: edit.path.slice(1).split('/'), edit }))
  return editAll(text, steps)
}

/** Keeps only the last of duplicate members, so that the gateway and the upstream read the same value. */
export function withoutDuplicates(text: ByteText, members: readonly Member[]): ByteText {
  const last = new Map(members.map(member => [member.key, member]))
  const kept = members.filter(member => last.get(member.key) === member)
  const written = kept.map(member => text.slice(member.keyStart, member.valueEnd))
  return concat(ascii('{'), joinBytes(written, ','), ascii('}'))
}

/** Up to this many keys, comparing each pair is faster than building a set. */
const FEW_MEMBERS = 16

export function hasDuplicates(members: readonly Member[]): boolean {
  if (members.length > FEW_MEMBERS) return new Set(members.map(member => member.key)).size < members.length
  return members.some(({ key }, index) => {
    for (let before = 0; before < index; before++) if (members[before]?.key === key) return true
    return false
  })
}
