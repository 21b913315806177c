/** The operator's revenue and cost over all accounts, read from daily and hourly totals. */

import type { AnySql } from '../../lib/database.ts'
import { type MicroVnd, microVnd } from '../../lib/money.ts'
import { ACCOUNT_DAYS, ENTRY_DAYS, UPSTREAM_DAYS } from '../day-totals.ts'
import { checkRange } from './days.ts'
import type { Day, DayRange } from './types.ts'

export const BUSINESS_SPLITS = ['day', 'model', 'upstream', 'customer'] as const
export type BusinessSplit = (typeof BUSINESS_SPLITS)[number]

export interface BusinessFigure {
  /** The day, entry id, upstream or account number of these figures; '' if the calls had none. */
  readonly series: string
  readonly calls: number
  readonly errors: number
  readonly inputTokens: number
  readonly outputTokens: number
  readonly revenueMicroVnd: MicroVnd
  /** Cost of the calls whose cost is known. */
  readonly costMicroVnd: MicroVnd
  readonly costKnownCalls: number
}

export const FIGURES = `sum(calls)::text as calls, sum(errors)::text as errors, sum(input_tokens)::text as input_tokens,
  sum(output_tokens)::text as output_tokens, sum(charged_micro_vnd)::text as revenue,
  sum(upstream_cost_micro_vnd)::text as cost, sum(upstream_cost_calls)::text as known`
// Groups by the columns, not by their texts: there are many more rows than groups.
const MODEL_DAYS = `select to_char(days.day, 'YYYY-MM-DD') as day, entry_id as series, ${FIGURES} from ${ENTRY_DAYS}
  group by days.day, entry_id order by days.day, entry_id`
const STATEMENTS = {
  customer: `select account_id::text as series, ${FIGURES} from ${ACCOUNT_DAYS} group by account_id`,
  upstream: `select upstream_id as series, ${FIGURES} from ${UPSTREAM_DAYS} group by 1`,
}

/** What one model earned and cost on one day; `series` is the entry id. */
export interface ModelDay extends BusinessFigure {
  readonly day: Day
}

/**
 * Returns revenue and cost of each day and model, sorted by day, then by model. A large service has many rows of the newest day to
 * add up, so a page reads them once and derives its other figures from them. Throws RangeError for an invalid period.
 */
export async function readModelDays(sql: AnySql, range: DayRange): Promise<readonly ModelDay[]> {
  checkRange(range)
  const rows = await sql.unsafe(MODEL_DAYS, [range.from, range.to])
  return rows.map(row => ({ day: row.day, ...toFigure(row) }))
}

/**
 * Returns revenue and cost. If split by day, the latest day comes first; otherwise, the highest revenue does. Figures by
 * upstream lag by about a minute. Throws RangeError for an invalid period.
 */
export async function readBusiness(
  sql: AnySql,
  { by, ...range }: DayRange & { readonly by: BusinessSplit },
): Promise<readonly BusinessFigure[]> {
  if (by === 'day') return sumByDay(await readModelDays(sql, range))
  if (by === 'model') return sumBy(await readModelDays(sql, range), ({ series }) => series)
  checkRange(range)
  const rows = await sql.unsafe(STATEMENTS[by], [range.from, range.to])
  return rows.map(toFigure).toSorted(byRevenue)
}

/** Adds up the figures of each series, the highest revenue first. */
export function sumBy<Figure extends BusinessFigure>(
  figures: readonly Figure[],
  seriesOf: (figure: Figure) => string,
): readonly BusinessFigure[] {
  const grouped = Map.groupBy(figures, seriesOf)
  return [...grouped].map(([series, members]) => addFigures(series, members)).toSorted(byRevenue)
}

/** Adds up the figures of each day, the latest day first. */
export function sumByDay(figures: readonly ModelDay[]): readonly BusinessFigure[] {
  return sumBy(figures, ({ day }) => day).toSorted((one, other) => (one.series < other.series ? 1 : -1))
}

