/** One call as its customer sees it: without its attempts and its cost to the operator. */

import { CREDIT_KINDS } from '../../lib/credit-kinds.ts'
import type { AnySql } from '../../lib/database.ts'
import { requestIdOf } from '../../lib/ids.ts'
import { toUsageRow, USAGE_COLUMNS } from './rows.ts'
import type { UsageRow } from './types.ts'

export interface OwnCall extends UsageRow {
  /** The request id that was sent to the client. */
  readonly requestId: string
  /** Input tokens that were written to the provider's cache; null if unknown. */
  readonly cacheWriteTokens: number | null
  /** When the charge was refunded; null if it was not. */
  readonly refundedAt: Date | null
}

const ONE = `select ${USAGE_COLUMNS}, cache_write_tokens,
    (select request_id from client_request c
      where c.call_id = usage.call_id and c.account_id = usage.account_id) as request_id,
    (select at from credit where credit.account_id = usage.account_id and kind = ${CREDIT_KINDS.refund}
        and reference = 'call:' || usage.call_id::text) as refunded_at
  from usage where call_id = $2::text::uuid and account_id = $1::text::bigint`

/** Null if the account has no such call, or the call is so old that its usage row has been deleted. */
export async function readOwnCall(
  sql: AnySql,
  { accountId, callId }: { readonly accountId: number; readonly callId: string },
): Promise<OwnCall | null> {
  const row = (await sql.unsafe(ONE, [String(accountId), callId]))[0]
  if (row === undefined) return null
  const usage = toUsageRow(row)
  return {
    ...usage,
    requestId: row.request_id ?? requestIdOf(usage.callId),
    cacheWriteTokens: row.cache_write_tokens === null ? null : Number(row.cache_write_tokens),
    refundedAt: row.refunded_at,
  }
}
