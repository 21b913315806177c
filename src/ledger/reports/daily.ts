/** Reads daily sums from the roll-up, whose size does not depend on the number of calls. */

import type { AnySql } from '../../lib/database.ts'
import { microVnd, ZERO_MICRO_VND } from '../../lib/money.ts'
import { checkRange } from './days.ts'
import type { DailyFigure, DailyFilter, DayRange, UsageSums } from './types.ts'

const SUMS = `sum(calls)::text as calls, sum(errors)::text as errors, sum(input_tokens)::text as input_tokens,
  sum(output_tokens)::text as output_tokens, sum(images)::text as images, sum(cost_micro_vnd)::text as cost,
  sum(charged_micro_vnd)::text as charged`
const FROM = `from usage_daily where account_id = $1::text::bigint and day >= $2::text::date and day < $3::text::date
  and ($4::text is null or key_id = $4::text::bigint) and ($5::text is null or entry_id = $5)`
const SERIES = { model: 'entry_id', key: 'key_id::text' } as const
const TOTALS = `select ${SUMS} ${FROM}`

export type DailyRequest = DayRange & { readonly accountId: number; readonly filter?: DailyFilter }

/**
 * Returns a figure for each day and each model or key that had calls on it, sorted by day, then by model or key. Throws
 * RangeError for an invalid period.
 */
export async function readDaily(
  sql: AnySql,
  request: DailyRequest & { readonly by: 'model' | 'key' },
): Promise<readonly DailyFigure[]> {
  checkRange(request)
  const statement = `select to_char(day, 'YYYY-MM-DD') as day, ${SERIES[request.by]} as series, ${SUMS} ${FROM}
    group by 1, 2 order by 1, 2`
  const rows = await sql.unsafe(statement, parametersOf(request))
  return rows.map(row => ({ day: row.day, series: row.series, ...toSums(row) }))
}

/** Returns the sums over all days of the period. Throws RangeError for an invalid period. */
export async function readTotals(sql: AnySql, request: DailyRequest): Promise<UsageSums> {
  checkRange(request)
  return toSums((await sql.unsafe(TOTALS, parametersOf(request)))[0]!)
}

function parametersOf({ accountId, from, to, filter }: DailyRequest): (string | null)[] {
  const keyId = filter?.keyId === undefined ? null : String(filter.keyId)
  return [String(accountId), from, to, keyId, filter?.entryId ?? null]
}

function toSums(row: unknown): UsageSums {
  const from = row as Readonly<Record<string, string | null>>
  const count = (name: string): number => Number(from[name] ?? 0)
  const money = (name: string) => (from[name] == null ? ZERO_MICRO_VND : microVnd(BigInt(from[name])))
  return {
    calls: count('calls'),
    errors: count('errors'),
    inputTokens: count('input_tokens'),
    outputTokens: count('output_tokens'),
    images: count('images'),
    costMicroVnd: money('cost'),
    chargedMicroVnd: money('charged'),
  }
}
