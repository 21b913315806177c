/**
 * Compares the sums that reports read with the sums per key and day (`usage_daily`), which the audit compares with the calls. Every
 * difference must be zero; `recount.ts` mends one.
 */

import type { AnySql } from '../lib/database.ts'
import type { AuditMode } from './audit-statement.ts'
import { SUMMED_COLUMNS, startOf, ZONE } from './day-totals.ts'

export interface DayAudit {
  readonly differences: {
    /** Number of sums per day, of all calls in one of the tables that reports read, that are wrong. */
    readonly usage_days: number
  }
  /** The first 20 days with a wrong sum. For a wrong sum of a whole month, its first day. */
  readonly usageDays: readonly string[]
}

const NAMED_MAX = 20
/** An incremental audit reads this many of the last summed days; a full one reads all of them. */
const NEW_DAYS = 7
/** Hours are compared for this many days, in which all calls are still in `usage`, and no hour has been merged or deleted. */
const HOUR_DAYS = 30

const OF_UPSTREAMS = SUMMED_COLUMNS.filter(name => name !== 'images' && name !== 'cost_micro_vnd')
const OF_HOURS = SUMMED_COLUMNS.filter(name => name !== 'errors' && name !== 'cost_micro_vnd')
const OF_ACCOUNTS = ['calls', 'input_tokens', 'output_tokens', 'images', 'charged_micro_vnd']

interface Sums {
  readonly table: string
  /** SQL for the day, or the first day of the month. */
  readonly day?: string
  /** SQL for the rows to sum. */
  readonly where: string
}

/** SQL for the days on which two tables have different sums. */
function differing(columns: readonly string[], one: Sums, other: Sums): string {
  const list = (text: (name: string) => string): string => columns.map(text).join(', ')
  const summed = ({ table, day = 'day', where }: Sums): string =>
    `(select ${day} as day, ${list(name => `sum(${name}) as ${name}`)} from ${table} cross join bounds where ${where} group by 1)`
  return `select day from ${summed(one)} one full join ${summed(other)} other using (day)
   where (${list(name => `one.${name}`)}) is distinct from (${list(name => `other.${name}`)})`
}

const HOURLY_DAY = `(hour ${ZONE})::date`
const MONTH = `date_trunc('month', day::timestamp)::date`
/** The days that a roll-up has counted completely, as far as its hours are compared. */
const counted = (mark: string): Sums => ({
  table: 'usage_daily',
  where: `day >= hours_from and day < (${mark} ${ZONE})::date`,
})
const hours = (table: string, mark: string): Sums => ({
  table,
  day: HOURLY_DAY,
  where: `hour >= ${startOf('hours_from')} and hour < ${startOf(`(${mark} ${ZONE})`)}`,
})

const USAGE_DAYS = { table: 'usage_daily', where: 'day >= days_from and day < days_summed_before' }
const UPSTREAM_DAYS = 'day >= hours_from and day < upstreams_summed_before'
const MONTH_FROM = `date_trunc('month', days_from::timestamp)::date`
const WRONG = [
  differing(SUMMED_COLUMNS, USAGE_DAYS, { ...USAGE_DAYS, table: 'entry_daily' }),
  differing(SUMMED_COLUMNS, USAGE_DAYS, { ...USAGE_DAYS, table: 'account_daily' }),
  differing(
    SUMMED_COLUMNS,
    { table: 'account_daily', day: MONTH, where: `day >= ${MONTH_FROM} and day < months_summed_before` },
    { table: 'account_monthly', day: 'month', where: `month >= ${MONTH_FROM}` },
  ),
  differing(
    OF_UPSTREAMS,
    { table: 'usage_daily', where: UPSTREAM_DAYS },
    { table: 'upstream_daily', where: UPSTREAM_DAYS },
  ),
  differing(OF_HOURS, counted('calls_before'), hours('call_hourly', 'calls_before')),
  differing(OF_ACCOUNTS, counted('accounts_before'), hours('usage_hourly', 'accounts_before')),
].join(' union all ')

const statement = (daysFrom: string, hourDays: number): string => `
with bounds as materialized (
  select ${daysFrom} as days_from, days_summed_before, months_summed_before, upstreams_summed_before,
         call_roll_up.closed_before as calls_before, usage_roll_up.closed_before as accounts_before,
         (now() ${ZONE})::date - ${hourDays} as hours_from
    from call_roll_up cross join usage_roll_up),
wrong as (${WRONG})
select (select count(*) from wrong)::integer as usage_days,
       array_to_string(array(select distinct day from wrong order by 1 limit ${NAMED_MAX}), ',') as days`

const STATEMENTS = {
  full: statement(`'-infinity'::date`, HOUR_DAYS),
  incremental: statement(`days_summed_before - ${NEW_DAYS}`, NEW_DAYS),
} as const

/** Compares the sums in the snapshot of the given transaction. */
export async function auditDays(sql: AnySql, mode: AuditMode): Promise<DayAudit> {
  const row = (await sql.unsafe(STATEMENTS[mode]))[0]!
  return { differences: { usage_days: row.usage_days }, usageDays: row.days.split(',').filter(Boolean) }
}
