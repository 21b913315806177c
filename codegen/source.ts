/** Catalogue files: their text, their value, and the place of every value. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml'
import { compareText, type Finding } from './findings.ts'
import { type Parsed, parseSource, parseTree, placeOf, type SyntaxTree } from './parse.ts'

export interface SourceText {
  /** As findings print it, for example `catalogue/families/claude.yaml`. */
  readonly path: string
  readonly text: string
  /** Where it was parsed already. */
  readonly parsed?: Parsed
}

export type Path = readonly (string | number)[]

const FILES_MAX = 2000
const FILE_BYTES_MAX = 16 * 1024 * 1024

/** All files of a catalogue folder, sorted by path. Throws when the folder cannot be read or is beyond all measure. */
export function readCatalogue(directory: string, label: string): SourceText[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map(name => name.replaceAll('\\', '/'))
    .filter(name => statSync(join(directory, name)).isFile())
    .toSorted(compareText)
  if (names.length > FILES_MAX) throw new Error(`${directory}: more than ${FILES_MAX} files`)
  return names.map(name => {
    const path = join(directory, name)
    if (statSync(path).size > FILE_BYTES_MAX) throw new Error(`${path}: larger than ${FILE_BYTES_MAX} bytes`)
    return { path: `${label}/${name}`, text: readFileSync(path, 'utf8') }
  })
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

  /** Parsed again when it is first asked for: the trees of many files are large, and most are never needed. */
  get tree(): SyntaxTree {
    this.#tree ??= parseTree(this.text)
    return this.#tree
  }

  /** Where the value at a path stands, or its key; the nearest parent that exists when the path does not. */
  locate(path: Path, part: 'key' | 'value' = 'value'): { file: string; line: number; column: number } {
    return placeOf(this.path, this.tree, this.#offsetOf(path, part))
  }

  /** The syntax node at a path, or undefined. */
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
