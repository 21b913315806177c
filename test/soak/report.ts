/** Formats the results of a soak as tables and as a list of findings. */

import type { Judgement } from './slope.ts'
import type { SoakReport } from './soak.ts'

/** Lists everything that went wrong: faults in the books, series that grow, leaked content. Empty if the soak passed. */
export function findingsOf({ books, series, leaks }: SoakReport): string[] {
  const grows = series.filter(({ verdict }) => verdict === 'grows')
  return [
    ...Object.entries(books).flatMap(([name, list]) => (list as readonly string[]).map(line => `${name}: ${line}`)),
    ...grows.map(({ name, growth, allowed, unit }) =>
      `grows: ${name} by ${figure(growth)} ${unit} in the second half, at most ${figure(allowed)}`.replace('  ', ' '),
    ),
    ...leaks.map(file => `leak: ${file} contains a prompt, a key or a secret`),
  ]
}

export function tablesOf(report: SoakReport): string {
  const { books, counts } = report
  const rows: [string, string | number][] = [
    ['seconds under load', report.seconds],
    ['calls', report.calls],
    ['whole replies that clients received', report.complete],
    [
      'answers by status (0: connection broken)',
      Object.entries(report.statuses)
        .map(pair => pair.join(': '))
        .join(', '),
    ],
    ['calls for which the provider was asked to fail', report.faultsAsked],
    ['calls skipped because the machine was behind', report.skipped],
    ['new prices, each by replacing all workers of a gateway', counts.prices],
    ['restarts for rotations of both secrets', counts.restarts],
    ['workers killed', counts.workersKilled],
    ['pauses of Postgres', counts.pauses],
    ['bank transfers', report.transfers],
    ['whole replies without a charge', books.lost.length],
    ['wrong charges or prices', books.wrong.length],
    ['differences of the audits, open holds', books.audit.length],
    ['calls that failed without a planted fault', books.failed.length],
    ['files with a prompt, a key or a secret', report.leaks.length],
    ['samples', report.samples],
    ['series measured; how many could be judged; how many grow', seriesCounts(report.series)],
  ]
  return [
    ['| what | figure |', '|---|--:|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n'),
    [
      '| series, second half | level | per hour | growth | allowed | |',
      '|---|--:|--:|--:|--:|---|',
      ...report.series.filter(isWorthShowing).map(seriesRow),
    ].join('\n'),
  ].join('\n\n')
}

function seriesCounts(series: readonly Judgement[]): string {
  const judged = series.filter(({ verdict }) => verdict !== 'few')
  return `${series.length}, ${judged.length}, ${judged.filter(({ verdict }) => verdict === 'grows').length}`
}

/** Whether a series gets a row in the report. Database tables below a megabyte get none, unless they grow. */
function isWorthShowing({ name, unit, level, verdict }: Judgement): boolean {
  if (verdict === 'grows') return true
  return verdict !== 'few' && (!/: (table|indexes)$/.test(name) || (unit === 'MB' && level >= 1))
}

function seriesRow({ name, unit, level, slopePerHour, growth, allowed, verdict }: Judgement): string {
  const cells = [level, slopePerHour, growth, allowed].map(value => `${figure(value)} ${unit}`.trim())
  return `| ${name} | ${cells.join(' | ')} | ${verdict} |`
}

function figure(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(1)
}
