/**
 * Runs all measurements of the gateway under load. Writes bench/results/<name>.json and <name>.md.
 * Run: make bench [BASE=ref] [NAME=name]; or npm exec node bench/main.ts -- [--base ref] [--name name] [--rounds n] [--slice ms]
 *      [--warm-up ms] [--warm-up-calls n] [--node-harness]; see README.md
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureModelList, measureStarts } from './proxy/extras.ts'
import { measureLatency } from './proxy/latency.ts'
import { measureMemory, measureOpenStreams } from './proxy/memory.ts'
import type { Row } from './proxy/rows.ts'
import { CASES } from './proxy/scenarios.ts'
import { type ProxyRow, WARM_UP_CALLS } from './proxy/slices.ts'
import { measureWorkers } from './proxy/workers.ts'
import { openWorld } from './proxy/world.ts'
import { measureProxy } from './proxy.ts'
import { type Results, tableOf } from './results.ts'

const ROOT = join(import.meta.dirname, '..')
const FOLDER = join(ROOT, 'bench', 'results')
/** How long each case runs before memory is read. */
const MEMORY_LOAD_MS = 4_000

const { values } = parseArgs({
  options: {
    base: { type: 'string' },
    name: { type: 'string', default: new Date().toISOString().replaceAll(':', '-').slice(0, 19) },
    rounds: { type: 'string', default: '7' },
    slice: { type: 'string', default: '1000' },
    'warm-up': { type: 'string', default: '2500' },
    'warm-up-calls': { type: 'string', default: String(WARM_UP_CALLS) },
    'node-harness': { type: 'boolean', default: false },
  },
})
const rotation = {
  rounds: Number(values.rounds),
  sliceMs: Number(values.slice),
  warmUpMs: Number(values['warm-up']),
  warmUpCalls: Number(values['warm-up-calls']),
}
const baseRef = values.base === undefined || values.base === '' ? null : values.base

const proxy: ProxyRow[] = []
const others: Row[] = []
const startedAt = new Date().toISOString()
const revision = revisionOf(ROOT)
const loadBefore = loadavg()[0] ?? 0
others.push(...ledgerRows())
const world = await openWorld({ baseRef, nodeHarness: values['node-harness'] })
try {
  const say = (rows: readonly Row[]) => {
    others.push(...rows)
    for (const row of rows) console.error(JSON.stringify(row))
  }
  await measureProxy(world, { ...rotation, cases: CASES, only: '', profile: null }, row => {
    proxy.push(row)
    console.error(JSON.stringify(row))
  })
  say(await measureMemory(world, { milliseconds: MEMORY_LOAD_MS }))
  say(await measureOpenStreams(world, 1_000))
  say(await measureLatency(world, { rounds: rotation.rounds, perSecond: 200, milliseconds: 3_000 }))
  say(await measureModelList(world, 2 * rotation.rounds))
  say(await measureStarts(world, 5))
  say(await measureWorkers(world, rotation))
} finally {
  await world.stop()
}
const results: Results = {
  startedAt,
  revision,
  node: process.version,
  cpu: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
  loadBefore,
  base: baseRef,
  setup: world.setup,
  proxy,
  others,
}
mkdirSync(FOLDER, { recursive: true })
writeFileSync(join(FOLDER, `${values.name}.json`), `${JSON.stringify(results, null, 2)}\n`)
writeFileSync(join(FOLDER, `${values.name}.md`), tableOf([results]))
console.log(tableOf([results]))
console.log(`bench/results/${values.name}.json`)

/** The tree's git revision, with `-dirty` if files have changed; 'unknown' outside git. */
function revisionOf(tree: string): string {
  const { stdout } = spawnSync('git', ['describe', '--always', '--dirty', '--exclude', '*'], {
    cwd: tree,
    encoding: 'utf8',
  })
  return stdout?.trim() || 'unknown'
}

/** Measures the ledger in a separate process, because bench/ledger.ts runs the ledger inside its own. */
function ledgerRows(): Row[] {
  const text = execFileSync(process.execPath, ['bench/ledger.ts', '3', '--json'], { cwd: ROOT, encoding: 'utf8' })
  const figures = JSON.parse(text) as Record<string, { pairsPerSecond: number; cpuMicrosecondsPerPair: number }>
  return Object.entries(figures).map(([contender, { pairsPerSecond, cpuMicrosecondsPerPair }]) => ({
    what: 'ledger alone',
    contender,
    figures: { pairsPerSecond, cpuMicrosecondsPerPair },
  }))
}
