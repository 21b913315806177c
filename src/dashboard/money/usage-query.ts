/** Reads the filters of the usage page from its query string. */

import { addDays, dayOf, isDay, startOfDay } from '../../ledger/reports/days.ts'
import { SPLITS, type Split } from '../../ledger/reports/hourly.ts'
import type { HourlyFilter, UsageFilter } from '../../ledger/reports/types.ts'
import { HOURS_DAYS } from '../../ledger/roll-up-accounts.ts'
import type { Form } from '../form.ts'

export const MEASURES = ['cost', 'calls', 'tokens'] as const
export type Measure = (typeof MEASURES)[number]

export interface UsageQuery extends HourlyFilter {
  /** First day in Vietnam's calendar; `to` is the last, inclusive. */
  readonly from: string
  readonly to: string
  /** With a single day: only calls that ended in this hour; null for all hours. */
  readonly hour: number | null
  /** Time span of one bar in the chart. */
  readonly per: 'hour' | 'day'
  readonly by: Split
  readonly measure: Measure
  readonly beforeSeq: number | null
}

const DAYS_DEFAULT = 30
/** Longest period whose chart may have a bar for each hour, in days. */
const HOURLY_DAYS_MAX = 7
const HOUR_MS = 3_600_000

/** Never throws: ignores invalid parameters and shortens periods that are too long. */
export function readUsageQuery(query: Form, { now, daysMax }: { now: Date; daysMax: number }): UsageQuery {
  const today = dayOf(now)
  const to = readDay(query.text('to')) ?? today
  const wanted = readDay(query.text('from')) ?? addDays(to, 1 - DAYS_DEFAULT)
  const earliest = addDays(to, 1 - daysMax)
  const from = wanted > to ? to : wanted < earliest ? earliest : wanted
  const hasHours = from > addDays(today, 1 - HOURS_DAYS) && addDays(from, HOURLY_DAYS_MAX) > to
  const hour = hasHours && from === to ? readNumber(query.text('hour'), 0, 23) : null
  // The figures of a single hour are among those by the hour.
  const per = hour === null ? (query.choice('per', ['hour', 'day']) ?? (from === to ? 'hour' : 'day')) : 'hour'
  const keyId = readNumber(query.text('key'), 1, Number.MAX_SAFE_INTEGER)
  const status = query.choice('status', ['ok', 'error']) ?? readNumber(query.text('status'), 100, 599)
  const [entryId, tag] = [query.text('model'), query.text('tag')]
  return {
    from,
    to,
    hour,
    per: hasHours ? per : 'day',
    ...(keyId !== null && { keyId }),
    ...(entryId !== '' && { entryId }),
    ...(status !== null && { status }),
    ...(tag !== '' && { tag }),
    by: query.choice('by', SPLITS) ?? 'model',
    measure: query.choice('measure', MEASURES) ?? 'cost',
    beforeSeq: readNumber(query.text('before'), 1, Number.MAX_SAFE_INTEGER),
  }
}

function readDay(text: string): string | null {
  return isDay(text) ? text : null
}

function readNumber(text: string, min: number, max: number): number | null {
  if (!/^\d{1,16}$/.test(text)) return null
  const value = Number(text)
  return value >= min && value <= max ? value : null
}

/** The filter that the totals, the rows and the export share. */
export function rowFilter({ from, to, hour, keyId, entryId, status, tag }: UsageQuery): UsageFilter & Period {
  const start = startOfDay(from).getTime()
  const period =
    hour === null
      ? { from: startOfDay(from), to: startOfDay(addDays(to, 1)) }
      : { from: new Date(start + hour * HOUR_MS), to: new Date(start + (hour + 1) * HOUR_MS) }
  return {
    ...period,
    ...(keyId !== undefined && { keyId }),
    ...(entryId !== undefined && { entryId }),
    ...(status !== undefined && { status }),
    ...(tag !== undefined && { tag }),
  }
}

interface Period {
  readonly from: Date
  readonly to: Date
}

/** The period in whole days, even if an hour is chosen, because the chart still shows the other hours. */
export function periodOf({ from, to }: Pick<UsageQuery, 'from' | 'to'>): Period {
  return { from: startOfDay(from), to: startOfDay(addDays(to, 1)) }
}
