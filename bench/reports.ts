/**
 * Measures the queries behind the usage pages for one account with many calls, on a fresh embedded Postgres. Prints how long each
 * takes and how much memory an export needs; asserts nothing. Run: npm exec node bench/reports.ts [thousands of calls]
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAccount } from '../src/accounts/accounts.ts'
import { listOwnKeys } from '../src/accounts/own-keys.ts'
import { startEmbeddedPostgres } from '../src/app/embedded-postgres.ts'
import { migrate } from '../src/ledger/migrate.ts'
import { readBalance } from '../src/ledger/reports/balance.ts'
import { exportUsageCsv } from '../src/ledger/reports/csv.ts'
import { readDaily } from '../src/ledger/reports/daily.ts'
import { addDays, dayOf, startOfDay } from '../src/ledger/reports/days.ts'
import { readChoices, readHourly } from '../src/ledger/reports/hourly.ts'
import { readUsageRows } from '../src/ledger/reports/rows.ts'
import { rollUpAccounts } from '../src/ledger/roll-up-accounts.ts'
import { openDatabase } from '../src/lib/database.ts'
import { fillUsage } from './usage-rows.ts'

const calls = Number(process.argv[2] ?? 1_000) * 1_000
const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder, durable: false })
const sql = openDatabase({ url: postgres.url, name: 'bench', connectionsMax: 2, statementTimeoutMs: 300_000 })
try {
  await migrate(sql)
  const { accountId } = await createAccount(sql, 'bench@example.com')
  await fillUsage(sql, { accountId, calls })
  const today = dayOf(new Date())
  const month = { accountId, from: addDays(today, -30), to: addDays(today, 1) }
  const period = { from: startOfDay(month.from), to: startOfDay(month.to) }
  await time('first page', () => readUsageRows(sql, { accountId, filter: {} }))
  await time('page in the middle', () => readUsageRows(sql, { accountId, filter: {}, beforeSeq: calls / 2 }))
  await time('page of a week long ago', () => {
    const filter = { from: startOfDay(addDays(today, -80)), to: startOfDay(addDays(today, -73)) }
    return readUsageRows(sql, { accountId, filter })
  })
  await time('page of a key used once', () => readUsageRows(sql, { accountId, filter: { keyId: 3 } }))
  await time('page of a status that never was', () =>
    readUsageRows(sql, { accountId, filter: { ...period, status: 418 } }),
  )
  await time('30 days by model', () => readDaily(sql, { ...month, by: 'model' }))
  await time('30 days by key', () => readDaily(sql, { ...month, by: 'key' }))
  const months = { accountId, from: startOfDay(addDays(today, -89)), to: period.to }
  await sql`update usage_roll_up set closed_before = now() - interval '91 days'`
  const started = performance.now()
  const { calls: counted } = await rollUpAccounts(sql, { turnsMax: 5_000 })
  console.log(`rolled up ${counted} calls in ${((performance.now() - started) / 1_000).toFixed(1)} s`)
  // Each run also merges a limited number of old hourly rows into daily rows.
  for (let run = 0; run < 20; run++) await rollUpAccounts(sql)
  await sql.unsafe('vacuum analyze usage_hourly')
  for (const filter of [{}, { status: 'error' }, { tag: 'team-1' }, { keyId: 3 }] as const) {
    const name = `90 days by model, filter ${JSON.stringify(filter)}`
    await time(name, () => readHourly(sql, { ...months, filter, per: 'day', by: 'model' }))
  }
  await time('what there is to filter by', () => readChoices(sql, months))
  await time('page of a tag used once', () => readUsageRows(sql, { accountId, filter: { ...months, tag: 'rare' } }))
  await time('keys with their costs', () => listOwnKeys(sql, accountId))
  await time('balance', () => readBalance(sql, accountId))
  const before = process.memoryUsage().rss
  let bytes = 0
  let peak = before
  const exportStarted = performance.now()
  for await (const chunk of exportUsageCsv(sql, { accountId, filter: {}, keyLabels: new Map() })) {
    bytes += Buffer.byteLength(chunk)
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  const seconds = (performance.now() - exportStarted) / 1_000
  const mega = (count: number): string => (count / 2 ** 20).toFixed(0)
  console.log(
    `export: ${mega(bytes)} MB in ${seconds.toFixed(1)} s, memory ${mega(before)} MB before, ${mega(peak)} MB at most`,
  )
} finally {
  await sql.end({ timeout: 5 })
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}

async function time(name: string, work: () => Promise<unknown>): Promise<void> {
  await work()
  const times: number[] = []
  for (let turn = 0; turn < 9; turn++) {
    const started = performance.now()
    await work()
    times.push(performance.now() - started)
  }
  console.log(`${name}: ${times.toSorted((a, b) => a - b)[4]!.toFixed(1)} ms`)
}
