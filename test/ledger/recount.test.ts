/** The audit finds wrong sums in reports, and a recount makes them what they were. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { auditDays } from '../../src/ledger/day-audit.ts'
import { sumDays } from '../../src/ledger/day-totals.ts'
import { recountDays } from '../../src/ledger/recount.ts'
import { addDays, dayOf } from '../../src/ledger/reports/days.ts'
import { rollUpCalls } from '../../src/ledger/roll-up.ts'
import { rollUpAccounts } from '../../src/ledger/roll-up-accounts.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

const day = (offset: number): string => addDays(dayOf(new Date()), offset)
const DAYS = 65
const QUICK = { lagSeconds: 0, secondsMin: 86_400, secondsMax: 86_400 }

/** Calls of two accounts every three hours for 65 days, the last of them a minute ago, and a credit every day. */
beforeAll(async () => {
  await sql.unsafe(
    `insert into usage (account_id, seq, call_id, key_id, entry_id, endpoint, status, input_tokens, output_tokens, cached_input_tokens,
       reasoning_tokens, images, price_vnd, price_per, cost_micro_vnd, charged_micro_vnd, balance_after_micro_vnd, first_byte_ms,
       latency_ms, streamed, estimated, opened_at, closed_at, tag, attempts, upstream_cost_micro_vnd)
     select 1 + n % 2, n, gen_random_uuid(), 1 + n % 3, 'model-' || n % 2, 1, case when n % 9 = 0 then 502 else 200 end, n, 20, 3, 4, n % 4,
            10, 1, 10 * (n + 20), 10 * (n + 20), 5, 12 + n, 34 + n, true, false, t, t, case when n % 5 = 0 then 'team/a' end,
            jsonb_build_array(jsonb_build_object('credential', case when n % 3 = 0 then 'harbour#1' else 'orchard#1' end, 'outcome', 'ok',
              'startedMs', 1)), case when n % 7 = 0 then n end
       from generate_series(1, $1::text::integer * 8) n
       cross join lateral (select now() - interval '1 minute' - (n - 1) * interval '3 hours') as x(t)`,
    [String(DAYS)],
  )
  await sql.unsafe(
    `insert into usage_daily select account_id, (closed_at at time zone 'Asia/Ho_Chi_Minh')::date, key_id, entry_id, count(*),
       count(*) filter (where status >= 400), sum(input_tokens), sum(output_tokens), sum(images), sum(cost_micro_vnd),
       sum(charged_micro_vnd), coalesce(sum(upstream_cost_micro_vnd), 0), count(upstream_cost_micro_vnd)
     from usage group by 1, 2, 3, 4`,
  )
  await sql.unsafe(
    `insert into credit (account_id, seq, amount_micro_vnd, kind, reference, balance_after_micro_vnd, at)
     select 1, n, n, 1 + n % 2, n::text, 1, now() - n * interval '1 day' from generate_series(1, $1::text::integer) n`,
    [String(DAYS)],
  )
  for (const table of ['call_roll_up', 'usage_roll_up'])
    await sql.unsafe(`update ${table} set closed_before = now() - interval '${DAYS + 2} days'`)
  expect(await rollUpCalls(sql, QUICK)).toEqual({ calls: DAYS * 8, done: true })
  expect(await rollUpAccounts(sql, QUICK)).toEqual({ calls: DAYS * 8, done: true })
  await sumDays(sql, { lagSeconds: 0, creditLagSeconds: 0 })
})

const SUMS = [
  'entry_daily',
  'account_daily',
  'account_monthly',
  'upstream_daily',
  'credit_daily',
  'call_hourly',
  'usage_hourly',
  'attempt_hourly',
  'first_byte_hourly',
] as const
type Table = (typeof SUMS)[number]

/** The rows of each table of sums, as text and in order. */
async function sums(): Promise<Readonly<Record<Table, readonly string[]>>> {
  const read = async (table: Table) => {
    const rows = await sql.unsafe(`select to_jsonb(t)::text as row from ${table} t order by 1`)
    return [table, rows.map(({ row }) => String(row))] as const
  }
  return Object.fromEntries(await Promise.all(SUMS.map(read))) as Record<Table, string[]>
}

/** Lets the roll-ups merge and delete old hours, as they do after every run. */
async function tidy(): Promise<void> {
  expect(await rollUpCalls(sql, { lagSeconds: 0 })).toEqual({ calls: 0, done: true })
  expect(await rollUpAccounts(sql, { lagSeconds: 0 })).toEqual({ calls: 0, done: true })
}

