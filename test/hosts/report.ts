/** Formats the results of a run as a table, and lists what was lost or wrong and which recoveries took too long. */

import type { Findings } from '../fault/support/check.ts'

export interface StepReport {
  readonly what: string
  /** Number of calls that were open or began between the fault and the moment when calls were served again. */
  readonly calls: number
  readonly failed: number
  /** Number of failed calls by HTTP status, or by how the connection broke. */
  readonly statuses: Readonly<Record<string, number>>
  /** Seconds from the fault until the operator's first command; 0 if the operator gave none. */
  readonly operatorAfterS: number
  /**
   * Seconds from the operator's first command (or from the fault, if there was none) until service had recovered: a complete
   * reply had arrived, and calls that began later no longer failed.
   */
  readonly servedS: number
  readonly withinS: number
  readonly failedMax: number | null
}

export interface HostsReport {
  readonly seconds: number
  readonly calls: number
  readonly steps: readonly StepReport[]
  readonly findings: Findings
  /** Number of different prices at which calls of the repriced model were charged. More than 2 (old and new) is wrong. */
  readonly prices: number
}

/** Returns everything that was lost, wrong or late; empty if the run passed. */
export function findingsOf({ steps, findings, prices }: HostsReport): string[] {
  return [
    ...Object.entries(findings).flatMap(([name, list]) => (list as readonly string[]).map(line => `${name}: ${line}`)),
    ...steps.flatMap(({ what, servedS, withinS, failed, failedMax }) => [
      ...(servedS > withinS ? [`${what}: served again after ${servedS} s`] : []),
      ...(failedMax !== null && failed > failedMax ? [`${what}: ${failed} calls failed`] : []),
    ]),
    ...(prices <= 2 ? [] : [`the repriced model was sold at ${prices} prices, not 2`]),
  ]
}

export function tableOf({ seconds, calls, steps, findings }: HostsReport): string {
  const { lost, doubled, wrong } = findings
  return [
    `${seconds.toFixed(0)} s, ${calls} calls: ${lost.length} lost, ${doubled.length} doubled, ${wrong.length} wrong.`,
    '',
    '| | calls | failed | operator after | served again after | at most |',
    '|---|--:|---|--:|--:|--:|',
    ...steps.map(rowOf),
  ].join('\n')
}

function rowOf({ what, calls, failed, statuses, operatorAfterS, servedS, withinS }: StepReport): string {
  const how = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`)
  const failures = failed === 0 ? '0' : `${failed} (${how.join(', ')})`
  const operator = operatorAfterS === 0 ? '–' : `${operatorAfterS.toFixed(0)} s`
  return `| ${what} | ${calls} | ${failures} | ${operator} | ${servedS.toFixed(1)} s | ${withinS} s |`
}
