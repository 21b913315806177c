/**
 * Measures response times and CPU of the web pages of an account that has made many calls, served by a separate gateway
 * process. Also measures that process's memory while it exports all calls as CSV to a fast and to a slow reader. Prints
 * figures; asserts nothing.
 * Run: npm exec node bench/pages.ts [thousands of calls]
 */

import { createAccount } from '../src/accounts/accounts.ts'
import { cpuMilliseconds, describeExport, exportCsv } from './export-csv.ts'
import { customerPages, LONG_AGO } from './page-lists.ts'
import { timesOf, whileSignedIn } from './signed-in.ts'
import { fillUsage } from './usage-rows.ts'

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
    const paths = [...customerPages(calls / 2), '/operator', '/operator/accounts', '/operator/business']
    for (const path of paths) {
      const cpuBefore = cpuMilliseconds(signedIn)
      const { text, turns } = await timesOf(signedIn, path)
      const cpu = ((cpuMilliseconds(signedIn) - cpuBefore) / turns).toFixed(0)
      console.log(`${path}: ${text}; CPU of the gateway ${cpu} ms`)
    }
    for (const pauseMs of [0, PAUSE_MS]) {
      const exported = await exportCsv(signedIn, `/usage.csv?from=${LONG_AGO}`, pauseMs)
      console.log(`CSV, ${pauseMs === 0 ? 'fast' : 'slow'} reader: ${describeExport(exported)}`)
    }
  },
)
