/**
 * Processor time of `make generate` for the project's own catalogue and for one of many entries, of this revision and, with
 * `--base folder`, of another one's checkout in turn. Each run is a process of its own and writes every file anew.
 */

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { writeCopies } from './synthetic-catalogue.ts'

const ROUNDS = 5
const root = join(import.meta.dirname, '..')
const { values } = parseArgs({ options: { base: { type: 'string' }, copies: { type: 'string', default: '111' } } })
const revisions = [root, ...(values.base === undefined ? [] : [resolve(values.base)])]

const SCRIPT = `
const { run } = await import(process.argv[1] + '/codegen/run.ts')
const silent = { out() {}, err: text => console.error(text) }
const status = await run(['generate'], silent, { root: process.argv[2] })
const { user, system } = process.cpuUsage()
console.log(JSON.stringify({ cpuMs: (user + system) / 1000, wallMs: performance.now() }))
process.exitCode = status`

function measure(revision: string, project: string): { cpuMs: number; wallMs: number } {
  for (const folder of ['src', 'codegen', 'docs']) rmSync(join(project, folder), { recursive: true, force: true })
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--input-type=module', '-e', SCRIPT, revision, project],
    {
      encoding: 'utf8',
    },
  )
  if (status !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

for (const copies of [0, Number(values.copies)]) {
  const project = mkdtempSync(join(tmpdir(), 'generate-'))
  const entries = writeCopies(root, project, copies)
  const runs = revisions.map(() => [] as { cpuMs: number; wallMs: number }[])
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, revision] of revisions.entries()) runs[index]?.push(measure(revision, project))
  }
  rmSync(project, { recursive: true })
  for (const [index, revision] of revisions.entries()) {
    const least = (key: 'cpuMs' | 'wallMs') => Math.round(Math.min(...(runs[index] ?? []).map(each => each[key])))
    console.log(
      `${entries} entries, ${revision}: ${least('wallMs')} ms, ${least('cpuMs')} ms of processor time (least of ${ROUNDS})`,
    )
  }
}
