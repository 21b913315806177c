/** Money that was added to an account or taken back: top-ups, adjustments, refunds. */

import { type CreditKind, creditKindOf } from '../../lib/credit-kinds.ts'
import type { AnySql } from '../../lib/database.ts'
import { type MicroVnd, microVnd } from '../../lib/money.ts'

export interface CreditRow {
  readonly seq: number
  readonly at: Date
  readonly kind: CreditKind
  readonly amountMicroVnd: MicroVnd
  readonly balanceAfterMicroVnd: MicroVnd
  readonly reference: string
  /** A top-up's order code, the reason for an adjustment, or the request id of a call that was refunded. */
  readonly note: string | null
}

const LIST_MAX = 200
const LIST = `select seq, at, kind, amount_micro_vnd, balance_after_micro_vnd, reference, note from credit
  where account_id = $1::text::bigint and ($2::text is null or seq < $2::text::bigint)
  order by seq desc limit $3::text::integer`

/** Returns an account's credits, newest first. */
export async function readCredits(
  sql: AnySql,
  { accountId, beforeSeq, limit = 50 }: { accountId: number; beforeSeq?: number; limit?: number },
): Promise<readonly CreditRow[]> {
  const page = [beforeSeq === undefined ? null : String(beforeSeq), String(Math.min(limit, LIST_MAX))]
  const rows = await sql.unsafe(LIST, [String(accountId), ...page])
  return rows.map(row => ({
    seq: Number(row.seq),
    at: row.at,
    kind: creditKindOf(row.kind),
    amountMicroVnd: microVnd(BigInt(row.amount_micro_vnd)),
    balanceAfterMicroVnd: microVnd(BigInt(row.balance_after_micro_vnd)),
    reference: row.reference,
    note: row.note,
  }))
}
