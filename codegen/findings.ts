/** Sorts and prints what the catalogue's checks find. Each finding says what is wrong and what to write instead. */

import { CODES, type Code } from './codes.ts'

export interface Finding {
  readonly file: string
  /** Line number, from 1. */
  readonly line: number
  /** Column number, from 1. */
  readonly column: number
  readonly code: Code
  readonly message: string
  /** What to write instead. */
  readonly fix: string
}

/** The user's mistake, such as a wrong argument: the message is printed on one line, and the exit status is 2. */
export class UsageError extends Error {}

export type FindingFormat = 'text' | 'github' | 'json'

/** Compares by code units, so that the order does not depend on the locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * Sorts by file, line, column, code (in the order of `CODES`) and message. Drops repeated findings, and findings at a place
 * where an earlier finding masks them.
 */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  const rank = new Map(Object.keys(CODES).map((code, index) => [code, index]))
  const sorted = findings.toSorted(
    (a, b) =>
      compareText(a.file, b.file) ||
      a.line - b.line ||
      a.column - b.column ||
      (rank.get(a.code) ?? 0) - (rank.get(b.code) ?? 0) ||
      compareText(a.message, b.message),
  )
  const kept: Finding[] = []
  for (const finding of sorted) {
    const before = kept.at(-1)
    const isRepeated = before?.code === finding.code && before.message === finding.message
    if (before === undefined || !isSamePlace(before, finding) || !(isRepeated || CODES[before.code].masks))
      kept.push(finding)
  }
  return kept
}

function isSamePlace(a: Finding, b: Finding): boolean {
  return a.file === b.file && a.line === b.line && a.column === b.column
}

export function isError(finding: Finding): boolean {
  return CODES[finding.code].severity === 'error'
}

/** Formats a finding on one line: `file:line:column: what is wrong; what to write [code]`. */
export function formatFinding(finding: Finding): string {
  const prefix = isError(finding) ? '' : 'warning: '
  return `${finding.file}:${finding.line}:${finding.column}: ${prefix}${finding.message}; ${finding.fix} [${finding.code}]`
}

/** Formats all findings as text lines, as GitHub annotations, or as one JSON array. Ends without a newline. */
export function formatFindings(findings: readonly Finding[], format: FindingFormat): string {
  if (format === 'json') {
    return JSON.stringify(
      findings.map(finding => ({ ...finding, severity: CODES[finding.code].severity })),
      null,
      2,
    )
  }
  return findings.map(format === 'github' ? formatAnnotation : formatFinding).join('\n')
}

function formatAnnotation(finding: Finding): string {
  const property = (text: string) => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
  const place = `file=${property(finding.file)},line=${finding.line},col=${finding.column},title=${property(finding.code)}`
  const level = isError(finding) ? 'error' : 'warning'
  return `::${level} ${place}::${escapeData(`${finding.message}; ${finding.fix}`)}`
}

function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