async function wrongDays(): Promise<readonly string[]> {
  const [full, incremental] = [await auditDays(sql, 'full'), await auditDays(sql, 'incremental')]
  // An incremental audit finds nothing that a full one does not.
  expect(full.usageDays).toEqual(expect.arrayContaining([...incremental.usageDays]))
  expect(full.differences.usage_days).toBeGreaterThanOrEqual(full.usageDays.length)
  return full.usageDays
}

const dayAt = (column: string, wanted: string): string =>
  `(${column} at time zone 'Asia/Ho_Chi_Minh')::date = '${wanted}'`
const monthBefore = `${day(-32).slice(0, 7)}-01`

/** A wrong sum in each table, and the day that the audit names. The last two tables count attempts, which the audit does not. */
const WRONG: readonly (readonly [Table, string, string | null])[] = [
  [
    'entry_daily',
    `update entry_daily set calls = calls + 1 where day = '${day(-2)}' and entry_id = 'model-1'`,
    day(-2),
  ],
  ['entry_daily', `delete from entry_daily where day = '${day(-50)}'`, day(-50)],
  ['account_daily', `update account_daily set charged_micro_vnd = 0 where day = '${day(-3)}'`, day(-3)],
  ['account_monthly', `update account_monthly set errors = errors + 1 where month = '${monthBefore}'`, monthBefore],
  ['upstream_daily', `delete from upstream_daily where day = '${day(-4)}' and upstream_id = 'harbour'`, day(-4)],
  ['call_hourly', `update call_hourly set charged_micro_vnd = 0 where ${dayAt('hour', day(-5))}`, day(-5)],
  ['usage_hourly', `delete from usage_hourly where ${dayAt('hour', day(-6))}`, day(-6)],
  ['attempt_hourly', `delete from attempt_hourly where ${dayAt('hour', day(-7))}`, null],
  ['first_byte_hourly', `delete from first_byte_hourly where ${dayAt('hour', day(-8))}`, null],
]

test.each(WRONG)('a wrong sum in %s is found and mended: %s', async (table, statement, named) => {
  expect(await wrongDays()).toEqual([])
  const before = await sums()
  await sql.unsafe(statement)
  expect((await sums())[table]).not.toEqual(before[table])
  const found = await wrongDays()
  if (named === null) expect(found).toEqual([])
  else expect(found).toContain(named)
  const from = named === null ? day(-10) : named
  expect(await recountDays(sql, { from, to: addDays(from, 5) })).toEqual({ days: 5, hoursKept: [] })
  await tidy()
  expect(await sums()).toEqual(before)
  expect(await wrongDays()).toEqual([])
})

test('a recount of everything, today and days without calls included, changes nothing', async () => {
  const before = await sums()
  const recounted = await Promise.all([1, 2].map(() => recountDays(sql, { from: day(-DAYS - 5), to: day(2) })))
  expect(recounted[0]).toEqual({ days: DAYS + 7, hoursKept: [] })
  await tidy()
  expect(await sums()).toEqual(before)
})

test('after a recount, roll-ups and sums of days go on where they were', async () => {
  await recountDays(sql, { from: day(-2), to: day(1) })
  const before = await sums()
  await tidy()
  expect(await sumDays(sql)).toMatchObject({ days: 0, months: 0, upstreamDays: 0, creditDays: 0 })
  expect(await sums()).toEqual(before)
})

test('sums by upstream stay when their hours are no longer kept', async () => {
  await sql`insert into upstream_daily values (${day(-410)}, 'harbour', 1, 0, 1, 1, 1, 0, 0)`
  const before = await sums()
  await recountDays(sql, { from: day(-410), to: day(-409) })
  expect(await sums()).toEqual(before)
})

test('the hours of days whose calls have been retired are kept', async () => {
  const before = await sums()
  await sql.begin(async transaction => {
    await transaction.unsafe("set local session_replication_role = 'replica'")
    await transaction.unsafe(`delete from usage where ${dayAt('closed_at', day(-60))}`)
  })
  await sql.unsafe(`update entry_daily set calls = 0 where day = '${day(-60)}'`)
  expect(await recountDays(sql, { from: day(-61), to: day(-58) })).toEqual({ days: 3, hoursKept: [day(-60)] })
  await tidy()
  expect(await sums()).toEqual(before)
})
