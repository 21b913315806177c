/**
 * Measures the processor time of `make generate` for the project's own catalogue and for one with many entries, alternating
 * between this revision and, with `--base folder`, another checkout. Each run is a separate process and rewrites every file.
 */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { writeCopies } from './synthetic-catalogue.ts'

const ROUNDS = 3
const COPIES = '111'
const root = join(import.meta.dirname, '..')
const { values, positionals } = parseArgs({
  options: { base: { type: 'string' }, copies: { type: 'string', default: COPIES } },
  allowPositionals: true,
})

interface Cost {
  readonly cpuMs: number
  readonly wallMs: number
}

/** Generates a project with a revision's code and prints the cost. Runs in a separate process. */
async function generate(revision: string, project: string): Promise<void> {
  const { run }: typeof import('../codegen/run.ts') = await import(join(revision, 'codegen/run.ts'))
  process.exitCode = await run(['generate'], { out() {}, err: text => console.error(text) }, { root: project })
  const { user, system } = process.cpuUsage()
  console.log(JSON.stringify({ cpuMs: (user + system) / 1000, wallMs: performance.now() } satisfies Cost))
}

function measure(revision: string, project: string): Cost {
  for (const folder of ['src', 'codegen', 'docs']) rmSync(join(project, folder), { recursive: true, force: true })
  const { stdout, stderr, status } = spawnSync(process.execPath, [import.meta.filename, revision, project], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (status !== 0) throw new Error(stderr.slice(-2000))
  return JSON.parse(stdout) as Cost
}

function compare(revisions: readonly string[], copies: number): void {
  const project = mkdtempSync(join(tmpdir(), 'generate-'))
  const entries = writeCopies(root, project, copies)
  const costs = new Map(revisions.map(revision => [revision, [] as Cost[]]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [revision, runs] of costs) runs.push(measure(revision, project))
  }
  rmSync(project, { recursive: true })
  for (const [revision, runs] of costs) {
    const least = (key: keyof Cost) => Math.round(Math.min(...runs.map(run => run[key])))
    console.log(`${entries} entries, ${revision}: ${least('wallMs')} ms, ${least('cpuMs')} ms of processor time`)
  }
}

const [revision, project] = positionals
if (revision !== undefined && project !== undefined) await generate(revision, project)
else {
  const revisions = [root, ...(values.base === undefined ? [] : [resolve(values.base)])]
  console.log(`The lowest of ${ROUNDS} runs:`)
  for (const copies of [0, Number(values.copies)]) compare(revisions, copies)
}
