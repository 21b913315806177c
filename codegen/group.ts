/** Builds a YAML mapping from old and new members, and writes it. Unchanged values keep their text. */

import { isMap, isScalar, isSeq } from 'yaml'
import { flowText, rangeOf } from './edit.ts'

export interface Member {
  /** Comments and empty lines above the member. */
  readonly above: readonly string[]
  /** The comment after the member on the same line, or ''. */
  readonly behind: string
  readonly value: Group | Passage | NewValue
}

/** A value that is copied from the file as written. */
export interface Passage {
  readonly node: unknown
  readonly text: string
}

/** A value that is not copied from the file. */
export interface NewValue {
  readonly data: unknown
  /** The value's anchor, as `anchorOf` returns it. */
  readonly anchor: string
}

/** Maximum width of a group written on one line, in columns. */
const WIDTH = 120

export class Group {
  readonly members = new Map<string, Member>()
  /** Whether to write the group over several lines even if it would fit on one. */
  isSpread: boolean
  /** Comments after the last member of the group. */
  tail: readonly string[] = []
  /** The group's anchor, as `anchorOf` returns it. */
  anchor = ''

  constructor(isSpread: boolean) {
    this.isSpread = isSpread
  }

  /**
   * Returns the group of the member `name`, creating it if necessary, and takes over the comments that the group has in the
   * file: those at the member, and `tail`, those after its last value.
   */
  open(name: string, { above, behind }: Member, isSpread: boolean, tail: readonly string[]): Group {
    const known = this.members.get(name)
    const group = known?.value instanceof Group ? known.value : new Group(isSpread)
    group.isSpread ||= isSpread
    group.tail = tail
    this.members.set(name, { above: [...(known?.above ?? []), ...above], behind, value: group })
    return group
  }

  /** Adds comments above the first member. */
  addAbove(comments: readonly string[]): void {
    if (comments.length === 0) return
    const [first] = this.members
    if (first === undefined) this.tail = [...comments, ...this.tail]
    else this.members.set(first[0], { ...first[1], above: [...comments, ...first[1].above] })
  }

  /**
   * Adds a member at a path, creating groups as needed. The comments above the member go above the outermost group that it
   * creates.
   */
  add([name = '', ...rest]: readonly string[], member: Member): void {
    if (rest.length === 0) {
      this.members.set(name, member)
      return
    }
    const known = this.members.get(name)?.value
    if (known instanceof Group) known.add(rest, member)
    else {
      const group = new Group(false)
      this.members.set(name, { above: member.above, behind: '', value: group })
      group.add(rest, { ...member, above: [] })
    }
  }
}

/** Returns the lines of a group. The first line starts at `column`; the others are indented to it. */
export function layOut(group: Group, column: number): string[] {
  const lines = group.isSpread && group.members.size > 0 ? spreadLines(group, column) : flowLines(group)
  return lines.map((line, index) => (index === 0 || line === '' ? line : ' '.repeat(column) + line))
}

function spreadLines(group: Group, column: number): string[] {
  const lines = [...group.members].flatMap(([name, member]) => [...member.above, ...memberLines(name, member, column)])
  return [...lines, ...group.tail]
}

function memberLines(name: string, { behind, value }: Member, column: number): string[] {
  if (value instanceof Group) {
    const line = needsLines(value) || value.isSpread ? undefined : `${name}: ${flowOf(value)}`
    if (line !== undefined && column + line.length <= WIDTH) return [line + behind]
    return [
      `${name}:${lead(value.anchor)}${behind}`,
      ...spreadLines(value, column + 2).map(each => (each === '' ? '' : `  ${each}`)),
    ]
  }
  if ('data' in value) return newLines(name, value, behind)
  if (isBlock(value))
    return [`${name}:${lead(anchorOf(value.node))}`, ...blockLines(value).map(each => (each === '' ? '' : `  ${each}`))]
  return [`${name}: ${flowOf(value)}${behind}`]
}

/** Writes a mapping one member per line, and any other value on one line. */
function newLines(name: string, value: NewValue, behind: string): string[] {
  const { data, anchor } = value
  if (data === null || typeof data !== 'object' || Array.isArray(data)) return [`${name}: ${flowOf(value)}${behind}`]
  return [
    `${name}:${lead(anchor)}${behind}`,
    ...Object.entries(data).map(([key, value]) => `  ${flowText(key)}: ${flowText(value)}`),
  ]
}

/** Writes a group on one line, or one line per member if there are comments. */
function flowLines(group: Group): string[] {
  if (!needsLines(group)) return [flowOf(group)]
  const members = [...group.members].flatMap(([name, { above, behind, value }]) => [
    ...above,
    ...(value instanceof Group ? commentsWithin(value) : []),
    `${name}: ${flowOf(value)},${behind}`,
  ])
  return ['{', ...[...members, ...group.tail].map(line => (line === '' ? '' : `  ${line}`)), '}']
}

/** Comments that would be lost if the group were written on one line. */
function commentsWithin({ members, tail }: Group): string[] {
  const inside = [...members.values()].flatMap(({ above, behind, value }) => [
    ...above.filter(line => line !== ''),
    ...(value instanceof Group ? commentsWithin(value) : []),
    ...(behind === '' ? [] : [behind.trim()]),
  ])
  return [...inside, ...tail]
}

/** Returns `&name ` for a value with an anchor, else ''. */
export function anchorOf(node: unknown): string {
  const { anchor } = (node ?? {}) as { anchor?: string }
  return anchor === undefined ? '' : `&${anchor} `
}

/** Formats an anchor to follow a key at the end of a line. */
function lead(anchor: string): string {
  return anchor === '' ? '' : ` ${anchor.trimEnd()}`
}

function flowOf(value: Member['value']): string {
  if (value instanceof Group) {
    const members = [...value.members].map(([name, member]) => `${name}: ${flowOf(member.value)}`)
    return value.anchor + (members.length === 0 ? '{}' : `{ ${members.join(', ')} }`)
  }
  if ('data' in value) return value.anchor + flowText(value.data)
  const [from, to] = rangeOf(value.node)
  const text = value.text.slice(from, to).trimEnd()
  return anchorOf(value.node) + (isScalar(value.node) && text === '' ? 'null' : text)
}

function isBlock({ node }: Passage): boolean {
  return (isMap(node) || isSeq(node)) && node.flow !== true
}

/** Returns the lines of a block of the file, without indentation. */
function blockLines({ node, text }: Passage): string[] {
  const [from, to] = rangeOf(node)
  const column = from - (text.lastIndexOf('\n', from - 1) + 1)
  const { commentBefore } = node as { commentBefore?: string | null }
  const lines = (' '.repeat(column) + text.slice(from, to).trimEnd()).split(/\r?\n/)
  const body = lines.map(line => (line.slice(0, column).trim() === '' ? line.slice(column) : line.trimStart()))
  return [...commentLines(commentBefore), ...body]
}

/** Splits a parsed comment into lines, each with its `#`. */
export function commentLines(comment: string | null | undefined): string[] {
  return comment?.split('\n').map(line => (line === '' ? '' : `#${line}`)) ?? []
}

/** Whether the group cannot be written on one line, because it contains comments or multi-line values. */
function needsLines({ members, tail }: Group): boolean {
  if (tail.length > 0) return true
  return [...members.values()].some(({ above, behind, value }) => {
    if (above.some(line => line !== '') || behind !== '') return true
    return value instanceof Group ? needsLines(value) : 'node' in value && isBlock(value)
  })
}
