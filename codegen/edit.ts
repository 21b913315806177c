/** Edits YAML text, preserving the comments, order and layout of everything else. */

import { isMap, isScalar, type Node, stringify } from 'yaml'
import { UsageError } from './findings.ts'
import type { Path, SourceFile } from './source.ts'

/** A range of the text and its replacement. */
export interface Edit {
  readonly from: number
  readonly to: number
  readonly text: string
}

/** Applies edits, which may be in any order but must not overlap. */
export function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((a, b) => b.from - a.from)
    .reduce((result, edit) => result.slice(0, edit.from) + edit.text + result.slice(edit.to), text)
}

/** Writes a value on one line, as the catalogue's files in `families/` do, with quotes where YAML requires them. */
export function flowText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`
  if (value === null || typeof value !== 'object') return scalarText(value)
  const members = Object.entries(value).map(([key, member]) => `${scalarText(key)}: ${flowText(member)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** Writes a scalar as an item of a flow collection, where more texts need quotes than elsewhere. */
function scalarText(value: unknown): string {
  return stringify([value], { collectionStyle: 'flow', lineWidth: 0 }).trim().slice(1, -1).trim()
}

/** Pads a line so that the given keys start in the same columns as in the line above, where possible. */
export function alignTo(above: string, line: string, keys: readonly string[]): string {
  if (above.includes('\n')) return line
  let aligned = line
  for (const key of keys) {
    const goal = above.indexOf(` ${key}: `)
    const at = aligned.indexOf(` ${key}: `)
    if (at >= 0 && goal > at) aligned = aligned.slice(0, at) + ' '.repeat(goal - at) + aligned.slice(at)
  }
  return aligned
}

/** Throws UsageError if there is no scalar at the path. */
export function replaceScalar(file: SourceFile, path: Path, value: string): Edit {
  const node = file.nodeAt(path)
  if (!isScalar(node)) throw new UsageError(`${file.path}: there is no ${path.join('.')} to change`)
  const [from, to] = rangeOf(node)
  return { from, to, text: value }
}

/** Adds a member to the mapping at a path, in the style of the mapping. Throws UsageError if none is written there. */
export function addMember(file: SourceFile, path: Path, member: string): Edit {
  const node = file.nodeAt(path)
  const last = isMap(node) ? node.items.at(-1) : undefined
  if (!isMap(node) || last === undefined) {
    throw new UsageError(`${file.path}:${file.locate(path).line}: write \`${member}\` there by hand`)
  }
  const [, end] = rangeOf(last.value ?? last.key)
  if (node.flow === true) return { from: end, to: end, text: `, ${member}` }
  const [start] = rangeOf(last.key)
  const at = endOfLine(file.text, end)
  return { from: at, to: at, text: `\n${file.text.slice(startOfLine(file.text, start), start)}${member}` }
}

/** Inserts an item on a new line after the list item at a path. */
export function insertAfterItem(file: SourceFile, path: Path, item: string): Edit {
  const [start, end] = rangeOf(nodeOf(file, path))
  const at = endOfLine(file.text, end)
  const aligned = alignTo(file.text.slice(start, end), item, ['price', 'upstream'])
  return { from: at, to: at, text: `\n${itemIndent(file, path)}- ${aligned}` }
}

/** Inserts lines before the list item at a path and before the comments above it. `lines` come without the item's indent. */
export function insertBeforeItem(file: SourceFile, path: Path, lines: readonly string[]): Edit {
  const indent = itemIndent(file, path)
  const [start] = rangeOf(nodeOf(file, path))
  let at = startOfLine(file.text, start)
  for (;;) {
    const above = startOfLine(file.text, at - 1)
    if (at === 0 || !file.text.slice(above, at).startsWith(`${indent}#`)) break
    at = above
  }
  return { from: at, to: at, text: lines.map(line => `${indent}${line}\n`).join('') }
}

/** The indent before the dash of the list item at a path. Throws UsageError when items share a line. */
export function itemIndent(file: SourceFile, path: Path): string {
  const [start] = rangeOf(nodeOf(file, path))
  const before = file.text.slice(startOfLine(file.text, start), start)
  const match = /^( *)- +$/.exec(before)
  if (match === null) {
    const { line } = file.locate(path)
    throw new UsageError(`${file.path}:${line}: give each item of this list a line of its own first`)
  }
  return match[1] as string
}

function nodeOf(file: SourceFile, path: Path): Node {
  const node = file.nodeAt(path)
  if (node === undefined) throw new UsageError(`${file.path}: there is no ${path.join('.')}`)
  return node
}

/** The offsets at which a parsed node starts and its value ends. */
export function rangeOf(node: unknown): readonly [number, number] {
  const { range } = node as Node
  if (range === null || range === undefined) throw new Error('a parsed node has a range')
  return [range[0], range[1]]
}

function startOfLine(text: string, offset: number): number {
  return offset <= 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1
}

function endOfLine(text: string, offset: number): number {
  // A block's value may include its final line break.
  const from = offset > 0 && text[offset - 1] === '\n' ? offset - 1 : offset
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}
