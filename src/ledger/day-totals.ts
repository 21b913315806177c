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

const SUMMED = [
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

const sumBy = (table: string, series: string): string => `insert into ${table} (day, ${series}, ${SUMMED.join(', ')})
  select day, ${series}, ${SUMMED.map(column => `sum(${column})`).join(', ')}
    from usage_daily where day = $1::text::date group by 1, 2`
const BY_ENTRY = sumBy('entry_daily', 'entry_id')
const BY_ACCOUNT = sumBy('account_daily', 'account_id')
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
      for (const statement of [BY_ENTRY, BY_ACCOUNT, MARK]) await transaction.unsafe(statement, [next.day])
      return true
    })
    if (!isSummed) return days
  }
  return daysMax
}

/**
 * Rows of the days from $1 to before $2, to be summed further: of `entry_daily` or `account_daily` where their days are
 * in it, of `usage_daily` from there on.
 */
export function dailyRows(table: 'entry_daily' | 'account_daily'): string {
  const columns = `day, ${table === 'entry_daily' ? 'entry_id' : 'account_id'}, ${SUMMED.join(', ')}`
  const inPeriod = 'day >= $1::text::date and day < $2::text::date'
  const summed = '(select days_summed_before from call_roll_up)'
  return `(select ${columns} from ${table} where ${inPeriod} and day < ${summed}
    union all select ${columns} from usage_daily where ${inPeriod} and day >= ${summed}) days`
}
