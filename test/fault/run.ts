/**
 * Runs the storm for `DURATION` seconds: random kills and other faults under load (`make faults DURATION=600 SEED=7`). Prints a
 * report, and exits with status 1 if the gateway broke a promise of docs/reliability.md.
 */

import { faultsOf, tableOf } from './report.ts'
import { runStorm } from './storm.ts'

const durationMs = Number(process.env.DURATION || 600) * 1_000
const seed = Number(process.env.SEED || Date.now() % 1_000_000_007)
if (!(durationMs > 0) || !Number.isSafeInteger(seed)) throw new Error('DURATION is in seconds, SEED a whole number')

process.stdout.write(`seed ${seed}, ${durationMs / 1_000} s\n`)
const broken = await runStorm(
  {
    seed,
    durationMs,
    gateways: 3,
    clients: 24,
    gatewayKillMs: [2_500, 5_500],
    databaseKillMs: [10_000, 14_000],
    onProgress: line => process.stdout.write(`${line}\n`),
  },
  async report => {
    process.stdout.write(`\n${tableOf(report)}\n\n`)
    return Object.entries(faultsOf(report)).filter(([, list]) => list.length > 0)
  },
)
for (const [name, list] of broken) process.stdout.write(`${name}:\n  ${list.slice(0, 20).join('\n  ')}\n`)
process.stdout.write(broken.length === 0 ? 'Every promise was kept.\n' : 'PROMISES WERE BROKEN.\n')
process.exitCode = broken.length === 0 ? 0 : 1
