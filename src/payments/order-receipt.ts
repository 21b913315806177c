/** The transfers that paid an order, for its receipt. */

import type { AnySql } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import { type Buyer, readBuyer } from './buyer.ts'

export interface OrderTransfer {
  readonly bankTxnId: number
  readonly bankReference: string | null
  readonly amountVnd: number
  /** The memo as the bank passed it on. */
  readonly memo: string
  /** When the bank booked it or, if unknown, when it was reported. */
  readonly paidAt: Date
  readonly balanceAfterMicroVnd: MicroVnd
  readonly buyer: Buyer | null
}

const LIST = `select b.bank_txn_id, b.bank_ref, b.amount_vnd, b.content, coalesce(b.booked_at, b.received_at) as paid_at, b.buyer,
    c.balance_after_micro_vnd
  from bank_txn b join credit c on c.account_id = b.account_id and c.kind = 1 and c.reference = 'bank_txn:' || b.bank_txn_id
 where b.account_id = $1::text::bigint and b.order_code = $2 and b.state = 1 order by b.bank_txn_id limit 50`

/** Lists the transfers that paid an order, oldest first; none if the order is not this account's. */
export async function listOrderTransfers(
  sql: AnySql,
  { accountId, orderCode }: { accountId: number; orderCode: string },
): Promise<readonly OrderTransfer[]> {
  const rows = await sql.unsafe(LIST, [String(accountId), orderCode])
  return rows.map(row => ({
    bankTxnId: Number(row.bank_txn_id),
    bankReference: row.bank_ref,
    amountVnd: Number(row.amount_vnd),
    memo: row.content,
    paidAt: row.paid_at,
    balanceAfterMicroVnd: microVnd(BigInt(row.balance_after_micro_vnd)),
    buyer: readBuyer(row.buyer),
  }))
}
