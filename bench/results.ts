/**
 * Results as a Markdown table; of several runs, the range of each figure.
 * Run: npm exec node bench/results.ts bench/results/a.json bench/results/b.json …
 */

import { readFileSync } from 'node:fs'
import type { Row } from './proxy/extras.ts'
import type { ProxyRow } from './proxy.ts'

export interface Results {
  readonly startedAt: string
  readonly node: string
  readonly cpu: string
  /** Programs that wanted to run on the machine before the run began, on average of a minute. */
  readonly loadBefore: number
  /** Revision that was compared with. */
  readonly base: string | null
  readonly proxy: readonly ProxyRow[]
  readonly others: readonly Row[]
}

export function tableOf(runs: readonly Results[]): string {
  const [first] = runs
  if (first === undefined) return ''
  const lines = [
    `${runs.length} run${runs.length === 1 ? '' : 's'}, Node ${first.node}, ${first.cpu}, load before: ${runs.map(run => run.loadBefore.toFixed(1)).join(', ')}`,
    '',
    '| case | contender | CPU µs | of bare | Postgres µs | per second |',
    '|---|---|--:|--:|--:|--:|',
  ]
  for (const row of first.proxy) {
    const same = runs.flatMap(run =>
      run.proxy.filter(other => other.case === row.case && other.contender === row.contender),
    )
    const figures = [
      range(
        same.map(each => each.cpuMicroseconds),
        1,
      ),
      range(
        same.map(each => each.ofReference),
        2,
      ),
      range(
        same.map(each => each.postgresMicroseconds),
        1,
      ),
      range(
        same.map(each => each.unitsPerSecond),
        0,
      ),
    ]
    lines.push(`| ${row.case} | ${row.contender} | ${figures.join(' | ')} |`)
  }
  lines.push('', '| what | of | figures |', '|---|---|---|')
  for (const row of first.others) {
    const same = runs.flatMap(run =>
      run.others.filter(({ what, contender }) => what === row.what && contender === row.contender),
    )
    const figures = Object.keys(row.figures).map(
      name =>
        `${name} ${range(
          same.map(each => each.figures[name] ?? Number.NaN),
          2,
        )}`,
    )
    lines.push(`| ${row.what} | ${row.contender} | ${figures.join(', ')} |`)
  }
  return `${lines.join('\n')}\n`
}

function range(values: readonly number[], digits: number): string {
  const least = Math.min(...values).toFixed(digits)
  const most = Math.max(...values).toFixed(digits)
  return least === most ? least : `${least}–${most}`
}

if (process.argv[1]?.endsWith('bench/results.ts')) {
  const runs = process.argv.slice(2).map(file => JSON.parse(readFileSync(file, 'utf8')) as Results)
  process.stdout.write(tableOf(runs))
}
