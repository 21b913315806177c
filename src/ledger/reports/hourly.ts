/**
 * Sums by hour or day, with the same filters as the list of calls. They come from the hourly roll-up as far as it reaches, and
 * from the usage rows of calls that ended later. A single statement reads the end of the roll-up, its sums and those rows, so
 * nothing is missing or counted twice.
 */

import type { AnySql } from '../../lib/database.ts'
import { microVnd, ZERO_MICRO_VND } from '../../lib/money.ts'
import { SUMS_DAYS } from '../roll-up-accounts.ts'
import { addDays, dayOf } from './days.ts'
import { statusRange } from './rows.ts'
import type { Day, HourlyFigure, HourlyFilter } from './types.ts'

export const SPLITS = ['model', 'key', 'tag'] as const
export type Split = (typeof SPLITS)[number]

export interface HourlyRequest {
  readonly accountId: number
  /** Must be on the hour. */
  readonly from: Date
  /** Exclusive bound. */
  readonly to: Date
  readonly filter?: HourlyFilter
  readonly per: 'hour' | 'day'
  readonly by: Split
}

const SUMS = ['calls', 'input_tokens', 'cached_input_tokens', 'output_tokens', 'reasoning_tokens', 'images'] as const
/** Parses the period's bounds once; plain parameters would be parsed again for each row. */
const ASKED = `
asked as materialized (select $2::text::timestamptz as since, $3::text::timestamptz as until),
mark as materialized (select closed_before from usage_roll_up)`
const ROLLED_UP = `usage_hourly
 where account_id = $1::text::bigint and hour >= (select since from asked) and hour < (select until from asked)`
const BEHIND_MARK = `usage
 where account_id = $1::text::bigint and closed_at < (select until from asked)
   and closed_at >= greatest((select closed_before from mark), (select since from asked))`
/** SQL for the filter, whose parameters are $4 to $8. */
const filtered = (tag: string): string => `
   and ($4::text is null or key_id = $4::text::bigint) and ($5::text is null or entry_id = $5)
   and ($6::text is null or status between $6::text::integer and $7::text::integer) and ($8::text is null or ${tag} = $8)`
/**
 * SQL for the start of the hour or day, in Vietnam, that contains a time. `date_bin` merely divides seconds, which is fastest
 * for many rows.
 */
const slotOf = (time: string): string =>
  `date_bin(case $9 when 'hour' then interval '1 hour' else interval '1 day' end, ${time}, timestamptz '2000-01-01 00:00+07')`
const SERIES = { model: 'entry_id', key: 'key_id', tag: 'tag' } as const satisfies Record<Split, string>

/** The series that are named are this many with the greatest cost, as many with the most calls, and as many with the most tokens. */
const NAMED_MAX = 20

/** SQL for the figures. It formats numbers after summing: once per sum instead of once per row. */
function figuresBy(by: Split): string {
  const sums = [...SUMS, 'charged_micro_vnd']
  const total = (name: string): string => `sum(${name}) as ${name}`
  return `
with ${ASKED},
slots as (
  select ${slotOf('hour')} as slot, ${SERIES[by]} as series, ${sums.map(total).join(', ')},
         sum(calls) filter (where status >= 400) as errors
    from ${ROLLED_UP}${filtered('tag')} group by 1, 2
  union all
  select ${slotOf('closed_at')}, ${by === 'tag' ? "coalesce(tag, '')" : SERIES[by]}, count(*),
         ${sums.slice(1).map(total).join(', ')}, count(*) filter (where status >= 400)
    from ${BEHIND_MARK}${filtered("coalesce(tag, '')")} group by 1, 2),
ranked as (
  select series, row_number() over (order by sum(charged_micro_vnd) desc, series) as cost,
         row_number() over (order by sum(calls) desc, series) as calls,
         row_number() over (order by sum(input_tokens) + sum(output_tokens) desc, series) as tokens
    from slots group by series),
named as (select series from ranked where least(cost, calls, tokens) <= ${NAMED_MAX})
select to_char(slot at time zone 'Asia/Ho_Chi_Minh', case $9 when 'hour' then 'YYYY-MM-DD"T"HH24' else 'YYYY-MM-DD' end) as at,
       named.series::text as series, ${SUMS.map(name => `sum(${name})::text as ${name}`).join(', ')},
       coalesce(sum(errors), 0)::text as errors, sum(charged_micro_vnd)::text as charged
  from slots left join named using (series) group by slot, named.series order by slot, named.series::text`
}

