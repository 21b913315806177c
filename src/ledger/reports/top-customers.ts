/** Finds the customers who paid most in a period, without summing the usage of every customer: there may be a million. */

import type { AnySql, Sql } from '../../lib/database.ts'
import { NOT_SUMMED, SUMMED } from '../day-totals.ts'
import { patiently } from '../roll-up.ts'
import { type BusinessFigure, FIGURES, toFigure } from './business.ts'
import { checkRange } from './days.ts'
import type { DayRange } from './types.ts'

export interface BusinessTop {
  readonly figures: readonly BusinessFigure[]
  /** Totals over all customers, listed or not. */
  readonly total: BusinessFigure
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
 * How many of each day's highest payers are taken. If they are too few to determine who paid most in the period, the next
 * number is tried. The last number takes every customer.
 */
const DEPTHS: readonly number[] = [200, 2_000, 2_147_483_647]
/** How many are taken of the days that have not been summed yet. All their figures are read anyway. */
const LATEST_DEPTH = '10 * $4::text::bigint'

/**
 * $1 and $2: the period; $3: number of customers to return; $4: number of highest payers to take per day, from DEPTHS. On a day
 * that has more, nobody else paid more than the last one taken, the day's cut. So a customer paid at least what the days show
 * that took them, and at most the cuts of all other days on top. The days of customers who cannot be among the top are not read.
 * Customers whom no day took paid at most the sum of all cuts, `bound`: if each of the top customers paid more, they are the top.
 */
const TOP = `with days as materialized (
    select slot::date as day from call_roll_up cross join lateral
      generate_series($1::text::date, least($2::text::date, days_summed_before) - 1, interval '1 day') slot),
-- Days that have not been summed yet.
latest as materialized (
  select day, account_id, ${SUMS}
    from usage_daily where ${NOT_SUMMED} group by day, account_id),
best as materialized (
  select day, of_day.account_id, of_day.charged, $4::text::bigint as depth
    from days cross join lateral (
      select account_id, charged_micro_vnd as charged from account_daily
       where account_daily.day = days.day order by charged_micro_vnd desc limit $4::text::integer) of_day
   union all
  select day, account_id, charged_micro_vnd, ${LATEST_DEPTH}
    from (select *, row_number() over (partition by day order by charged_micro_vnd desc) as place from latest) placed
   where place <= ${LATEST_DEPTH}),
-- If a day has as many rows as the depth, other customers may have paid as much as the last of them.
cuts as materialized (
  select day, count(*) = depth as is_cut, case when count(*) = depth then min(charged) else 0 end as least_charged
    from best group by day, depth),
bound as materialized (
  select coalesce(sum(least_charged), 0) as charged, count(*) filter (where is_cut) as days from cuts),
seen as materialized (
  select account_id, sum(charged) as at_least, sum(charged - least_charged) as above_cuts
    from best join cuts using (day) group by account_id),
candidates as (
  select account_id from seen cross join bound
   where bound.charged + above_cuts >= coalesce(
     (select at_least from seen order by at_least desc offset $3::text::integer - 1 limit 1), 0)),
figures as materialized (
  select account_id, ${SUMS}
    from (
      select candidates.account_id, of_day.*
        from candidates cross join days cross join lateral (
          select ${COLUMNS} from account_daily
           where account_daily.day = days.day and account_daily.account_id = candidates.account_id offset 0) of_day
       union all
      select account_id, ${COLUMNS} from latest join candidates using (account_id)) of_days
   group by account_id),
top as materialized (select * from figures order by charged_micro_vnd desc, account_id limit $3::text::integer)
select account_id::text as series, ${FIGURES}, null::boolean as is_proven, null::boolean as has_more from top group by account_id
 union all
select null, ${FIGURES},
       bound.days = 0 or (select count(*) = $3::text::integer and min(charged_micro_vnd) > bound.charged from top),
       (select count(*) from seen) > $3::text::integer
  from bound left join (
    select ${COLUMNS} from entry_daily where ${SUMMED} union all select ${COLUMNS} from latest) of_all on true
 group by bound.days, bound.charged`

/**
 * The customers who paid most, and the totals of all customers. Throws RangeError for an invalid period, or if even the last of
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
  const total = rows.find(({ series }) => series === null)
  const figures = rows.filter(row => row !== total).map(toFigure)
  return {
    isProven: Boolean(total?.is_proven),
    top: {
      figures: figures.toSorted((one, other) => (one.revenueMicroVnd < other.revenueMicroVnd ? 1 : -1)),
      total: toFigure({ ...total, series: '' }),
      hasMore: Boolean(total?.has_more),
    },
  }
}
