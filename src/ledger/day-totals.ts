/**
 * Writes daily totals of days that are over: calls by entry, by account and by upstream, credits by kind. A call counts on the
 * day on which its settlement is written, so the totals of a past day are final once its last transaction has committed. Totals by
 * upstream are computed from the roll-up (`call_hourly`), so they wait until the roll-up covers the day. Totals of whole months by
 * account are computed from those of their days.
 */

import type { Sql } from '../lib/database.ts'
import { finalBefore, patiently } from './roll-up.ts'

export interface DayTotalsOptions {
  /**
   * How long to wait after the end of a day before summing it. Must exceed the time from any settlement's timestamp to its first
   * lock (see `finalBefore`). Not used for totals by upstream.
   */
  readonly lagSeconds?: number
  /**
   * The same for credits. Must exceed the time from the beginning of any transaction that credits to its credit.
   */
  readonly creditLagSeconds?: number
  /** Maximum number of days or months summed in one run, for each kind of total. Each is a separate transaction. */
  readonly daysMax?: number
  readonly signal?: AbortSignal
}

export const ZONE = `at time zone 'Asia/Ho_Chi_Minh'`
export const startOf = (day: string) => `(${day}::date::timestamp ${ZONE})`

/** The next day to sum; null if every past day has been summed. */
const NEXT = `select to_char(min(day), 'YYYY-MM-DD') as day from usage_daily
  where day >= (select days_summed_before from call_roll_up)
    and day < (${finalBefore('usage', '$1')} ${ZONE})::date`
const NEXT_OF_UPSTREAMS = `select to_char(min(hour) ${ZONE}, 'YYYY-MM-DD') as day from call_hourly
  where hour >= (select ${startOf('upstreams_summed_before')} from call_roll_up)
    and hour < (select ${startOf(`(closed_before ${ZONE})`)} from call_roll_up)`
const NEXT_OF_MONTHS = `select to_char(min(day), 'YYYY-MM-01') as day from account_daily
  where day >= (select months_summed_before from call_roll_up)
    and day < (select date_trunc('month', days_summed_before::timestamp) from call_roll_up)`
const NEXT_OF_CREDITS = `select to_char(min(at) ${ZONE}, 'YYYY-MM-DD') as day from credit
  where at >= (select ${startOf('credits_summed_before')} from call_roll_up)
    and at < ${startOf(`(${finalBefore('credit', '$1')} ${ZONE})`)}`

/** What the sums per key and day (`usage_daily`), and all that are computed from them, consist of. */
export const SUMMED_COLUMNS = [
  'calls',
  'errors',
  'input_tokens',
  'output_tokens',
  'images',
  'cost_micro_vnd',
  'charged_micro_vnd',
  'upstream_cost_micro_vnd',
  'upstream_cost_calls',
] as const
const COLUMNS = SUMMED_COLUMNS.join(', ')
const SUMS = SUMMED_COLUMNS.map(name => `sum(${name})`).join(', ')
export const SUM = [
  `insert into entry_daily (day, entry_id, ${COLUMNS}) select day, entry_id, ${SUMS}
    from usage_daily where day = $1::text::date group by 1, 2`,
  `insert into account_daily (day, account_id, ${COLUMNS}) select day, account_id, ${SUMS}
    from usage_daily where day = $1::text::date group by 1, 2`,
]
export const SUM_MONTH = `insert into account_monthly (month, account_id, ${COLUMNS}) select $1::text::date, account_id, ${SUMS}
  from account_daily where day >= $1::text::date and day < $1::text::date + interval '1 month' group by 2`
export const SUM_UPSTREAMS = `insert into upstream_daily (day, upstream_id, calls, errors, input_tokens, output_tokens, charged_micro_vnd,
    upstream_cost_micro_vnd, upstream_cost_calls)
  select $1::text::date, upstream_id, sum(calls), coalesce(sum(calls) filter (where status >= 400), 0), sum(input_tokens),
         sum(output_tokens), sum(charged_micro_vnd), sum(upstream_cost_micro_vnd), sum(upstream_cost_calls)
    from call_hourly where hour >= ${startOf('$1::text')} and hour < ${startOf('($1::text::date + 1)')} group by 2`
export const SUM_CREDITS = `insert into credit_daily (day, kind, credits, amount_micro_vnd)
  select $1::text::date, kind, count(*), sum(amount_micro_vnd)
    from credit where at >= ${startOf('$1::text')} and at < ${startOf('($1::text::date + 1)')} group by 2`
const LOCK = 'select from call_roll_up for no key update'
const MARK = 'update call_roll_up set days_summed_before = $1::text::date + 1'
const MARK_MONTHS = `update call_roll_up set months_summed_before = $1::text::date + interval '1 month'`
const MARK_UPSTREAMS = 'update call_roll_up set upstreams_summed_before = $1::text::date + 1'
const MARK_CREDITS = 'update call_roll_up set credits_summed_before = $1::text::date + 1'

