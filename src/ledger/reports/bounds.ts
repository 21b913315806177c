/**
 * Translates a filter into a range of `seq` in an account's journal. Rows are numbered in commit order, so any period of time
 * corresponds to one range, and a report reads only the rows in it.
 */

import type { AnySql } from '../../lib/database.ts'
import { addDays, startOfDay } from './days.ts'
import type { UsageFilter } from './types.ts'

export interface SeqBounds {
  /** Exclusive bound. */
  readonly afterSeq: number
  /** Exclusive bound. */
  readonly beforeSeq: number
}

/**
 * How far times may be out of order in a journal. A row has the time at which its statement began, and the statement may then
 * wait for the wallet's lock. One minute is far longer than any such wait.
 */
const SLACK = `interval '1 minute'`
const WALLET = `select w.seq, coalesce(r.upto_seq, 0) as retired from wallet w left join usage_retired r using (account_id)
  where w.account_id = $1::text::bigint`
const AFTER = `select seq from usage where account_id = $1::text::bigint and closed_at < $2::text::timestamptz - ${SLACK}
  order by closed_at desc limit 1`
const BEFORE = `select seq from usage where account_id = $1::text::bigint and closed_at >= $2::text::timestamptz + ${SLACK}
  order by closed_at limit 1`
const DAYS = `select to_char(min(day), 'YYYY-MM-DD') as first, to_char(max(day), 'YYYY-MM-DD') as last from usage_daily
  where account_id = $1::text::bigint and ($2::text is null or key_id = $2::text::bigint) and ($3::text is null or entry_id = $3)
    and case $4 when 'error' then errors > 0 when 'ok' then calls > errors else true end`

/**
 * The earliest time at which the account can have calls with a tag: the first hour with such calls in the roll-up. If there is
 * none, the time at which the roll-up ends, because later calls are not in it yet.
 */
const TAGGED = `select least(min(hour), (select closed_before from usage_roll_up)) as first from usage_hourly
  where account_id = $1::text::bigint and tag = $2`

/** The range of `seq` that contains every row matching the filter; retired rows have been deleted. Null if no row can match. */
export async function findBounds(sql: AnySql, accountId: number, filter: UsageFilter): Promise<SeqBounds | null> {
  const account = String(accountId)
  const wallet = (await sql.unsafe(WALLET, [account]))[0]
  if (wallet === undefined || wallet.seq === '0') return null
  let { from, to } = filter
  if (filter.keyId !== undefined || filter.entryId !== undefined || filter.status !== undefined) {
    const keyId = filter.keyId === undefined ? null : String(filter.keyId)
    const days = (await sql.unsafe(DAYS, [account, keyId, filter.entryId ?? null, kindOf(filter.status)]))[0]
    if (days?.first == null) return null
    from = latest(from, startOfDay(days.first))
    to = earliest(to, startOfDay(addDays(days.last, 1)))
  }
  if (filter.tag !== undefined) from = latest(from, (await sql.unsafe(TAGGED, [account, filter.tag]))[0]!.first)
  const after = from === undefined ? undefined : (await sql.unsafe(AFTER, [account, from.toISOString()]))[0]
  const before = to === undefined ? undefined : (await sql.unsafe(BEFORE, [account, to.toISOString()]))[0]
  const afterSeq = Math.max(Number(after?.seq ?? 0), Number(wallet.retired))
  return { afterSeq, beforeSeq: Number(before?.seq ?? Number(wallet.seq) + 1) }
}

function kindOf(status: UsageFilter['status']): string {
  if (typeof status !== 'number') return status ?? ''
  return status < 400 ? 'ok' : 'error'
}

function latest(left: Date | undefined, right: Date): Date {
  return left !== undefined && left > right ? left : right
}

function earliest(left: Date | undefined, right: Date): Date {
  return left !== undefined && left < right ? left : right
}
