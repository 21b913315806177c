/** Credits a bank transaction to a wallet. The money, the bank transaction and the order change together or not at all. */

import type { TransactionSql } from '../lib/database.ts'
import { MICRO_PER_VND, microVnd } from '../lib/money.ts'
import type { PaymentServices, StoredTransaction } from './types.ts'

const DECIDE = `update bank_txn set state = 1, reason = null, account_id = $2::text::bigint, order_code = $3, state_at = now(), state_by = $4,
    buyer = (select jsonb_build_object('name', d.name, 'taxCode', d.tax_code, 'address', d.address, 'email', d.email)
               from invoice_details d where d.account_id = $2::text::bigint and d.wanted)
  where bank_txn_id = $1::text::bigint`
/** Adds whatever arrived to the order, regardless of its state and expected amount. */
const PAY = `update topup_order set paid_vnd = paid_vnd + $2::text::bigint, first_paid_at = coalesce(first_paid_at, now())
  where order_code = $1`

const LOCK_WALLET = 'select from wallet where account_id = $1::text::bigint for no key update'
const CLOSED = 'select deleted_at is not null as closed from account where account_id = $1::text::bigint'

/**
 * Whether the account's owner has deleted it. Waits for a deletion in progress, and holds off later ones until the SQL
 * transaction ends.
 */
export async function isClosed(transaction: TransactionSql, accountId: number): Promise<boolean> {
  await transaction.unsafe(LOCK_WALLET, [String(accountId)])
  return (await transaction.unsafe(CLOSED, [String(accountId)]))[0]?.closed === true
}

/** Credits a bank transaction. The SQL transaction must already have locked its row and found it uncredited. */
export async function bookTransaction(
  { bookCredit }: Pick<PaymentServices, 'bookCredit'>,
  transaction: TransactionSql,
  { bankTxnId, amountVnd }: Pick<StoredTransaction, 'bankTxnId' | 'amountVnd'>,
  to: { readonly accountId: number; readonly orderCode: string | null; readonly by: string },
): Promise<void> {
  await bookCredit(transaction, {
    accountId: to.accountId,
    amountMicroVnd: microVnd(BigInt(amountVnd) * MICRO_PER_VND),
    kind: 'bank_topup',
    reference: `bank_txn:${bankTxnId}`,
    note: to.orderCode,
  })
  await transaction.unsafe(DECIDE, [String(bankTxnId), String(to.accountId), to.orderCode, to.by])
  if (to.orderCode !== null) await transaction.unsafe(PAY, [to.orderCode, String(amountVnd)])
}
