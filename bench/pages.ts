/**
 * The pages of one account with many calls over HTTP, served by a separate gateway process, and its memory while it
 * exports all calls as CSV to a fast and to a slow reader. Prints; asserts nothing.
 * Run: npm exec node bench/pages.ts [thousands of calls]
 */

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAccount } from '../src/accounts/accounts.ts'
import { addDays, dayOf } from '../src/ledger/reports/days.ts'
import { type SignedIn, timesOf, whileSignedIn } from './signed-in.ts'
import { fillUsage } from './usage-rows.ts'

const SAMPLE_MS = 100
/** Pause of the slow reader after each chunk. */
const PAUSE_MS = 5

const calls = Number(process.argv[2] ?? 1_000) * 1_000

await whileSignedIn(
  async sql => {
    const { accountId } = await createAccount(sql, 'bench@example.com')
    await fillUsage(sql, { accountId, calls })
    await sql.unsafe('update account set is_operator = true')
    return accountId
  },
  async signedIn => {
    const today = dayOf(new Date())
    const paths = [
      ...['/', '/models', '/overview', '/keys', '/keys/1', '/topup', '/usage', '/usage?by=key&measure=tokens'],
      `/usage?from=${addDays(today, -89)}`,
      `/usage?from=${addDays(today, -89)}&before=${calls / 2}`,
      `/usage?from=${addDays(today, -89)}&key=3`,
      `/usage?from=${addDays(today, -89)}&status=error`,
      ...['/operator', '/operator/accounts', '/operator/business'],
    ]
    for (const path of paths) {
      const cpuBefore = cpuMilliseconds(signedIn)
      const { text, turns } = await timesOf(signedIn, path)
      const cpu = ((cpuMilliseconds(signedIn) - cpuBefore) / turns).toFixed(0)
      console.log(`${path}: ${text}; CPU of the gateway ${cpu} ms`)
    }
    for (const pauseMs of [0, PAUSE_MS]) await exportAll(signedIn, `/usage.csv?from=${addDays(today, -89)}`, pauseMs)
  },
)

async function exportAll(signedIn: SignedIn, path: string, pauseMs: number): Promise<void> {
  const before = memoryMebibytes(signedIn)
  let peak = before
  const sampling = setInterval(() => {
    peak = Math.max(peak, memoryMebibytes(signedIn))
  }, SAMPLE_MS)
  const started = performance.now()
  const response = await fetch(signedIn.baseUrl + path, { headers: signedIn.headers })
  let bytes = 0
  let rows = -1
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    for (const byte of chunk) if (byte === 10) rows++
    if (pauseMs > 0) await sleep(pauseMs)
  }
  clearInterval(sampling)
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  const size = (bytes / 2 ** 20).toFixed(0)
  const reader = pauseMs === 0 ? 'fast' : 'slow'
  console.log(
    `CSV, ${reader} reader: ${rows} rows, ${size} MB, ${seconds} s, memory ${before} MB before, ${peak} MB at most`,
  )
}

/** CPU that the gateway has used so far; a tick is 10 ms. */
function cpuMilliseconds({ gatewayProcessId }: SignedIn): number {
  const fields = readFileSync(`/proc/${gatewayProcessId}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Resident memory of the gateway. */
function memoryMebibytes({ gatewayProcessId }: SignedIn): number {
  const status = readFileSync(`/proc/${gatewayProcessId}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}
