/** YAML text to a plain value, and what is wrong with the text itself. */

import { type Document, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import type { Finding } from './findings.ts'
import { wholeNumberMeant } from './spelling.ts'

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
  const options = { lineCounter: lines, prettyErrors: false, uniqueKeys: true, stringKeys: true } as const
  return { document: parseDocument(text, options), lines }
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

/** Repeated keys are mistakes of their own; of other errors all but the first few follow from those. */
const SYNTAX_ERRORS_MAX = 2
const REPEATED_KEYS_MAX = 20

function findSyntaxErrors(path: string, text: string, tree: SyntaxTree): Finding[] {
  const errors = [...tree.document.errors, ...tree.document.warnings]
  const repeated = errors.filter(error => error.code === 'DUPLICATE_KEY').slice(0, REPEATED_KEYS_MAX)
  const others = errors.filter(error => error.code !== 'DUPLICATE_KEY').slice(0, SYNTAX_ERRORS_MAX)
  const keyAt = (offset: number) => /^[^:\s]*/.exec(text.slice(offset, offset + 100))?.[0] ?? ''
  return [
    ...repeated.map((error): Finding => {
      const message = `the key "${keyAt(error.pos[0])}" stands twice`
      return { ...placeOf(path, tree, error.pos[0]), code: 'yaml-syntax', message, fix: 'keep one of the two' }
    }),
    ...others.map((error): Finding => {
      const place = placeOf(path, tree, error.pos[0])
      return { ...place, code: 'yaml-syntax', message: plain(error.message), fix: 'correct the YAML at this place' }
    }),
  ]
}

/** A number must be written as it is read: `50.000` would be 50. */
function findOddNumbers(path: string, tree: SyntaxTree): Finding[] {
  const findings: Finding[] = []
  visit(tree.document, (_key, node) => {
    if (!isScalar(node) || typeof node.value !== 'number' || node.source === undefined) return
    if (isPlainNumber(node.source, node.value)) return
    const meant = /^[0-9.]+$/.test(node.source) ? wholeNumberMeant(node.source) : null
    const fix = meant === null ? 'write it in decimal digits' : `write whole numbers as digits only, e.g. ${meant}`
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
