/**
 * Limits that an operator sets on a key's calls per minute and calls in flight. The key's owner sets them (key-settings.ts) until
 * an operator does; from then on, only operators can, until one of them hands control back. The append-only operator log records
 * who decided last.
 */

import type { Sql, TransactionSql } from '../lib/database.ts'
import type { KeyRow } from './key-secret.ts'
import { type Actor, recordAction } from './operator-log.ts'

export const CALLS_PER_MINUTE_MAX = 1_000_000
export const CONCURRENCY_MAX = 1_000_000

const SET_BY_OPERATOR = 'key.limit'
const GIVEN_BACK = 'key.limit.default'

const CONCURRENCY_SET = 'key.concurrency'
const CONCURRENCY_GIVEN_BACK = 'key.concurrency.default'

/**
 * SQL expression for a row `k` of api_key: true while an operator controls the key's calls per minute, that is, has set them and
 * not handed control back.
 */
export const RATE_HELD = `coalesce((select o.action = '${SET_BY_OPERATOR}' from operator_action o
    where o.account_id = k.account_id and o.action in ('${SET_BY_OPERATOR}', '${GIVEN_BACK}') and o.subject = k.key_id::text
    order by o.action_id desc limit 1), false)`
/** SQL expression for a row `k` of api_key: true while an operator controls the key's calls in flight. */
export const CONCURRENCY_HELD = `coalesce((select o.action = '${CONCURRENCY_SET}' from operator_action o
    where o.account_id = k.account_id and o.action in ('${CONCURRENCY_SET}', '${CONCURRENCY_GIVEN_BACK}')
      and o.subject = k.key_id::text
    order by o.action_id desc limit 1), false)`
const SET_RATE = `update api_key set rate_limit_per_minute = $3::text::integer
  where account_id = $1::text::bigint and key_id = $2::text::bigint and revoked_at is null returning key_id`

/**
 * Sets a key's calls per minute. 0: no limit; null restores the catalogue's limit and the owner's control. False if there is no
 * such active key. The caller must then call `announce(sql, 'keys')`, so that all processes reload the key's limits.
 */
export function limitKey(sql: Sql, key: LimitedKey, callsPerMinute: number | null): Promise<boolean> {
  return sql.begin(transaction => limitKeyIn(transaction, key, callsPerMinute))
}

type LimitedKey = KeyRow & { readonly by: Actor; readonly reason?: string }

/** Like limitKey, within the caller's transaction. */
export async function limitKeyIn(
  transaction: TransactionSql,
  { accountId, keyId, by, reason = '' }: LimitedKey,
  callsPerMinute: number | null,
): Promise<boolean> {
  const limit = callsPerMinute === null ? null : String(callsPerMinute)
  const rows = await transaction.unsafe(SET_RATE, [String(accountId), String(keyId), limit])
  if (rows.length === 0) return false
  const action = limit === null ? GIVEN_BACK : SET_BY_OPERATOR
  await recordAction(transaction, { by, action, accountId, subject: String(keyId), reason: inWords(limit, reason) })
  return true
}

/** The limit and the reason as the operator log shows them. */
function inWords(limit: string | null, reason: string): string {
  return [limit, reason].filter(Boolean).join(': ')
}

const SET_CONCURRENCY = `update api_key set concurrency_max = $3::text::integer
  where account_id = $1::text::bigint and key_id = $2::text::bigint and revoked_at is null returning key_id`

/** Like limitKey, for calls in flight. */
export function limitConcurrency(sql: Sql, key: LimitedKey, callsInFlight: number | null): Promise<boolean> {
  return sql.begin(transaction => limitConcurrencyIn(transaction, key, callsInFlight))
}

/** Like limitConcurrency, within the caller's transaction. */
export async function limitConcurrencyIn(
  transaction: TransactionSql,
  { accountId, keyId, by, reason = '' }: LimitedKey,
  callsInFlight: number | null,
): Promise<boolean> {
  const limit = callsInFlight === null ? null : String(callsInFlight)
  const rows = await transaction.unsafe(SET_CONCURRENCY, [String(accountId), String(keyId), limit])
  if (rows.length === 0) return false
  const subject = String(keyId)
  const action = limit === null ? CONCURRENCY_GIVEN_BACK : CONCURRENCY_SET
  await recordAction(transaction, { by, action, accountId, subject, reason: inWords(limit, reason) })
  return true
}

export function isCallsPerMinute(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= CALLS_PER_MINUTE_MAX
}
