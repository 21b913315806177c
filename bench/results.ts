/**
 * Prints benchmark results as Markdown tables; for several runs, prints the range of each figure. Figures that older results
 * lack are left empty.
 * Run: npm exec node bench/results.ts bench/results/a.json bench/results/b.json …
 */

import { readFileSync } from 'node:fs'
import type { Row } from './proxy/rows.ts'
import type { ProxyRow } from './proxy/slices.ts'

export interface Results {
  readonly startedAt: string
  /** The git revision that was measured; absent in older results. */
  readonly revision?: string
  readonly node: string
  readonly cpu: string
  /** The machine's one-minute load average before the run. */
  readonly loadBefore: number
  /** Git revision that was measured in the same run for comparison; null if none was. */
  readonly base: string | null
  /** How the run was measured; absent in older results. */
  readonly setup?: readonly string[]
  readonly proxy: readonly ProxyRow[]
  readonly others: readonly Row[]
}

type Column = readonly [head: string, figure: (row: ProxyRow) => number, digits: number]

const COLUMNS: readonly Column[] = [
  ['CPU µs', row => row.cpuMicroseconds, 1],
  ['of bare', row => row.ofReference, 2],
  ['Postgres µs', row => row.postgresMicroseconds, 1],
  ['load and upstream µs', row => row.toolsMicroseconds, 1],
  ['per second', row => row.unitsPerSecond, 0],
  ['waited', row => row.wait, 2],
  ['others', row => row.others ?? Number.NaN, 2],
  ['disturbed', row => row.disturbed, 0],
  ['slices', row => row.slices, 0],
]

export const PROXY_TABLE_HEAD = [
  `| case | contender | ${COLUMNS.map(([head]) => head).join(' | ')} |`,
  `|---|---|${'--:|'.repeat(COLUMNS.length)}`,
].join('\n')

/** Formats a table row for one contender (a proxy) in one case. `rows` has one element per run. */
export function proxyTableRow(rows: readonly ProxyRow[]): string {
  const [first] = rows
  const figures = COLUMNS.map(([, figure, digits]) => range(rows.map(figure), digits))
  return `| ${first?.case} | ${first?.contender} | ${figures.join(' | ')} |`
}

export function tableOf(runs: readonly Results[]): string {
  const [first] = runs
  if (first === undefined) return ''
  const lines = [
    `${runs.length} run${runs.length === 1 ? '' : 's'}, Node ${first.node}, ${first.cpu}, load before: ${runs.map(run => run.loadBefore.toFixed(1)).join(', ')}, revision: ${runs.map(run => run.revision ?? 'unknown').join(', ')}`,
    '',
    ...(first.setup ?? ['by the former method']).map(line => `- ${line}`),
    '',
    PROXY_TABLE_HEAD,
  ]
  for (const row of first.proxy) {
    lines.push(
      proxyTableRow(
        runs.flatMap(run => run.proxy.filter(other => other.case === row.case && other.contender === row.contender)),
      ),
    )
  }
  lines.push('', '| what | of | figures |', '|---|---|---|')
  for (const row of first.others) {
    const same = runs.flatMap(run =>
      run.others.filter(({ what, contender }) => what === row.what && contender === row.contender),
    )
    const figures = Object.keys(row.figures).map(name => {
      return `${name} ${range(
        same.map(each => each.figures[name] ?? Number.NaN),
        2,
      )}`
    })
    lines.push(`| ${row.what} | ${row.contender} | ${figures.join(', ')} |`)
  }
  return `${lines.join('\n')}\n`
}

/** Formats the range of the values, or a single figure if they round to the same; empty if nothing was measured. */
function range(values: readonly (number | undefined)[], digits: number): string {
  const known = values.filter(value => value !== undefined && Number.isFinite(value)) as number[]
  if (known.length === 0) return ''
  const least = Math.min(...known).toFixed(digits)
  const most = Math.max(...known).toFixed(digits)
  return least === most ? least : `${least}–${most}`
}

if (process.argv[1]?.endsWith('bench/results.ts')) {
  const runs = process.argv.slice(2).map(file => JSON.parse(readFileSync(file, 'utf8')) as Results)
  process.stdout.write(tableOf(runs))
}
