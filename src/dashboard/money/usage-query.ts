/** The filters of the usage page, read once from its query. */

import { addDays, dayOf, isDay, startOfDay } from '../../ledger/reports/days.ts'
import type { UsageFilter } from '../../ledger/reports/types.ts'
import type { Form } from '../form.ts'

export interface UsageQuery {
  /** Vietnamese calendar days, inclusive. */
  readonly from: string
  readonly to: string
  readonly keyId: number | null
  readonly entryId: string | null
  readonly status: 'ok' | 'error' | null
  readonly by: 'model' | 'key'
  readonly measure: 'cost' | 'calls' | 'tokens'
  readonly beforeSeq: number | null
}

const DAYS_DEFAULT = 30

/** A query never fails: unreadable parts are ignored, and too long a period is cut. */
export function readUsageQuery(query: Form, { now, daysMax }: { now: Date; daysMax: number }): UsageQuery {
  const today = dayOf(now)
  const to = readDay(query.text('to')) ?? today
  const wanted = readDay(query.text('from')) ?? addDays(to, 1 - DAYS_DEFAULT)
  const earliest = addDays(to, 1 - daysMax)
  const from = wanted > to ? to : wanted < earliest ? earliest : wanted
  const key = Number(query.text('key'))
  const before = Number(query.text('before'))
  return {
    from,
    to,
    keyId: Number.isSafeInteger(key) && key > 0 ? key : null,
    entryId: query.text('model') || null,
    status: query.choice('status', ['ok', 'error']),
    by: query.choice('by', ['key']) ?? 'model',
    measure: query.choice('measure', ['calls', 'tokens']) ?? 'cost',
    beforeSeq: Number.isSafeInteger(before) && before > 0 ? before : null,
  }
}

function readDay(text: string): string | null {
  return isDay(text) && text.startsWith('20') ? text : null
}

/** For rows and export. */
export function rowFilter({ from, to, keyId, entryId, status }: UsageQuery): UsageFilter {
  return {
    from: startOfDay(from),
    to: startOfDay(addDays(to, 1)),
    ...(keyId !== null && { keyId }),
    ...(entryId !== null && { entryId }),
    ...(status !== null && { status }),
  }
}

/** For totals and chart, which are not split by status. */
export function dailyRange({ from, to, keyId, entryId }: UsageQuery) {
  return {
    from,
    to: addDays(to, 1),
    filter: { ...(keyId !== null && { keyId }), ...(entryId !== null && { entryId }) },
  }
}
