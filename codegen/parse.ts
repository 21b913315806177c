/** YAML text to a plain value, and what is wrong with the text itself. */

import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import type { Finding } from './findings.ts'

export interface Parsed {
  /** undefined when the file is not valid YAML. */
  readonly value: unknown
  readonly findings: readonly Finding[]
}

export interface SyntaxTree {
  readonly document: Document
  readonly lines: LineCounter
}

/** Most alias nodes that one file may expand to, against files that blow up. */
const YAML_ALIASES_MAX = 100

export function parseTree(text: string): SyntaxTree {
  const lines = new LineCounter()
  return { document: parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true }), lines }
}

export function parseSource(path: string, text: string): Parsed {
  const tree = parseTree(text)
  const findings = findSyntaxErrors(path, text, tree)
  if (findings.length > 0) return { value: undefined, findings }
  try {
    const value: unknown = tree.document.toJS({ maxAliasCount: YAML_ALIASES_MAX })
    return { value, findings: findOddNumbers(path, tree) }
  } catch (cause) {
    const message = cause instanceof Error ? plain(cause.message) : 'cannot be read'
    const finding: Finding = { ...placeOf(path, tree, 0), code: 'yaml-syntax', message, fix: 'write the values out' }
    return { value: undefined, findings: [finding] }
  }
}

/** Line and column of an offset, both from 1. */
export function placeOf(
  file: string,
  tree: SyntaxTree,
  offset: number,
): { file: string; line: number; column: number } {
  const { line, col } = tree.lines.linePos(offset)
  return { file, line: Math.max(line, 1), column: Math.max(col, 1) }
}

function findSyntaxErrors(path: string, text: string, tree: SyntaxTree): Finding[] {
  return tree.document.errors.map(error => {
    const place = placeOf(path, tree, error.pos[0])
    if (error.code !== 'DUPLICATE_KEY') {
      return { ...place, code: 'yaml-syntax', message: plain(error.message), fix: 'correct the YAML at this place' }
    }
    const key = /^[^:\s]*/.exec(text.slice(error.pos[0], error.pos[0] + 100))?.[0]
    return { ...place, code: 'yaml-syntax', message: `the key "${key}" stands twice`, fix: 'keep one of the two' }
  })
}

/** A number must be written as it is read: `50.000` would be 50. */
function findOddNumbers(path: string, tree: SyntaxTree): Finding[] {
  const findings: Finding[] = []
  visit(tree.document, (_key, node) => {
    if (!isScalar(node) || typeof node.value !== 'number' || node.source === undefined) return
    if (isPlainNumber(node.source, node.value)) return
    const digits = node.source.replace(/[^0-9]/g, '')
    const fix = /^[0-9.]+$/.test(node.source)
      ? `write whole numbers as digits only, e.g. ${Number(digits)}`
      : 'write it in decimal digits'
    const place = placeOf(path, tree, node.range?.[0] ?? 0)
    findings.push({ ...place, code: 'number-form', message: `${node.source} is read as ${node.value}`, fix })
  })
  return findings
}

function isPlainNumber(source: string, value: number): boolean {
  if (Number.isInteger(value)) return source === String(value)
  return /^-?(0|[1-9][0-9]*)\.[0-9]+$/.test(source)
}

function plain(message: string): string {
  return message.replace(/\s+/g, ' ').replace(/[.;:]+$/, '')
}
