/**
 * The queries behind the usage pages on one account with many calls, on a fresh embedded Postgres. Prints how long each
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
import { readUsageRows } from '../src/ledger/reports/rows.ts'
import { openDatabase } from '../src/lib/database.ts'

const calls = Number(process.argv[2] ?? 1_000) * 1_000
const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder, durable: false })
const sql = openDatabase({ url: postgres.url, name: 'bench', connectionsMax: 2, statementTimeoutMs: 300_000 })
try {
  await migrate(sql)
  const { accountId } = await createAccount(sql, 'bench@example.com')
  await fill(accountId)
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
  await time('keys with their costs', () => listOwnKeys(sql, accountId))
  await time('balance', () => readBalance(sql, accountId))
  const before = process.memoryUsage().rss
  let bytes = 0
  let peak = before
  const started = performance.now()
  for await (const chunk of exportUsageCsv(sql, { accountId, filter: {}, keyLabels: new Map() })) {
    bytes += Buffer.byteLength(chunk)
    peak = Math.max(peak, process.memoryUsage().rss)
  }
  const seconds = (performance.now() - started) / 1_000
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

/** Over 90 days, ten models, two keys and a third that was used once. */
async function fill(accountId: number): Promise<void> {
  const account = String(accountId)
  await sql.unsafe(
    `insert into api_key (account_id, key_hash, pepper_id) select $1::text::bigint, sha256(n::text::bytea), 1
    from generate_series(1, 3) n`,
    [account],
  )
  await sql.unsafe(
    `insert into usage (account_id, seq, call_id, key_id, entry_id, endpoint, status, input_tokens, output_tokens,
       cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, cost_micro_vnd, charged_micro_vnd,
       balance_after_micro_vnd, latency_ms, streamed, estimated, opened_at, closed_at)
     select $1::text::bigint, n, gen_random_uuid(), case when n = $2::text::integer / 3 then 3 else n % 2 + 1 end,
            'model-' || n % 10, 1, 200, 1000, 120, 0, 0, 0, 1500, 1, 1680000, 1680000, 0, 34, true, false, t, t
       from generate_series(1, $2::text::integer) n
      cross join lateral (select now() - interval '90 days' * (1 - n / $2::text::double precision)) as x(t)`,
    [account, String(calls)],
  )
  await sql.unsafe(
    `insert into usage_daily select account_id, (closed_at at time zone 'Asia/Ho_Chi_Minh')::date, key_id, entry_id, count(*), 0,
       sum(input_tokens), sum(output_tokens), 0, sum(cost_micro_vnd), sum(charged_micro_vnd) from usage group by 1, 2, 3, 4`,
  )
  await sql.unsafe('update wallet set seq = $1::text::bigint', [String(calls)])
  await sql.unsafe('analyze')
}
