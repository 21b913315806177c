/** Computes the sums that reports read again, from the calls, the credits and the sums per key and day. Money is not touched. */

import type { Sql, TransactionSql } from '../lib/database.ts'
import { SUM, SUM_CREDITS, SUM_MONTH, SUM_UPSTREAMS, startOf } from './day-totals.ts'
import { CALL_DAYS, CALLS, patiently, type RollUp } from './roll-up.ts'
import { ACCOUNTS } from './roll-up-accounts.ts'

export interface Recounted {
  /** Number of days computed again. */
  readonly days: number
  /** Days among them whose hours were kept as they are, because calls of these days have been retired. */
  readonly hoursKept: readonly string[]
}

/** Stops the roll-ups and the sums of days for as long as the transaction lasts, and reads how far they have come. */
const LOCK = ['select from call_roll_up for no key update', 'select from usage_roll_up for no key update'] as const
const DAY_STARTS = startOf('$1::text')
const DAY_ENDS = startOf('($1::text::date + 1)')
/** Sums by upstream can only be computed while the hours they are computed from are kept. */
const MARKS = `select $1::text::date < days_summed_before as is_day_summed,
       $1::text::date < upstreams_summed_before and ${DAY_STARTS} > now() - interval '${CALL_DAYS} days' as is_upstreams_summed,
       $1::text::date < credits_summed_before as is_credits_summed,
       least(${DAY_ENDS}, call_roll_up.closed_before)::text as calls_until,
       least(${DAY_ENDS}, usage_roll_up.closed_before)::text as accounts_until
  from call_roll_up cross join usage_roll_up`
/** Whether all calls of a day are still in `usage`. */
const HAS_CALLS = `
with accounts as (select account_id, sum(calls) as calls from usage_daily where day = $1::text::date group by 1)
select not exists (
  select from accounts where calls > (
    select count(*) from usage
     where usage.account_id = accounts.account_id
       and closed_at >= ${DAY_STARTS} and closed_at < ${DAY_ENDS})) as has_calls`
/** A day is counted in parts of some hours, so that no statement takes too long. */
const PARTS = `select part::text as since, least(part + interval '6 hours', $2::text::timestamptz)::text as until
  from generate_series(${DAY_STARTS}, $2::text::timestamptz - interval '1 microsecond', interval '6 hours') part`
const clearHours = (table: string): string => `delete from ${table} where hour >= ${DAY_STARTS} and hour < ${DAY_ENDS}`
const clearDays = (table: string): string => `delete from ${table} where day = $1::text::date`

const CLEAR_CALLS = ['call_hourly', 'attempt_hourly', 'first_byte_hourly'].map(clearHours)
const CLEAR_ACCOUNTS = ['usage_hourly'].map(clearHours)
const RESUM = [...['entry_daily', 'account_daily'].map(clearDays), ...SUM]
const RESUM_UPSTREAMS = [clearDays('upstream_daily'), SUM_UPSTREAMS]
const RESUM_CREDITS = [clearDays('credit_daily'), SUM_CREDITS]
const RESUM_MONTH = ['delete from account_monthly where month = $1::text::date', SUM_MONTH]
const MONTHS = `select to_char(month, 'YYYY-MM-DD') as month
  from call_roll_up
       cross join generate_series(date_trunc('month', $1::text::timestamp), $2::text::timestamp - interval '1 day', interval '1 month') month
 where month < months_summed_before`
const DAYS = `select to_char(day, 'YYYY-MM-DD') as day
  from generate_series($1::text::timestamp, $2::text::timestamp - interval '1 day', interval '1 day') day`

/**
 * Recounts the days from `from` (inclusive) to `to` (exclusive), and the months that they belong to, each in a transaction of
 * its own. What has not been summed yet is left to the roll-ups.
 */
export async function recountDays(
  sql: Sql,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<Recounted> {
  const days = await sql.unsafe(DAYS, [from, to])
  const hoursKept: string[] = []
  for (const { day } of days) {
    if (!(await patiently(sql, transaction => recountDay(transaction, day)))) hoursKept.push(day)
  }
  for (const { month } of await sql.unsafe(MONTHS, [from, to])) {
    await patiently(sql, async transaction => {
      await runAll(transaction, LOCK)
      await runAll(transaction, RESUM_MONTH, [month])
    })
  }
  return { days: days.length, hoursKept }
}

/** Recounts one day. Returns false if its hours were kept, because some of its calls have been retired. */
async function recountDay(sql: TransactionSql, day: string): Promise<boolean> {
  await runAll(sql, LOCK)
  const marks = (await sql.unsafe(MARKS, [day]))[0]!
  const hasCalls = Boolean((await sql.unsafe(HAS_CALLS, [day]))[0]?.has_calls)
  if (hasCalls) {
    await runAll(sql, CLEAR_CALLS, [day])
    await countUntil(sql, CALLS, day, marks.calls_until)
    await runAll(sql, CLEAR_ACCOUNTS, [day])
    await countUntil(sql, ACCOUNTS, day, marks.accounts_until)
  }
  if (marks.is_day_summed) await runAll(sql, RESUM, [day])
  if (marks.is_upstreams_summed) await runAll(sql, RESUM_UPSTREAMS, [day])
  if (marks.is_credits_summed) await runAll(sql, RESUM_CREDITS, [day])
  return hasCalls
}

async function countUntil(sql: TransactionSql, { count }: RollUp, day: string, until: string): Promise<void> {
  for (const part of await sql.unsafe(PARTS, [day, until])) await sql.unsafe(count, [part.since, part.until])
}

async function runAll(sql: TransactionSql, statements: readonly string[], given: string[] = []): Promise<void> {
  for (const statement of statements) await sql.unsafe(statement, given)
}
