/** One call as operators see it: its usage row, account and key, attempts, cost to the operator, and refund. */

import { CREDIT_KINDS } from '../../lib/credit-kinds.ts'
import type { AnySql } from '../../lib/database.ts'
import { callIdOf, requestIdOf } from '../../lib/ids.ts'
import { type MicroVnd, microVnd } from '../../lib/money.ts'
import type { SettledAttempt } from '../types.ts'
import { toUsageRow, USAGE_COLUMNS } from './rows.ts'
import type { UsageRow } from './types.ts'

export interface OperatorCall extends UsageRow {
  readonly accountId: number
  readonly email: string
  readonly keyLabel: string
  readonly keyLast4: string
  /** The request id that was sent to the client. */
  readonly requestId: string
  /** Null if the row was written by a version that did not store attempts. */
  readonly attempts: readonly SettledAttempt[] | null
  /** The upstream that served the call or, if none did, was tried last; null if none was tried, or if it is unknown. */
  readonly upstreamId: string | null
  /** A code of errors.ts; null if nothing went wrong, or the client left. */
  readonly errorCode: string | null
  /** Input tokens written to the provider's cache; null if unknown. */
  readonly cacheWriteTokens: number | null
  readonly upstreamCostMicroVnd: MicroVnd | null
  /** When the charge was refunded; null if it was not. */
  readonly refundedAt: Date | null
}

export const UPSTREAM_OF_CALL = `split_part(attempts -> -1 ->> 'credential', '#', 1)`
/** Columns to select from `usage` joined with CALL_SOURCES. */
export const CALL_COLUMNS = `${USAGE_COLUMNS}, account_id, cache_write_tokens, upstream_cost_micro_vnd,
  attempts::text as attempts, error_code, owner.email, used_key.label as key_label, used_key.last4 as key_last4,
  asked.request_id, refund.at as refunded_at`
const OF_ACCOUNT = 'account_id = usage.account_id'
/** `limit 1` makes Postgres look each of them up by index: where it expects many calls, it would read all refunds for them. */
export const CALL_SOURCES = `
  left join lateral (select email from account where ${OF_ACCOUNT} limit 1) owner on true
  left join lateral (select label, last4 from api_key where ${OF_ACCOUNT} and key_id = usage.key_id limit 1) used_key on true
  left join lateral (
    select request_id from client_request where ${OF_ACCOUNT} and call_id = usage.call_id limit 1) asked on true
  left join lateral (
    select at from credit where ${OF_ACCOUNT} and kind = ${CREDIT_KINDS.refund}
       and reference = 'call:' || usage.call_id::text limit 1) refund on true`

const ONE = `select ${CALL_COLUMNS} from usage ${CALL_SOURCES} where usage.call_id = $1::text::uuid`
const BY_REQUEST = `select call_id from client_request where request_id = $1 order by call_id desc limit $2::text::integer`

/** Null if there is no such call, or it is so old that its usage row has been deleted. */
export async function readOperatorCall(sql: AnySql, callId: string): Promise<OperatorCall | null> {
  const [row] = await sql.unsafe(ONE, [callId])
  return row === undefined ? null : toOperatorCall(row)
}

/** Finds calls by request id, newest first. Clients choose these ids, so several calls may have the same one. */
export async function findByRequestId(
  sql: AnySql,
  { requestId, limit }: { readonly requestId: string; readonly limit: number },
): Promise<readonly OperatorCall[]> {
  const ids = (await sql.unsafe(BY_REQUEST, [requestId, String(limit)])).map(row => String(row.call_id))
  const own = callIdOf(requestId)
  if (own !== null && !ids.includes(own)) ids.unshift(own)
  const calls = await Promise.all(ids.map(callId => readOperatorCall(sql, callId)))
  return calls.filter(call => call !== null)
}

export function toOperatorCall(row: unknown): OperatorCall {
  const from = row as Readonly<Record<string, string | null>> & { readonly refunded_at: Date | null }
  const usage = toUsageRow(row)
  const attempts = from.attempts == null ? null : (JSON.parse(from.attempts) as readonly SettledAttempt[])
  return {
    ...usage,
    accountId: Number(from.account_id),
    email: from.email ?? '',
    keyLabel: from.key_label ?? '',
    keyLast4: from.key_last4 ?? '',
    requestId: from.request_id ?? requestIdOf(usage.callId),
    attempts,
    upstreamId: attempts?.at(-1)?.credential.split('#')[0] ?? null,
    errorCode: from.error_code ?? null,
    cacheWriteTokens: from.cache_write_tokens == null ? null : Number(from.cache_write_tokens),
    upstreamCostMicroVnd: from.upstream_cost_micro_vnd == null ? null : microVnd(BigInt(from.upstream_cost_micro_vnd)),
    refundedAt: from.refunded_at,
  }
}
