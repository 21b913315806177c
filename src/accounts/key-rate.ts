/**
 * How many calls per minute a key may make. Its owner decides until an operator does; from then on only operators can,
 * until one hands it back. The append-only operator log says who decided last.
 */

import type { AnySql, Sql, TransactionSql } from '../lib/database.ts'
import type { KeyRow } from './key-secret.ts'
import { type Actor, recordAction } from './operator-log.ts'

export const CALLS_PER_MINUTE_MAX = 1_000_000
export const CONCURRENCY_MAX = 1_000_000

const SET_BY_OPERATOR = 'key.limit'
const GIVEN_BACK = 'key.limit.default'

/** For a row `k` of api_key: an operator has the last word. */
export const HELD_BY_OPERATOR = `coalesce((select o.action = '${SET_BY_OPERATOR}' from operator_action o
    where o.account_id = k.account_id and o.action in ('${SET_BY_OPERATOR}', '${GIVEN_BACK}') and o.subject = k.key_id::text
    order by o.action_id desc limit 1), false)`
const SET = `update api_key k set rate_limit_per_minute = $3::text::integer
  where account_id = $1::text::bigint and key_id = $2::text::bigint and revoked_at is null`
const SET_ANY = `${SET} returning key_id`
const SET_OWN = `${SET} and not ${HELD_BY_OPERATOR} returning key_id`

/**
 * Null restores the catalogue's limit and the owner's control; 0: no limit. False when there is no such active key.
 * Processes that cache the key learn of it through `announce(sql, 'keys')`.
 */
export function limitKey(sql: Sql, key: LimitedKey, callsPerMinute: number | null): Promise<boolean> {
  return sql.begin(transaction => limitKeyIn(transaction, key, callsPerMinute))
}

type LimitedKey = KeyRow & { readonly by: Actor; readonly reason?: string }

/** The same in the caller's transaction. */
export async function limitKeyIn(
  transaction: TransactionSql,
  { accountId, keyId, by, reason = '' }: LimitedKey,
  callsPerMinute: number | null,
): Promise<boolean> {
  const limit = callsPerMinute === null ? null : String(callsPerMinute)
  const rows = await transaction.unsafe(SET_ANY, [String(accountId), String(keyId), limit])
  if (rows.length === 0) return false
  const action = limit === null ? GIVEN_BACK : SET_BY_OPERATOR
  await recordAction(transaction, { by, action, accountId, subject: String(keyId), reason: inWords(limit, reason) })
  return true
}

/** The limit and, behind it, why. */
function inWords(limit: string | null, reason: string): string {
  return [limit, reason].filter(Boolean).join(': ')
}

const SET_CONCURRENCY = `update api_key set concurrency_max = $3::text::integer
  where account_id = $1::text::bigint and key_id = $2::text::bigint and revoked_at is null returning key_id`

/** Calls in flight; null: the catalogue's limit; 0: no limit. Only operators set it. Otherwise like limitKey. */
export function limitConcurrency(sql: Sql, key: LimitedKey, callsInFlight: number | null): Promise<boolean> {
  return sql.begin(transaction => limitConcurrencyIn(transaction, key, callsInFlight))
}

/** The same in the caller's transaction. */
export async function limitConcurrencyIn(
  transaction: TransactionSql,
  { accountId, keyId, by, reason = '' }: LimitedKey,
  callsInFlight: number | null,
): Promise<boolean> {
  const limit = callsInFlight === null ? null : String(callsInFlight)
  const rows = await transaction.unsafe(SET_CONCURRENCY, [String(accountId), String(keyId), limit])
  if (rows.length === 0) return false
  const subject = String(keyId)
  const why = inWords(limit ?? 'default', reason)
  await recordAction(transaction, { by, action: 'key.concurrency', accountId, subject, reason: why })
  return true
}

/**
 * The owner's limit, or null for the catalogue's. False when the account has no such active key, or an operator has set
 * the limit. Throws RangeError unless it is a whole number from 1 to CALLS_PER_MINUTE_MAX.
 */
export async function limitOwnKey(
  sql: AnySql,
  { accountId, keyId }: KeyRow,
  callsPerMinute: number | null,
): Promise<boolean> {
  if (callsPerMinute !== null && !isCallsPerMinute(callsPerMinute)) {
    throw new RangeError(`a limit is a whole number of calls from 1 to ${CALLS_PER_MINUTE_MAX}`)
  }
  const limit = callsPerMinute === null ? null : String(callsPerMinute)
  return (await sql.unsafe(SET_OWN, [String(accountId), String(keyId), limit])).length > 0
}

export function isCallsPerMinute(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= CALLS_PER_MINUTE_MAX
}
