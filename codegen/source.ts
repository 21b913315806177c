/** Catalogue files as text, as parsed values, and with the place of every value. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'
import { compareText, type Finding } from './findings.ts'

export interface SourceText {
  /** As findings print it, for example `catalogue/families/claude.yaml`. */
  readonly path: string
  readonly text: string
}

export interface Position {
  readonly line: number
  readonly column: number
}

export type Path = readonly (string | number)[]

/** Most alias nodes that one file may expand to, against files that blow up. */
const YAML_ALIASES_MAX = 100
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
  readonly document: Document
  /** The parsed value; undefined when the file is not valid YAML. */
  readonly value: unknown
  readonly findings: Finding[] = []
  readonly #lines = new LineCounter()

  constructor(source: SourceText) {
    this.path = source.path
    this.text = source.text
    this.document = parseDocument(source.text, { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: true })
    for (const error of this.document.errors) {
      const isRepeated = error.code === 'DUPLICATE_KEY'
      const key = /^[^:\s]*/.exec(source.text.slice(error.pos[0]))?.[0]
      const message = isRepeated ? `the key "${key}" stands twice` : plain(error.message)
      const fix = isRepeated ? 'keep one of the two' : 'correct the YAML at this place'
      this.findings.push({ ...this.#at(error.pos[0]), code: 'yaml-syntax', message, fix })
    }
    this.value = this.document.errors.length === 0 ? this.#toValue() : undefined
    if (this.value !== undefined) this.#checkNumbers()
  }

  #toValue(): unknown {
    try {
      return this.document.toJS({ maxAliasCount: YAML_ALIASES_MAX })
    } catch (cause) {
      const message = cause instanceof Error ? plain(cause.message) : 'cannot be read'
      this.findings.push({ ...this.#at(0), code: 'yaml-syntax', message, fix: 'write the values out' })
      return undefined
    }
  }

  #at(offset: number): { file: string } & Position {
    const { line, col } = this.#lines.linePos(offset)
    return { file: this.path, line: Math.max(line, 1), column: Math.max(col, 1) }
  }

  /** A number must be written as it is read: `50.000` would be 50. */
  #checkNumbers(): void {
    visit(this.document, {
      Scalar: (_key, node) => {
        if (typeof node.value !== 'number' || node.source === undefined || isPlainNumber(node.source, node.value))
          return
        const digits = node.source.replace(/[^0-9]/g, '')
        const fix = /^[0-9.]+$/.test(node.source)
          ? `write whole numbers as digits only, e.g. ${Number(digits)}`
          : 'write it in decimal digits'
        const message = `${node.source} is read as ${node.value}`
        this.findings.push({ ...this.#at(node.range?.[0] ?? 0), code: 'number-form', message, fix })
      },
    })
  }

  /** Where the value at a path stands, or its key; the nearest parent that exists when the path does not. */
  locate(path: Path, part: 'key' | 'value' = 'value'): { file: string } & Position {
    let node: Node | null = this.document.contents
    let offset = node?.range?.[0] ?? 0
    for (const [index, step] of path.entries()) {
      if (isAlias(node)) node = node.resolve(this.document) ?? null
      const isLast = index === path.length - 1
      if (isMap(node)) {
        const pair = node.items.find(item => isScalar(item.key) && String(item.key.value) === String(step))
        if (pair === undefined) break
        const key = pair.key as Node
        node = pair.value as Node | null
        offset = (isLast && part === 'key' ? key.range?.[0] : (node?.range?.[0] ?? key.range?.[0])) ?? offset
      } else if (isSeq(node)) {
        const item = node.items[Number(step)] as Node | undefined
        if (item === undefined) break
        node = item
        offset = node.range?.[0] ?? offset
      } else break
    }
    return this.#at(offset)
  }
}

function isPlainNumber(source: string, value: number): boolean {
  if (Number.isInteger(value)) return source === String(value)
  return /^-?(0|[1-9][0-9]*)\.[0-9]+$/.test(source)
}

function plain(message: string): string {
  return message.replace(/\s+/g, ' ').replace(/[.;:]+$/, '')
}
