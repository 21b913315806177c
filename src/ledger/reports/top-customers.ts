/** Finds the customers who paid most in a period, without summing the usage of every customer: there may be a million. */

import type { AnySql, Sql } from '../../lib/database.ts'
import { NOT_SUMMED } from '../day-totals.ts'
import { patiently } from '../roll-up.ts'
import { type BusinessFigure, byRevenue, FIGURES, toFigure } from './business.ts'
import { checkRange } from './days.ts'
import type { DayRange } from './types.ts'

export interface BusinessTop {
  readonly figures: readonly BusinessFigure[]
  readonly hasMore: boolean
}

const NAMES = [
  'calls',
  'errors',
  'input_tokens',
  'output_tokens',
  'charged_micro_vnd',
  'upstream_cost_micro_vnd',
  'upstream_cost_calls',
]
const COLUMNS = NAMES.join(', ')
const SUMS = NAMES.map(name => `sum(${name})::bigint as ${name}`).join(', ')

/**
 * How many of each day's or month's highest payers are taken. If they are too few to determine who paid most in the period, the
 * next number is tried. The last number takes every customer.
 */
const DEPTHS: readonly number[] = [200, 2_000, 2_147_483_647]
/** How many are taken of the days that have not been summed yet. All their rows are read anyway. */
const LATEST_DEPTH = '10 * $4::text::bigint'

/** SQL for a slot's highest payers. If they are as many as `depth`, other customers may have paid as much as the last: the cut. */
const bestOf = (depth: string): string => `array_agg(account_id) as accounts, array_agg(charged) as charges,
  count(*) = ${depth} as is_cut, case when count(*) = ${depth} then min(charged) else 0 end as cut`

/** Tables of sums; the column and the CTE of the slots that are read from each. */
const SUMMED_IN = [
  ['account_monthly', 'month', 'months'],
  ['account_daily', 'day', 'days'],
] as const
/** SQL for the highest payers of each slot. */
const BEST = SUMMED_IN.map(
  ([table, slot, slots]) => `
  select of_slot.* from ${slots} cross join lateral (
      select ${bestOf('$4::text::bigint')} from (
        select account_id, charged_micro_vnd as charged from ${table}
         where ${table}.${slot} = ${slots}.${slot} order by charged_micro_vnd desc limit $4::text::integer) payers) of_slot`,
).join(' union all')
/** SQL for what each candidate paid in each slot. */
const PAID = SUMMED_IN.map(
  ([table, slot, slots]) => `
      select candidates.account_id, of_slot.*
        from candidates cross join ${slots} cross join lateral (
          select ${COLUMNS} from ${table}
           where ${table}.${slot} = ${slots}.${slot} and ${table}.account_id = candidates.account_id offset 0) of_slot`,
).join(' union all')

/**
 * $1 and $2: the period; $3: number of customers to return; $4: number of highest payers to take per slot, from DEPTHS. A slot is
 * a month that is in the period as a whole and has been summed, or another day. In a slot that has more payers, nobody else paid
 * more than the last one taken, the slot's cut. So a customer paid at least what the slots show that took them, and at most the cuts
 * of all other slots on top. The slots of customers who cannot be among the top are not read. Customers whom no slot took paid at
 * most the sum of all cuts, `bound`: if each of the top customers paid more, they are the top.
 */
const TOP = `with months as materialized (
    select slot::date as month from call_roll_up cross join lateral
      generate_series(date_trunc('month', $1::text::timestamp - interval '1 day') + interval '1 month',
                      least($2::text::date, months_summed_before)::timestamp - interval '1 month', interval '1 month') slot),
days as materialized (
    select slot::date as day from call_roll_up cross join lateral
      generate_series($1::text::date, least($2::text::date, days_summed_before) - 1, interval '1 day') slot
     where date_trunc('month', slot)::date not in (select month from months)),
-- What each customer paid on each day that has not been summed yet.
latest as (
  select day, account_id, sum(charged_micro_vnd)::bigint as charged from usage_daily where ${NOT_SUMMED} group by day, account_id),
-- One row per slot: its highest payers, what they paid, and the cut.
best as materialized (${BEST}
   union all
  select ${bestOf(LATEST_DEPTH)}
    from (select *, row_number() over (partition by day order by charged desc) as place from latest) payers
   where place <= ${LATEST_DEPTH} group by day),
bound as materialized (
  select coalesce(sum(cut), 0) as charged, count(*) filter (where is_cut) as slots from best),
seen as materialized (
  select account_id, sum(charged) as at_least, sum(charged - cut) as above_cuts
    from best cross join lateral unnest(accounts, charges) as payer(account_id, charged) group by account_id),
candidates as (
  select account_id from seen cross join bound
   where bound.charged + above_cuts >= coalesce(
     (select at_least from seen order by at_least desc offset $3::text::integer - 1 limit 1), 0)),
figures as materialized (
  select account_id, ${SUMS}
    from (${PAID}
       union all
      select candidates.account_id, of_latest.*
        from candidates cross join lateral (
          select ${COLUMNS} from usage_daily where usage_daily.account_id = candidates.account_id and ${NOT_SUMMED} offset 0) of_latest) of_slots
   group by account_id),
top as materialized (select * from figures order by charged_micro_vnd desc, account_id limit $3::text::integer)
select account_id::text as series, ${FIGURES},
       bound.slots = 0 or (select count(*) = $3::text::integer and min(charged_micro_vnd) > bound.charged from top) as is_proven,
       (select count(*) from seen) > $3::text::integer as has_more
  from bound left join top on true group by account_id, bound.slots, bound.charged`

/**
 * The customers who paid most, the highest revenue first. Throws RangeError for an invalid period, or if even the last of
 * `depths` is too small to determine who paid most.
 */
export async function readTopCustomers(
  sql: Sql,
  { limit, depths = DEPTHS, ...range }: DayRange & { readonly limit: number; readonly depths?: readonly number[] },
): Promise<BusinessTop> {
  checkRange(range)
  const at = (depth: number) => (asked: AnySql) =>
    asked.unsafe(TOP, [range.from, range.to, String(limit), String(depth)])
  for (const depth of depths) {
    const { isProven, top } = resultOf(await patiently(sql, at(depth)))
    if (isProven) return top
  }
  throw new RangeError('no depth proves who paid most; the last one must take every customer')
}

function resultOf(rows: readonly Readonly<Record<string, unknown>>[]): { isProven: boolean; top: BusinessTop } {
  const figures = rows.filter(({ series }) => series !== null).map(toFigure)
  return {
    isProven: Boolean(rows[0]?.is_proven),
    top: {
      figures: figures.toSorted(byRevenue),
      hasMore: Boolean(rows[0]?.has_more),
    },
  }
}
