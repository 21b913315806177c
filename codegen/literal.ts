/** Writes data as TypeScript source, laid out the way the project's formatter does it. */

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/
const WIDTH = 120

/** Verbatim source text: a name, a call, a spread in a list. */
export class Code {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export interface MembersOptions {
  /** Whether to write one member per line, however short the object is. */
  readonly isMultiline?: boolean
  /** If set, wraps the object in an arrow function with these parameters, and writes one member per line. */
  readonly arrowParameters?: string
}

/** An object that spreads others before its own members. */
export class Members {
  readonly spreads: readonly string[]
  readonly own: readonly (readonly [key: string, value: unknown])[]
  readonly isMultiline: boolean
  readonly arrowParameters: string | null

  constructor(
    spreads: readonly string[],
    own: readonly (readonly [key: string, value: unknown])[],
    { isMultiline = false, arrowParameters }: MembersOptions = {},
  ) {
    this.spreads = spreads
    this.own = own
    this.isMultiline = (isMultiline || arrowParameters !== undefined) && this.own.length + spreads.length > 0
    this.arrowParameters = arrowParameters ?? null
  }
}

export interface Place {
  readonly indent: string
  /** Columns that are already taken on the line, before and after the value. */
  readonly before: number
  readonly after: number
}

/** Writes a value on one line if it fits, else with one member per line. May contain `Code` and `Members` at any depth. */
export function literal(value: unknown, place: Place = { indent: '', before: 0, after: 0 }): string {
  const atom = atomOf(value)
  if (atom !== null) return atom
  const room = WIDTH - place.before - place.after
  const line = onOneLine(value, room)
  if (line !== null && fits(line, room)) return line
  if (Array.isArray(value))
    return block(
      '[',
      value.map(item => itemLines(item, place.indent)),
      ']',
      place.indent,
      value,
    )
  const { spreads, own, arrowParameters } = membersOf(value as object)
  const deeper = `${place.indent}  `
  const lines = [
    ...spreads.map(name => `${deeper}...${name},`),
    ...own.map(([key, member]) => propertyLines(propertyName(key), member, deeper)),
  ]
  const object = `{\n${lines.join('\n')}\n${place.indent}}`
  return arrowParameters === null ? object : `${arrowParameters} => (${object})`
}

/** Writes an import statement. `names` must be sorted. */
export function importOf(names: readonly string[], from: string, type: '' | 'type' = ''): string {
  const head = type === '' ? 'import {' : 'import type {'
  const line = `${head} ${names.join(', ')} } from '${from}'`
  return line.length <= WIDTH ? line : `${head}\n${names.map(name => `  ${name},`).join('\n')}\n} from '${from}'`
}

/** Writes a type alias for a union. */
export function unionOf(name: string, members: readonly string[]): string {
  const line = `export type ${name} = ${members.join(' | ')}`
  return widthOf(line) <= WIDTH ? line : `export type ${name} =\n${members.map(member => `  | ${member}`).join('\n')}`
}

/** Returns the source of a value that is never split across lines; null for objects and lists. */
function atomOf(value: unknown): string | null {
  if (typeof value === 'string') return quote(value)
  if (value === null || typeof value !== 'object') return String(value)
  return value instanceof Code ? value.text : null
}

/** Writes a value on one line; null if it must be split or is wider than `room` columns. */
function onOneLine(value: unknown, room: number): string | null {
  const atom = atomOf(value)
  if (atom !== null) return atom
  let text = ''
  if (Array.isArray(value)) {
    if (mustSplit(value)) return null
    for (const item of value) {
      const line = onOneLine(item, room)
      if (line === null) return null
      text += text === '' ? line : `, ${line}`
      if (!fits(text, room)) return null
    }
    return `[${text}]`
  }
  const members = membersOf(value as object)
  if (members.isMultiline) return null
  for (const name of members.spreads) text += text === '' ? `...${name}` : `, ...${name}`
  for (const [key, member] of members.own) {
    const line = onOneLine(member, room)
    if (line === null) return null
    const { name } = propertyName(key)
    text += text === '' ? `${name}: ${line}` : `, ${name}: ${line}`
    if (!fits(text, room)) return null
  }
  return text === '' ? '{}' : `{ ${text} }`
}

function membersOf(value: object): Members {
  return value instanceof Members ? value : new Members([], Object.entries(value))
}

/**
 * Whether the formatter would split the list: it splits lists of several objects, and lists of lists with several members each.
 */
function mustSplit(items: readonly unknown[]): boolean {
  if (items.length < 2) return false
  if (items.every(Array.isArray)) return items.every(item => item.length > 1)
  return items.every(item => {
    if (item === null || typeof item !== 'object' || Array.isArray(item) || item instanceof Code) return false
    const { spreads, own } = membersOf(item)
    return spreads.length + own.length > 1
  })
}

function itemLines(item: unknown, indent: string): string {
  const deeper = `${indent}  `
  return `${deeper}${literal(item, { indent: deeper, before: deeper.length, after: 1 })},`
}

function block(
  open: string,
  lines: readonly string[],
  close: string,
  indent: string,
  items: readonly unknown[],
): string {
  const isNumeric = items.every(item => typeof item === 'number')
  return `${open}\n${isNumeric ? filled(items.map(String), `${indent}  `) : lines.join('\n')}\n${indent}${close}`
}

/** Lays out numbers in as few lines as possible. */
function filled(numbers: readonly string[], indent: string): string {
  const lines: string[] = []
  let line = indent
  for (const number of numbers) {
    const part = line === indent ? `${number},` : ` ${number},`
    if (line.length + part.length > WIDTH) {
      lines.push(line)
      line = `${indent}${number},`
    } else line += part
  }
  return [...lines, line].join('\n')
}

/** Writes a property. A long string goes on its own line, unless its key is hardly longer than the indent. */
function propertyLines({ name, width }: PropertyName, value: unknown, indent: string): string {
  const before = indent.length + width + 2
  const text = literal(value, { indent, before, after: 1 })
  const isLong = typeof value === 'string' && name.length > 2 && !fits(text, WIDTH - before - 1)
  return isLong ? `${indent}${name}:\n${indent}  ${text},` : `${indent}${name}: ${text},`
}

interface PropertyName {
  readonly name: string
  /** Width of the name, in columns. */
  readonly width: number
}

/** A cache. It needs no limit, because the only keys are those of the schemas and the catalogue. */
const propertyNames = new Map<string, PropertyName>()

function propertyName(key: string): PropertyName {
  let found = propertyNames.get(key)
  if (found === undefined) {
    // A computed name keeps `__proto__` a plain key.
    const name = key === '__proto__' ? `['__proto__']` : IDENTIFIER.test(key) ? key : quote(key)
    found = { name, width: widthOf(name) }
    propertyNames.set(key, found)
  }
  return found
}

/** Strings that need no escapes. */
const PLAIN = /^[\w ./:,+*()-]*$/

/** Quotes a string with whichever quotes need fewer escapes. */
export function quote(text: string): string {
  if (PLAIN.test(text)) return `'${text}'`
  const plain = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
  const escaped = plain.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
  const singles = text.split("'").length
  if (singles > text.split('"').length) return `"${escaped.replaceAll('"', '\\"')}"`
  return `'${escaped.replaceAll("'", "\\'")}'`
}

/** No character is wider than two columns, so short text need not be measured. */
function fits(text: string, room: number): boolean {
  return 2 * text.length <= room || widthOf(text) <= room
}

const NARROW = /^[\x20-\x7e]*$/
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u

/** Width in columns: two for wide East Asian characters, none for combining marks. */
function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length
  let width = 0
  for (const character of text) width += WIDE.test(character) ? 2 : /\p{M}|\p{Cf}/u.test(character) ? 0 : 1
  return width
}
