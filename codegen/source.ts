/** Catalogue files: their text, their parsed value, and the location of each value in the text. */

import { isUtf8 } from 'node:buffer'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml'
import { compareText, type Finding } from './findings.ts'
import { type Parsed, parseSource } from './parse.ts'
import { parseTree, placeOf, type SyntaxTree } from './syntax-tree.ts'

export interface SourceText {
  /** The path as findings print it, for example `catalogue/families/claude.yaml`. */
  readonly path: string
  readonly text: string
  /** The parsed value, if the text has already been parsed. */
  readonly parsed?: Parsed
}

export type Path = readonly (string | number)[]

const FILES_MAX = 2000
const FILE_BYTES_MAX = 16 * 1024 * 1024

/** Reads all files of a catalogue folder, sorted by path. For an unreadable file, the text is empty and a finding says why. */
export function readCatalogue(directory: string, label: string): SourceText[] {
  const { names, unreadable } = listFiles(directory, label)
  if (names.length > FILES_MAX)
    return [unreadableFile(label, `more than ${FILES_MAX} files`, 'remove files that are not part of the catalogue')]
  const texts = names.flatMap(name => readSource(join(directory, name), `${label}/${name}`))
  return [...texts, ...unreadable].toSorted((a, b) => compareText(a.path, b.path))
}

function listFiles(directory: string, label: string): { names: readonly string[]; unreadable: readonly SourceText[] } {
  try {
    const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    return { names: names.map(name => name.replaceAll('\\', '/')), unreadable: [] }
  } catch (error) {
    const isAbsent = (error as NodeJS.ErrnoException).code === 'ENOENT'
    return { names: [], unreadable: isAbsent ? [] : [unreadableFile(label, reasonOf(error), 'make it readable')] }
  }
}

/** Reads a file; empty for a folder. Reports a folder that is named like a YAML file. */
function readSource(file: string, path: string): SourceText[] {
  try {
    const stats = statSync(file)
    if (stats.isDirectory() && !path.endsWith('.yaml')) return []
    if (!stats.isFile()) return [unreadableFile(path, 'not a regular file', 'replace it with the file')]
    if (stats.size > FILE_BYTES_MAX) return [unreadableFile(path, `larger than ${FILE_BYTES_MAX} bytes`, 'split it')]
    return [decode(path, readFileSync(file))]
  } catch (error) {
    return [unreadableFile(path, reasonOf(error), 'make it readable, or delete it')]
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'a link to something that does not exist',
  ELOOP: 'a link that leads back to itself',
  EACCES: 'no permission to read it',
  EPERM: 'no permission to read it',
}

function reasonOf(error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return REASONS[code] ?? message
}

function unreadableFile(path: string, message: string, fix: string): SourceText {
  const finding: Finding = { file: path, line: 1, column: 1, code: 'unreadable-file', message, fix }
  return { path, text: '', parsed: { value: undefined, findings: [finding] } }
}

function decode(path: string, bytes: Buffer): SourceText {
  const text = bytes.toString('utf8')
  // In UTF-16, every other byte of Latin text is 0, so the text would also pass as UTF-8.
  const isWide = bytes[0] === 0 || bytes[1] === 0
  if (isUtf8(bytes) && !isWide) return { path, text }
  const at = isWide ? bytes.indexOf(0) : firstForeignByte(bytes, text)
  const before = bytes.subarray(0, at).toString('utf8')
  const finding: Finding = {
    file: path,
    line: before.split('\n').length,
    column: before.length - before.lastIndexOf('\n'),
    code: 'not-utf8',
    message: `the byte 0x${(bytes[at] as number).toString(16).toUpperCase().padStart(2, '0')} is not UTF-8`,
    fix: 'save the file as UTF-8',
  }
  return { path, text, parsed: { value: undefined, findings: [finding] } }
}

/** Position of the first byte that changes when the file is decoded and encoded again. */
function firstForeignByte(bytes: Buffer, text: string): number {
  const again = Buffer.from(text)
  return bytes.findIndex((byte, at) => byte !== again[at])
}

export class SourceFile {
  readonly path: string
  readonly text: string
  /** The parsed value; undefined when the file is not valid YAML. */
  readonly value: unknown
  readonly findings: readonly Finding[]
  #tree: SyntaxTree | undefined

  constructor(source: SourceText) {
    const parsed = source.parsed ?? parseSource(source.path, source.text)
    this.path = source.path
    this.text = source.text
    this.value = parsed.value
    this.findings = parsed.findings
  }

  /**
   * The syntax tree. Only built when first needed, by parsing the text a second time: trees are large, and most are never used.
   */
  get tree(): SyntaxTree {
    this.#tree ??= parseTree(this.text)
    return this.#tree
  }

  /** Locates the value at a path, or its key. If the path does not exist, locates its nearest existing parent. */
  locate(path: Path, part: 'key' | 'value' = 'value'): { file: string; line: number; column: number } {
    return placeOf(this.path, this.tree, this.#offsetOf(path, part))
  }

  /** The syntax node at a path; undefined if there is none. */
  nodeAt(path: Path): Node | undefined {
    let node: Node | null | undefined = this.tree.document.contents
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(this.tree.document)
      if (isMap(node)) node = node.get(step, true) as Node | undefined
      else if (isSeq(node)) node = node.items[Number(step)] as Node | undefined
      else return undefined
    }
    return node ?? undefined
  }

  #offsetOf(path: Path, part: 'key' | 'value'): number {
    const { document } = this.tree
    let node: Node | null = document.contents
    let offset = node?.range?.[0] ?? 0
    for (const [index, step] of path.entries()) {
      if (isAlias(node)) node = node.resolve(document) ?? null
      if (isMap(node)) {
        const pair = node.items.find(item => isScalar(item.key) && String(item.key.value) === String(step))
        if (pair === undefined) break
        const key = pair.key as Node
        node = pair.value as Node | null
        const isWanted = index === path.length - 1 && part === 'key'
        offset = (isWanted ? key.range?.[0] : (node?.range?.[0] ?? key.range?.[0])) ?? offset
      } else if (isSeq(node)) {
        const item = node.items[Number(step)] as Node | undefined
        if (item === undefined) break
        node = item
        offset = node.range?.[0] ?? offset
      } else break
    }
    return offset
  }
}
