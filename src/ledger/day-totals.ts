/**
 * Sums days that are over, of all accounts: by entry, and by account. A settlement counts for the day on which it is
 * written, so a day does not change once its last transaction has committed.
 */

import type { Sql } from '../lib/database.ts'

export interface DayTotalsOptions {
  /** How long a day must be over, in seconds; longer than any settlement takes to commit. */
  readonly lagSeconds?: number
  /** Days at most; each is a transaction of its own. */
  readonly daysMax?: number
  readonly signal?: AbortSignal
}

/** Null: every day that is over has been summed. */
const NEXT = `select to_char(min(day), 'YYYY-MM-DD') as day from usage_daily
  where day >= (select days_summed_before from call_roll_up)
    and day < ((now() - make_interval(secs => $1::text::integer)) at time zone 'Asia/Ho_Chi_Minh')::date`

const COLUMNS = `calls, errors, input_tokens, output_tokens, images, cost_micro_vnd, charged_micro_vnd,
  upstream_cost_micro_vnd, upstream_cost_calls`
const SUMS = `sum(calls), sum(errors), sum(input_tokens), sum(output_tokens), sum(images), sum(cost_micro_vnd),
  sum(charged_micro_vnd), sum(upstream_cost_micro_vnd), sum(upstream_cost_calls)`
const SUM = [
  `insert into entry_daily (day, entry_id, ${COLUMNS}) select day, entry_id, ${SUMS}
    from usage_daily where day = $1::text::date group by 1, 2`,
  `insert into account_daily (day, account_id, ${COLUMNS}) select day, account_id, ${SUMS}
    from usage_daily where day = $1::text::date group by 1, 2`,
]
const LOCK = 'select from call_roll_up for no key update'
const MARK = 'update call_roll_up set days_summed_before = $1::text::date + 1'

/** Returns the number of days summed. May be run by several processes: they wait for each other. */
export async function sumDays(sql: Sql, options: DayTotalsOptions = {}): Promise<number> {
  const { lagSeconds = 60, daysMax = 400, signal } = options
  for (let days = 0; days < daysMax && !signal?.aborted; days++) {
    const isSummed = await sql.begin(async transaction => {
      await transaction.unsafe(LOCK)
      const [next] = await transaction.unsafe(NEXT, [String(lagSeconds)])
      if (!next?.day) return false
      for (const statement of [...SUM, MARK]) await transaction.unsafe(statement, [next.day])
      return true
    })
    if (!isSummed) return days
  }
  return daysMax
}

const IN_PERIOD = 'day >= $1::text::date and day < $2::text::date'
const SUMMED_BEFORE = '(select days_summed_before from call_roll_up)'
/**
 * Sums by day and entry from day $1 to before $2, to be summed further: from `entry_daily` where their days are in it, from
 * `usage_daily` after that.
 */
export const ENTRY_DAYS = `(
  select day, entry_id, ${COLUMNS} from entry_daily where ${IN_PERIOD} and day < ${SUMMED_BEFORE}
  union all
  select day, entry_id, ${COLUMNS} from usage_daily where ${IN_PERIOD} and day >= ${SUMMED_BEFORE}) days`
/** The same by day and account. */
export const ACCOUNT_DAYS = `(
  select day, account_id, ${COLUMNS} from account_daily where ${IN_PERIOD} and day < ${SUMMED_BEFORE}
  union all
  select day, account_id, ${COLUMNS} from usage_daily where ${IN_PERIOD} and day >= ${SUMMED_BEFORE}) days`
