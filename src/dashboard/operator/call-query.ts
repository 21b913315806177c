/** Parses the filters of the operators' call log from the URL's query, and collects a fault for each invalid field. */

import { findAccount, findAccountByEmail } from '../../accounts/accounts.ts'
import { findKeyOfAny } from '../../accounts/keys.ts'
import { addDays, dayOf, startOfDay } from '../../ledger/reports/days.ts'
import type { CallFilter } from '../../ledger/reports/operator-calls.ts'
import { idOf, type PageRequest } from '../page.ts'
import type { TextKey } from '../texts/index.ts'

export const FIELDS = ['account', 'key', 'asked', 'model', 'upstream', 'status', 'from', 'to', 'slow'] as const
export type Field = (typeof FIELDS)[number]

export interface CallQuery {
  /** The fields as they were typed. */
  readonly given: Readonly<Record<Field, string>>
  /** Messages to show beside the invalid fields. */
  readonly faults: Readonly<Partial<Record<Field, TextKey>>>
  /** Null if a field is invalid. */
  readonly filter: CallFilter | null
}

const DAYS_DEFAULT = 30
const SECONDS_MAX = 900
const LOCAL_TIME = /^20\d{2}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?)?$/

export async function readCallQuery({ options, query, now }: PageRequest): Promise<CallQuery> {
  const given = Object.fromEntries(FIELDS.map(name => [name, query.text(name, 254)])) as Record<Field, string>
  const faults: Partial<Record<Field, TextKey>> = {}
  const account = given.account === '' ? null : await findOwner(options.sql, given.account)
  if (given.account !== '' && account === null) faults.account = 'operator.calls.fault.account'
  const key = given.key === '' ? null : await findKeyOfAny(options.sql, { text: given.key, accountId: account })
  if (given.key !== '' && key === null) faults.key = 'operator.calls.fault.key'
  const status = readStatus(given.status)
  if (status === null) faults.status = 'operator.calls.fault.status'
  const slowSeconds = given.slow === '' ? null : Number(given.slow.replace(',', '.'))
  if (slowSeconds !== null && !(slowSeconds > 0 && slowSeconds <= SECONDS_MAX))
    faults.slow = 'operator.calls.fault.slow'
  const end = startOfDay(addDays(dayOf(now), 1))
  const to = given.to === '' ? end : readTime(given.to, 'end')
  if (to === null) faults.to = 'operator.calls.fault.time'
  const from = given.from === '' ? daysBefore(to ?? end, DAYS_DEFAULT) : readTime(given.from, 'start')
  if (from === null) faults.from = 'operator.calls.fault.time'
  else if (to !== null && from >= to) faults.from = 'operator.calls.fault.order'
  if (from === null || to === null || Object.keys(faults).length > 0) return { given, faults, filter: null }
  const accountId = key?.accountId ?? account
  const earliest = daysBefore(to, options.limits.usageDaysMax)
  const filter: CallFilter = {
    from: from < earliest ? earliest : from,
    to,
    ...(accountId !== null && { accountId }),
    ...(key !== null && { keyId: key.keyId }),
    ...(given.asked !== '' && { requestedName: given.asked }),
    ...(given.model !== '' && { entryId: given.model }),
    ...(given.upstream !== '' && { upstreamId: given.upstream }),
    ...(status !== undefined && status !== null && { status }),
    ...(slowSeconds !== null && { latencyMsMin: Math.round(slowSeconds * 1000) }),
  }
  return { given, faults, filter }
}

/** Finds an account by its id, with or without `#`, or by its email address. */
async function findOwner(sql: PageRequest['options']['sql'], text: string): Promise<number | null> {
  const id = idOf(text.replace(/^#/, ''))
  const found = id === null ? await findAccountByEmail(sql, text) : await findAccount(sql, id)
  return found?.accountId ?? null
}

/** Returns undefined if every status matches, and null if the text is not a valid status. */
function readStatus(text: string): CallFilter['status'] | null | undefined {
  if (text === '') return undefined
  if (text === 'ok' || text === 'error') return text
  return /^[1-5]\d\d$/.test(text) ? Number(text) : null
}

/** Parses a date and optional time in Vietnam. The end of a period is inclusive, so it is rounded up to a full day or minute. */
function readTime(text: string, place: 'start' | 'end'): Date | null {
  if (!LOCAL_TIME.test(text)) return null
  const [day = '', clock] = text.split('T')
  const time = new Date(`${day}T${clock ?? '00:00'}+07:00`)
  if (Number.isNaN(time.getTime()) || dayOf(time) !== day) return null
  if (place === 'start') return time
  return clock === undefined ? startOfDay(addDays(day, 1)) : new Date(time.getTime() + 60_000)
}

function daysBefore(time: Date, days: number): Date {
  return new Date(time.getTime() - days * 86_400_000)
}
