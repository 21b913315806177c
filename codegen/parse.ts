/** Parses YAML text into plain values, and reports syntax errors and numbers that are easily misread. */

import { isScalar, visit } from 'yaml'
import type { Finding } from './findings.ts'
import { isPlainNumber } from './plain-number.ts'
import { readPlainYaml } from './plain-yaml.ts'
import { wholeNumberMeant } from './spelling.ts'
import { parseTree, placeOf, type SyntaxTree } from './syntax-tree.ts'
import { DEPTH_MAX, findTextErrors, TOO_DEEP, type Wording } from './text-errors.ts'

export interface Parsed {
  /** The value of the file; undefined if the file is not valid YAML. */
  readonly value: unknown
  readonly findings: readonly Finding[]
}

/** Limits how far YAML aliases may expand, because nested ones grow exponentially. */
const YAML_ALIASES_MAX = 100

export function parseSource(path: string, text: string): Parsed {
  const value = readPlainYaml(text)
  return value === undefined ? parseYaml(path, text) : { value, findings: [] }
}

/** Always uses the full YAML parser. `parseSource` tries `readPlainYaml` first, which is faster but reads only simple YAML. */
export function parseYaml(path: string, text: string): Parsed {
  let tree: SyntaxTree | null = null
  const refused = (offset: number, { message, fix }: Wording): Parsed => {
    const place = tree === null ? { file: path, line: 1, column: 1 } : placeOf(path, tree, offset)
    return { value: undefined, findings: [{ ...place, code: 'yaml-syntax', message, fix }] }
  }
  try {
    tree = parseTree(text)
    const findings = findTextErrors(path, text, tree)
    if (findings.length > 0) return { value: undefined, findings }
    const value: unknown = tree.document.toJS({ maxAliasCount: YAML_ALIASES_MAX })
    if (isTooDeep(value)) return refused(0, TOO_DEEP)
    return { value, findings: findOddNumbers(path, tree) }
  } catch (cause) {
    if (cause instanceof RangeError) return refused(0, TOO_DEEP)
    if (!(cause instanceof ReferenceError) || tree === null) throw cause
    const message = `aliases repeat more than ${YAML_ALIASES_MAX} values`
    return refused(lastAlias(tree), { message, fix: 'write the values out' })
  }
}

function lastAlias({ document }: SyntaxTree): number {
  let offset = 0
  visit(document, {
    Alias(_key, { range }) {
      offset = range?.[0] ?? offset
    },
  })
  return offset
}

function isTooDeep(value: unknown): boolean {
  let level = [value]
  for (let depth = 0; depth <= DEPTH_MAX; depth++) {
    level = level.flatMap(each => (each !== null && typeof each === 'object' ? Object.values(each) : []))
    if (level.length === 0) return false
  }
  return true
}

/**
 * Reports numbers whose value differs from what people would read: `50.000` is 50 to YAML, and a number of 20 digits loses its
 * last digits.
 */
function findOddNumbers(path: string, tree: SyntaxTree): Finding[] {
  const findings: Finding[] = []
  visit(tree.document, (_key, node) => {
    if (!isScalar(node) || typeof node.value !== 'number' || node.source === undefined) return
    if (isPlainNumber(node.source, node.value)) return
    const meant = /^[0-9.]+$/.test(node.source) ? wholeNumberMeant(node.source) : null
    const isTooFine = /^[0-9]+\.[0-9]+$/.test(node.source) && !Number.isInteger(node.value)
    const whole = meant === null ? 'write it in decimal digits' : `write whole numbers as digits only, e.g. ${meant}`
    const fix = isTooFine ? 'write fewer digits' : whole
    const place = placeOf(path, tree, node.range?.[0] ?? 0)
    findings.push({ ...place, code: 'number-form', message: `${node.source} is read as ${node.value}`, fix })
  })
  return findings
}
