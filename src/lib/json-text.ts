/**
 * Edits JSON as text: values are located and replaced in place, so that everything else stays as written (key order, numbers
 * above 2^53, unknown fields, keys named `__proto__`). The text must be valid JSON.
 */

import {
  ascii,
  type ByteText,
  characters,
  concat,
  decodeText,
  encodeText,
  joinBytes,
  NO_BYTES,
  ofCharacters,
} from './byte-text.ts'
import { addEdit, type BodyEdit, type EditTree, hasConflict, newTree } from './edit-tree.ts'
import { unescapeKey } from './json.ts'

export interface Member {
  readonly key: string
  /** Position of the key's opening quote. */
  readonly keyStart: number
  readonly valueStart: number
  /** Position after the value's last character. */
  readonly valueEnd: number
}

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

/** Longest JSON whose non-ASCII characters are escaped, in characters. In 20 MB, that takes seconds, and doubles the size. */
const ESCAPED_MAX = 16_384

/** JSON of a value, with every non-ASCII character escaped unless it is long. */
export function asciiJson(value: unknown): ByteText {
  const json = JSON.stringify(value)
  if (json.length > ESCAPED_MAX) return encodeText(json)
  const escaped = json.replace(/[\u007f-\uffff]/g, character => {
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

/** Edits the value at `at`. Returns the position after it. */
function editValue(text: ByteText, at: number, node: EditTree, splices: (Splice | null)[]): number {
  const { edit } = node
  if (edit !== null && edit.op !== 'remove') {
    const end = skipValue(text, at)
    splices.push({ start: at, end, text: replacement(text, at, edit) })
    return end
  }
  const code = text.charCodeAt(at)
  if (edit === null && code === OPEN_BRACE) return editObject(text, at, node, splices)
  if (edit === null && code === OPEN_BRACKET) return editArray(text, at, node, splices)
  return skipValue(text, at)
}

function editArray(text: ByteText, start: number, { children }: EditTree, splices: (Splice | null)[]): number {
  const byIndex = new Map([...children].map(([key, child]) => [Number(key), child]))
  let at = skipSpace(text, start + 1)
  for (let index = 0; text.charCodeAt(at) !== CLOSE_BRACKET; index++) {
    const child = byIndex.get(index)
    at = skipSpace(text, child === undefined ? skipValue(text, at) : editValue(text, at, child, splices))
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return at + 1
}

interface Found {
  /** Index of the member. */
  readonly index: number
  /** Where the member's splices begin and end. */
  readonly from: number
  readonly to: number
}

const NONE: ReadonlySet<number> = new Set()

function indexesOfRemoved(found: ReadonlyMap<EditTree, Found>): ReadonlySet<number> {
  return new Set([...found].filter(([child]) => child.edit?.op === 'remove').map(([, { index }]) => index))
}

function editObject(text: ByteText, start: number, { children }: EditTree, splices: (Splice | null)[]): number {
  const members: { readonly keyStart: number; readonly valueEnd: number }[] = []
  /** The last member of each key with edits. */
  const found = new Map<EditTree, Found>()
  let removes = false
  let at = skipSpace(text, start + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const keyStart = at
    const keyEnd = skipString(text, at)
    const child = children.get(decodeKey(text.slice(keyStart + 1, keyEnd - 1)))
    at = skipSpace(text, keyEnd)
    if (text.charCodeAt(at) !== COLON) throw new SyntaxError('a colon was expected')
    at = skipSpace(text, at + 1)
    let valueEnd: number
    if (child === undefined) valueEnd = skipValue(text, at)
    else {
      const earlier = found.get(child)
      if (earlier !== undefined) splices.fill(null, earlier.from, earlier.to)
      const from = splices.length
      valueEnd = editMember(text, at, child, splices)
      found.set(child, { index: members.length, from, to: splices.length })
      removes ||= child.edit?.op === 'remove'
    }
    members.push({ keyStart, valueEnd })
    at = skipSpace(text, valueEnd)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  const removed = removes ? indexesOfRemoved(found) : NONE
  if (found.size < children.size) {
    const added = addedMembers([...children].filter(([, child]) => !found.has(child)))
    const separator = members.length > removed.size ? ascii(',') : NO_BYTES
    const open = start + 1
    if (added.length > 0) splices.push({ start: open, end: open, text: concat(joinBytes(added, ','), separator) })
  }
  if (removed.size > 0) removeMembers(members, removed, splices)
  return at + 1
}

/** Edits a member's value. A scalar that has edits further in is replaced by an object. */
function editMember(text: ByteText, at: number, child: EditTree, splices: (Splice | null)[]): number {
  const code = text.charCodeAt(at)
  if (child.edit !== null || code === OPEN_BRACE || code === OPEN_BRACKET) return editValue(text, at, child, splices)
  const end = skipValue(text, at)
  const value = newValue(child)
  if (value !== null) splices.push({ start: at, end, text: value })
  return end
}

/** The value of a member that is missing; null if no edit sets it or anything in it. */
function newValue({ edit, children }: EditTree): ByteText | null {
  if (edit !== null) return edit.op === 'set' ? asciiJson(edit.value) : null
  const members = addedMembers([...children])
  return members.length === 0 ? null : concat(ascii('{'), joinBytes(members, ','), ascii('}'))
}

/** The text of missing members that are set, those set last first. */
function addedMembers(children: readonly (readonly [key: string, child: EditTree])[]): ByteText[] {
  const set = children.filter(([, { setAt }]) => setAt !== null)
  set.sort(([, left], [, right]) => (right.setAt as number) - (left.setAt as number))
  return set.map(([key, child]) => concat(asciiJson(key), ascii(':'), newValue(child) as ByteText))
}

/** Removes members, each together with a comma. */
function removeMembers(
  members: readonly { readonly keyStart: number; readonly valueEnd: number }[],
  removed: ReadonlySet<number>,
  splices: (Splice | null)[],
): void {
  const end = members.at(-1)!.valueEnd
  let lastKept = members.length - 1
  while (removed.has(lastKept)) lastKept--
  for (const index of removed) {
    if (index >= lastKept) continue
    splices.push({ start: members[index]!.keyStart, end: members[index + 1]!.keyStart, text: NO_BYTES })
  }
  if (lastKept < 0) splices.push({ start: members[0]!.keyStart, end, text: NO_BYTES })
  else if (lastKept < members.length - 1) splices.push({ start: members[lastKept]!.valueEnd, end, text: NO_BYTES })
}

/** Applies the edits in one pass over the text, because there may be thousands of them. */
function applyTree(text: ByteText, tree: EditTree): ByteText {
  const splices: (Splice | null)[] = []
  editValue(text, skipSpace(text, 0), tree, splices)
  const [first] = splices
  if (first && splices.length === 1) return concat(text.slice(0, first.start), first.text, text.slice(first.end))
  const inOrder = splices.filter(splice => splice !== null).sort((left, right) => left.start - right.start)
  const parts: ByteText[] = []
  let from = 0
  for (const splice of inOrder) {
    parts.push(text.slice(from, splice.start), splice.text)
    from = splice.end
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
  let edited = text
  let tree = newTree()
  for (const [at, edit] of edits.entries()) {
    const keys = edit.path.slice(1).split('/').map(unescapeKey)
    if (hasConflict(tree, keys)) {
      edited = applyTree(edited, tree)
      tree = newTree()
    }
    addEdit(tree, keys, { edit, at })
  }
  return tree.children.size === 0 ? edited : applyTree(edited, tree)
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