export interface SummedDays {
  /** Number of days summed by entry and by account. */
  readonly days: number
  /** Number of months summed by account. */
  readonly months: number
  /** Number of days summed by upstream. */
  readonly upstreamDays: number
  /** Number of days of credits summed by kind. */
  readonly creditDays: number
}

/** Sums past days and months that have not been summed yet. Several processes may call it at once: a lock makes them take turns. */
export async function sumDays(sql: Sql, options: DayTotalsOptions = {}): Promise<SummedDays> {
  const { lagSeconds = 60, creditLagSeconds = 3_600 } = options
  const days = await sumEach(sql, options, { next: [NEXT, [String(lagSeconds)]], sum: [...SUM, MARK] })
  const months = await sumEach(sql, options, { next: [NEXT_OF_MONTHS, []], sum: [SUM_MONTH, MARK_MONTHS] })
  const upstreamDays = await sumEach(sql, options, {
    next: [NEXT_OF_UPSTREAMS, []],
    sum: [SUM_UPSTREAMS, MARK_UPSTREAMS],
  })
  const creditDays = await sumEach(sql, options, {
    next: [NEXT_OF_CREDITS, [String(creditLagSeconds)]],
    sum: [SUM_CREDITS, MARK_CREDITS],
  })
  return { days, months, upstreamDays, creditDays }
}

async function sumEach(
  sql: Sql,
  { daysMax = 400, signal }: DayTotalsOptions,
  { next: [nextStatement, given], sum }: { next: readonly [string, string[]]; sum: readonly string[] },
): Promise<number> {
  for (let days = 0; days < daysMax && !signal?.aborted; days++) {
    const isSummed = await patiently(sql, async transaction => {
      await transaction.unsafe(LOCK)
      const [next] = await transaction.unsafe(nextStatement, given)
      if (!next?.day) return false
      for (const statement of sum) await transaction.unsafe(statement, [next.day])
      return true
    })
    if (!isSummed) return days
  }
  return daysMax
}

/**
 * SQL for the days from $1 (inclusive) to $2 (exclusive) that have been summed; NOT_SUMMED is for the others. `least` and
 * `greatest` leave a single bound on each side. With two, the planner would rely on the looser one, and read a month of days
 * instead of one.
 */
export const SUMMED = `day >= $1::text::date and day < (select least($2::text::date, days_summed_before) from call_roll_up)`
export const NOT_SUMMED = `day >= (select greatest($1::text::date, days_summed_before) from call_roll_up) and day < $2::text::date`
/**
 * SQL for the totals of each day and entry, from day $1 (inclusive) to day $2 (exclusive). Days that have been summed come from
 * `entry_daily`; later days come from `usage_daily`, which has several rows per day and entry.
 */
export const ENTRY_DAYS = `(
  select day, entry_id, ${COLUMNS} from entry_daily where ${SUMMED}
  union all
  select day, entry_id, ${COLUMNS} from usage_daily where ${NOT_SUMMED}) days`
/** Like ENTRY_DAYS, by day and account. */
export const ACCOUNT_DAYS = `(
  select day, account_id, ${COLUMNS} from account_daily where ${SUMMED}
  union all
  select day, account_id, ${COLUMNS} from usage_daily where ${NOT_SUMMED}) days`
/** Like ENTRY_DAYS, by day and upstream. Only includes calls that have been rolled up. */
export const UPSTREAM_DAYS = `(
  select day, upstream_id, calls, errors, input_tokens, output_tokens, charged_micro_vnd, upstream_cost_micro_vnd,
         upstream_cost_calls
    from upstream_daily
   where day >= $1::text::date and day < (select least($2::text::date, upstreams_summed_before) from call_roll_up)
  union all
  select (hour ${ZONE})::date, upstream_id, calls, case when status >= 400 then calls else 0 end, input_tokens, output_tokens,
         charged_micro_vnd, upstream_cost_micro_vnd, upstream_cost_calls
    from call_hourly where hour < ${startOf('$2::text')}
     and hour >= (select greatest(${startOf('$1::text')}, ${startOf('upstreams_summed_before')}) from call_roll_up)) days`
/** SQL for what was credited on each day, by kind, from day $1 to before day $2. */
export const CREDIT_DAYS = `(
  select day, kind, credits, amount_micro_vnd from credit_daily
   where day >= $1::text::date and day < (select least($2::text::date, credits_summed_before) from call_roll_up)
  union all
  select (at ${ZONE})::date, kind, count(*), sum(amount_micro_vnd)
    from credit where at < ${startOf('$2::text')}
     and at >= (select greatest(${startOf('$1::text')}, ${startOf('credits_summed_before')}) from call_roll_up)
   group by 1, 2) days`