/** For sorting: the highest revenue first. */
export function byRevenue(one: BusinessFigure, other: BusinessFigure): number {
  return one.revenueMicroVnd < other.revenueMicroVnd ? 1 : -1
}

export function addFigures(series: string, figures: readonly BusinessFigure[]): BusinessFigure {
  const total = (pick: (figure: BusinessFigure) => number) => figures.reduce((sum, figure) => sum + pick(figure), 0)
  const money = (pick: (figure: BusinessFigure) => MicroVnd) =>
    microVnd(figures.reduce((sum, figure) => sum + pick(figure), 0n))
  return {
    series,
    calls: total(figure => figure.calls),
    errors: total(figure => figure.errors),
    inputTokens: total(figure => figure.inputTokens),
    outputTokens: total(figure => figure.outputTokens),
    revenueMicroVnd: money(figure => figure.revenueMicroVnd),
    costMicroVnd: money(figure => figure.costMicroVnd),
    costKnownCalls: total(figure => figure.costKnownCalls),
  }
}

/** Calls of unknown cost, per successful call, that do not change the margin noticeably. */
const NEGLIGIBLE = 0.005

const UNTIL_NOW = `
with bounds as (select $1::text::timestamptz as since, $2::text::timestamptz as until)
select coalesce(sum(calls * share), 0)::bigint::text as calls, coalesce(sum(calls * share) filter (where status >= 400), 0)::bigint::text as errors,
       coalesce(sum(input_tokens * share), 0)::bigint::text as input_tokens,
       coalesce(sum(output_tokens * share), 0)::bigint::text as output_tokens,
       coalesce(sum(charged_micro_vnd * share), 0)::bigint::text as revenue,
       coalesce(sum(upstream_cost_micro_vnd * share), 0)::bigint::text as cost,
       coalesce(sum(upstream_cost_calls * share), 0)::bigint::text as known, '' as series
  from bounds, call_hourly, lateral (
    select least(1, extract(epoch from until - hour) / 3600) as share) part
 where hour >= since and hour < until`

/** Sums the figures from `since`, a full hour, to `until`, a time in the past. A partial last hour counts pro rata. */
export async function readUntil(
  sql: AnySql,
  { since, until }: { readonly since: Date; readonly until: Date },
): Promise<BusinessFigure> {
  return toFigure((await sql.unsafe(UNTIL_NOW, [since.toISOString(), until.toISOString()]))[0])
}

export function toFigure(row: unknown): BusinessFigure {
  const from = row as Readonly<Record<string, string>>
  return {
    series: from.series ?? '',
    calls: Number(from.calls ?? 0),
    errors: Number(from.errors ?? 0),
    inputTokens: Number(from.input_tokens ?? 0),
    outputTokens: Number(from.output_tokens ?? 0),
    revenueMicroVnd: microVnd(BigInt(from.revenue ?? 0)),
    costMicroVnd: microVnd(BigInt(from.cost ?? 0)),
    costKnownCalls: Number(from.known ?? 0),
  }
}

/** What the calls of known cost have cost; null if there are none. */
export function knownCostOf({ costMicroVnd, costKnownCalls }: BusinessFigure): MicroVnd | null {
  return costKnownCalls === 0 ? null : costMicroVnd
}

/** Revenue minus known cost; null if no cost is known. Too high if some costs are unknown. */
export function marginOf(figure: BusinessFigure): MicroVnd | null {
  const cost = knownCostOf(figure)
  return cost === null ? null : microVnd(figure.revenueMicroVnd - cost)
}

/**
 * How many calls may have cost something that is not known: those served without a price, and those that failed after an attempt.
 * 0 if they are too few, compared with the calls that succeeded, to change the margin. Calls that were never attempted are known to
 * cost nothing.
 */
export function costUnknownCalls({ calls, errors, costKnownCalls }: BusinessFigure): number {
  const unknown = calls - costKnownCalls
  return unknown > NEGLIGIBLE * (calls - errors) ? unknown : 0
}