const FIGURES = { model: figuresBy('model'), key: figuresBy('key'), tag: figuresBy('tag') } as const
/** Most entries, statuses and tags to return. */
const CHOICES_MAX = 1_000
/** Counts sums, not calls: the primary key of `usage_hourly` has all that is read, so none of its rows, which lie far apart. */
const CHOICES = `
with ${ASKED},
kinds as (
  select entry_id, status, tag, count(*) as sums from ${ROLLED_UP} group by 1, 2, 3
  union all
  select distinct entry_id, status, coalesce(tag, ''), 1 from ${BEHIND_MARK}),
choices as (
  select entry_id, status, tag, sum(sums) as sums,
         row_number() over (partition by grouping(entry_id, status, tag) order by sum(sums) desc) as place
    from kinds group by grouping sets ((entry_id), (status), (tag)))
select entry_id, status, tag from choices where place <= ${CHOICES_MAX} order by sums desc`

/**
 * Returns one figure for each hour or day and each model, key or tag that had calls in it, ordered by time, then by model, key
 * or tag. Of thousands, only the largest are named; the others share a figure.
 */
export async function readHourly(sql: AnySql, request: HourlyRequest): Promise<readonly HourlyFigure[]> {
  const { filter = {}, per, by } = request
  const { keyId, entryId, status, tag } = filter
  const filters = [keyId === undefined ? null : String(keyId), entryId ?? null, ...statusRange(status), tag ?? null]
  const rows = await sql.unsafe(FIGURES[by], [...periodOf(request), ...filters, per])
  return rows.map(toFigure)
}

/** The first day in Vietnam whose calls are in the sums. */
export function firstSummedDay(now: Date): Day {
  return addDays(dayOf(now), 1 - SUMS_DAYS)
}

export interface UsageChoices {
  /** Ids of the entries; '' for calls that ended before an entry was chosen. */
  readonly entryIds: readonly string[]
  readonly statuses: readonly number[]
  readonly tags: readonly string[]
}

/** The values by which the calls of a period can be filtered, those with calls in most hours first. */
export async function readChoices(
  sql: AnySql,
  request: Pick<HourlyRequest, 'accountId' | 'from' | 'to'>,
): Promise<UsageChoices> {
  const rows = await sql.unsafe(CHOICES, periodOf(request))
  const entryIds = rows.flatMap(({ entry_id: id }) => (id === null ? [] : [String(id)]))
  const statuses = rows.flatMap(({ status }) => (status === null ? [] : [Number(status)]))
  const tags = rows.flatMap(({ tag }) => (tag === null || tag === '' ? [] : [String(tag)]))
  return { entryIds, statuses, tags }
}

function periodOf({ accountId, from, to }: Pick<HourlyRequest, 'accountId' | 'from' | 'to'>): string[] {
  return [String(accountId), from.toISOString(), to.toISOString()]
}

export type HourlySums = Omit<HourlyFigure, 'at' | 'series'>

export function addHourly(figures: readonly HourlyFigure[]): HourlySums {
  const sum = (pick: (figure: HourlyFigure) => number): number =>
    figures.reduce((total, figure) => total + pick(figure), 0)
  return {
    calls: sum(figure => figure.calls),
    errors: sum(figure => figure.errors),
    inputTokens: sum(figure => figure.inputTokens),
    cachedInputTokens: sum(figure => figure.cachedInputTokens),
    outputTokens: sum(figure => figure.outputTokens),
    reasoningTokens: sum(figure => figure.reasoningTokens),
    images: sum(figure => figure.images),
    chargedMicroVnd: figures.reduce((total, { chargedMicroVnd }) => microVnd(total + chargedMicroVnd), ZERO_MICRO_VND),
  }
}

function toFigure(row: unknown): HourlyFigure {
  const from = row as Readonly<Record<string, string>>
  const count = (name: string): number => Number(from[name])
  return {
    at: from.at as string,
    series: (from as Readonly<Record<string, string | null>>).series ?? null,
    calls: count('calls'),
    errors: count('errors'),
    inputTokens: count('input_tokens'),
    cachedInputTokens: count('cached_input_tokens'),
    outputTokens: count('output_tokens'),
    reasoningTokens: count('reasoning_tokens'),
    images: count('images'),
    chargedMicroVnd: microVnd(BigInt(from.charged as string)),
  }
}
