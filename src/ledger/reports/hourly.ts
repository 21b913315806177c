/**
 * Sums by hour or day under every filter that the list of calls has: what is rolled up, and behind its mark the calls
 * themselves. Nothing is missing and nothing counted twice, because one statement reads the mark and both sides of it.
 */

import type { AnySql } from '../../lib/database.ts'
import { microVnd, ZERO_MICRO_VND } from '../../lib/money.ts'
import { statusRange } from './rows.ts'
import type { HourlyFigure, HourlyFilter } from './types.ts'

export const SPLITS = ['model', 'key', 'tag'] as const
export type Split = (typeof SPLITS)[number]

export interface HourlyRequest {
  readonly accountId: number
  /** Full hours. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  readonly filter?: HourlyFilter
  readonly per: 'hour' | 'day'
  readonly by: Split
}

const COUNTED = `
with mark as materialized (select closed_before from usage_roll_up),
counted as (
  select hour, key_id, entry_id, status, tag, calls, input_tokens, cached_input_tokens, output_tokens, reasoning_tokens,
         images, charged_micro_vnd
    from usage_hourly
   where account_id = $1::text::bigint and hour >= $2::text::timestamptz and hour < $3::text::timestamptz
  union all
  select date_trunc('hour', closed_at, 'UTC'), key_id, entry_id, status, coalesce(tag, ''), 1, input_tokens,
         cached_input_tokens, output_tokens, reasoning_tokens, images, charged_micro_vnd
    from usage
   where account_id = $1::text::bigint and closed_at < $3::text::timestamptz
     and closed_at >= greatest((select closed_before from mark), $2::text::timestamptz))`
const FIGURES = `${COUNTED}
select to_char(hour at time zone 'Asia/Ho_Chi_Minh', case $9 when 'hour' then 'YYYY-MM-DD"T"HH24' else 'YYYY-MM-DD' end) as at,
       case $10 when 'key' then key_id::text when 'tag' then tag else entry_id end as series,
       sum(calls)::text as calls, coalesce(sum(calls) filter (where status >= 400), 0)::text as errors,
       sum(input_tokens)::text as input_tokens, sum(cached_input_tokens)::text as cached_input_tokens,
       sum(output_tokens)::text as output_tokens, sum(reasoning_tokens)::text as reasoning_tokens,
       sum(images)::text as images, sum(charged_micro_vnd)::text as charged
  from counted
 where ($4::text is null or key_id = $4::text::bigint) and ($5::text is null or entry_id = $5)
   and ($6::text is null or status between $6::text::integer and $7::text::integer) and ($8::text is null or tag = $8)
 group by 1, 2 order by 1, 2`
const CHOICES = `${COUNTED}
select entry_id, status, tag, sum(calls)::text as calls from counted
 group by grouping sets ((entry_id), (status), (tag)) order by sum(calls) desc`

/** One per hour or day and series with calls, in that order. */
export async function readHourly(sql: AnySql, request: HourlyRequest): Promise<readonly HourlyFigure[]> {
  const { filter = {}, per, by } = request
  const { keyId, entryId, status, tag } = filter
  const filters = [keyId === undefined ? null : String(keyId), entryId ?? null, ...statusRange(status), tag ?? null]
  const rows = await sql.unsafe(FIGURES, [...periodOf(request), ...filters, per, by])
  return rows.map(toFigure)
}

export interface UsageChoices {
  /** Entries, the most used first; '' where none was chosen. */
  readonly entryIds: readonly string[]
  readonly statuses: readonly number[]
  readonly tags: readonly string[]
}

/** What calls of a period can be filtered by. */
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
    series: from.series as string,
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
