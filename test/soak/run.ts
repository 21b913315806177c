/**
 * `make soak HOURS=2 RATE=10 SEED=7 NAME=name`: runs the soak test and prints its tables; exits with status 1 if a check
 * failed. With NAME, also writes the tables to bench/results/soak-<name>.md.
 */

import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { findingsOf, tablesOf } from './report.ts'
import { runSoak } from './soak.ts'

const RESULTS = fileURLToPath(new URL('../../bench/results/', import.meta.url))
const hours = Number(process.env.HOURS || 2)
const ratePerSecond = Number(process.env.RATE || 10)
const seed = Number(process.env.SEED || Date.now() % 1_000_000_007)
const name = process.env.NAME || null
if (!(hours > 0) || !(ratePerSecond > 0) || !Number.isSafeInteger(seed))
  throw new Error('HOURS and RATE (calls per second) must be numbers above 0, and SEED a whole number')
if (name !== null && !/^[\w.-]+$/.test(name)) throw new Error('NAME may only contain letters, digits and . _ -')

const setup = [
  `${new Date().toISOString().slice(0, 16)} UTC, Node ${process.version}, ${cpus().length} cores,`,
  `load before: ${(loadavg()[0] as number).toFixed(1)}; ${hours} h at ${ratePerSecond} calls a second, seed ${seed}`,
].join(' ')
const say = (text: string) => process.stdout.write(`${text}\n`)
say(setup)
const report = await runSoak({ durationMs: hours * 3_600_000, ratePerSecond, seed, onProgress: say })
const findings = findingsOf(report)
const conclusion = findings.length === 0 ? 'Nothing grew, and the books are right.' : `${findings.length} FINDINGS`
const text = [setup, tablesOf(report), [conclusion, ...findings.slice(0, 40)].join('\n')].join('\n\n')
say(`\n${text}`)
if (name !== null) writeFileSync(`${RESULTS}soak-${name}.md`, `${text}\n`)
process.exitCode = findings.length === 0 ? 0 : 1
