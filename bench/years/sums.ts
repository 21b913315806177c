/** Writes the hourly, daily and per-key sums that housekeeping would have computed during a year of calls. */

import { sumDays } from '../../src/ledger/day-totals.ts'
import { rollUpCalls } from '../../src/ledger/roll-up.ts'
import { HOURS_DAYS } from '../../src/ledger/roll-up-accounts.ts'
import type { Sql } from '../../src/lib/database.ts'
import { SUM_DAYS } from '../usage-rows.ts'
import { withoutIndexes } from './indexes.ts'

/** The bench writes the hourly sums up to this hour. Housekeeping itself then computes the rest. */
const UNTIL = `date_trunc('hour', now()) - interval '6 hours'`

/** The lowest (`0`) or highest (`f`) call id (a UUIDv7) possible for a call opened at that time. */
const boundOf = (time: string, digit: string): string =>
  `(lpad(to_hex(floor(extract(epoch from ${time}) * 1000)::bigint), 12, '0') || repeat('${digit}', 20))::uuid`

/**
 * Writes the hourly sums over all accounts. The bench's calls name no upstream, so their sequence numbers assign them to three
 * upstreams in turn.
 */
const CALL_HOURS = `insert into call_hourly (hour, entry_id, upstream_id, status, calls, input_tokens, cached_input_tokens, output_tokens,
    images, charged_micro_vnd, upstream_cost_micro_vnd, upstream_cost_calls, latency_ms_max, first_call_id, last_call_id)
  select date_trunc('hour', closed_at, 'UTC'), entry_id, (array['first', 'second', 'third'])[1 + (seq - 1) % 3], status, count(*),
         sum(input_tokens), sum(cached_input_tokens), sum(output_tokens), sum(images), sum(charged_micro_vnd),
         sum(upstream_cost_micro_vnd), count(upstream_cost_micro_vnd), max(latency_ms),
         ${boundOf('min(opened_at)', '0')}, ${boundOf('max(opened_at)', 'f')}
    from usage where closed_at < ${UNTIL} group by 1, 2, 3, 4`
/** Writes as many rows of times to the first byte as five weeks would produce, derived from `call_hourly`. */
const STEPS = [
  `insert into attempt_hourly (hour, upstream_id, outcome, status, first_byte_step, attempts)
    select hour, upstream_id, case when status < 400 then 'ok' else 'upstream_failed' end, 0, step, sum(calls)
      from call_hourly cross join generate_series(69, 83) step where hour > now() - interval '35 days' group by 1, 2, 3, 5`,
  `insert into first_byte_hourly (hour, entry_id, first_byte_step, calls)
    select hour, entry_id, step, sum(calls) from call_hourly cross join generate_series(69, 83) step
     where hour > now() - interval '35 days' and status < 400 group by 1, 2, 3`,
]

/** Writes the sums by account: hourly for the most recent weeks, daily before that. */
const ACCOUNT_HOURS = `insert into usage_hourly
  select account_id, case when closed_at < now() - interval '${HOURS_DAYS} days'
           then date_trunc('day', closed_at, 'Asia/Ho_Chi_Minh') else date_trunc('hour', closed_at, 'UTC') end,
         key_id, entry_id, status, coalesce(tag, ''), count(*), sum(input_tokens), sum(cached_input_tokens), sum(output_tokens),
         sum(reasoning_tokens), sum(images), sum(charged_micro_vnd)
    from usage where closed_at < ${UNTIL} group by 1, 2, 3, 4, 5, 6 order by 2`
/** Writes each key's total spending, except for the last few days, which are left to housekeeping. */
const COUNTED = `
with today as (select (now() at time zone 'Asia/Ho_Chi_Minh')::date - 2 as day),
sums as (
  select account_id, key_id, sum(charged_micro_vnd) as charged from usage_daily, today where usage_daily.day < today.day group by 1, 2)
update api_key set counted_before = today.day, counted_micro_vnd = coalesce(sums.charged, 0)
  from today, api_key k left join sums using (account_id, key_id)
 where api_key.account_id = k.account_id and api_key.key_id = k.key_id`

const SUMS = `sum(calls), sum(errors), sum(input_tokens), sum(output_tokens)`
/** Writes the daily sums by entry, account and upstream, except for the most recent complete day. */
const DAYS = [
  ...['entry', 'account'].map(
    by => `insert into ${by}_daily select day, ${by}_id, ${SUMS}, sum(images), sum(cost_micro_vnd), sum(charged_micro_vnd),
      sum(upstream_cost_micro_vnd), sum(upstream_cost_calls)
    from usage_daily where day < current_date - 1 group by 1, 2 order by 1`,
  ),
  `insert into upstream_daily select (hour at time zone 'Asia/Ho_Chi_Minh')::date, upstream_id, sum(calls),
      coalesce(sum(calls) filter (where status >= 400), 0), sum(input_tokens), sum(output_tokens), sum(charged_micro_vnd),
      sum(upstream_cost_micro_vnd), sum(upstream_cost_calls)
    from call_hourly where (hour at time zone 'Asia/Ho_Chi_Minh')::date < current_date - 1 group by 1, 2`,
  `update call_roll_up set days_summed_before = current_date - 1, upstreams_summed_before = current_date - 1`,
]

export async function sumYear(sql: Sql): Promise<void> {
  await withoutIndexes(sql, 'usage_daily', () => sql.unsafe(SUM_DAYS))
  await withoutIndexes(sql, 'usage_hourly', () => sql.unsafe(ACCOUNT_HOURS))
  await sql.unsafe(CALL_HOURS)
  for (const statement of STEPS) await sql.unsafe(statement)
  await sql.unsafe(`update call_roll_up set closed_before = ${UNTIL}`)
  await sql.unsafe(`update usage_roll_up set closed_before = ${UNTIL}`)
  for (const statement of DAYS) await sql.unsafe(statement)
  await sql.unsafe('analyze usage_daily')
  await sql.unsafe(COUNTED)
  await sql.unsafe('vacuum analyze')
  await rollUpCalls(sql)
  await sumDays(sql)
  await sql.unsafe('vacuum analyze')
}
