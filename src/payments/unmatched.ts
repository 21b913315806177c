/** Lists unmatched transfers, oldest first, and carries out what operators decide about them. */

import type { AnySql, Sql } from '../lib/database.ts'
import { bookTransaction, isClosed } from './book.ts'
import { isOrderCode } from './order-code.ts'
import { lockTransaction, TRANSACTION_COLUMNS, toTransaction } from './transactions.ts'
import { type Actor, type PaymentServices, type StoredTransaction, TRANSACTION_STATES } from './types.ts'

const LIST_MAX = 200
const LIST = `select ${TRANSACTION_COLUMNS}
  from bank_txn where state = 2 and bank_txn_id > $1::text::bigint order by bank_txn_id limit $2::text::integer`
const COUNT = `select count(*)::integer as transactions, coalesce(sum(amount_vnd), 0)::text as amount_vnd
  from bank_txn where state = 2`
const ACCOUNT = 'select account_id from wallet where account_id = $1::text::bigint'
const ORDER = 'select account_id from topup_order where order_code = $1'
const SETTLE = `update bank_txn set state = $2::text::smallint, state_at = now(), state_by = $3 where bank_txn_id = $1::text::bigint`

/** Oldest first. */
export async function listUnmatched(
  { sql }: { sql: Sql },
  { afterId = 0, limit = 50 }: { afterId?: number; limit?: number } = {},
): Promise<readonly StoredTransaction[]> {
  return (await sql.unsafe(LIST, [String(afterId), String(Math.min(limit, LIST_MAX))])).map(toTransaction)
}

export async function countUnmatched({ sql }: { sql: Sql }): Promise<{ transactions: number; amountVnd: number }> {
  const row = (await sql.unsafe(COUNT))[0]!
  return { transactions: row.transactions, amountVnd: Number(row.amount_vnd) }
}

export interface Assignment {
  readonly bankTxnId: number
  readonly to: { readonly accountId: number } | { readonly orderCode: string }
  readonly by: Actor
  /** Why the operator thinks that the transfer belongs to this customer. */
  readonly reason: string
}

export type Assigned =
  | { readonly outcome: 'credited'; readonly accountId: number }
  /**
   * `already`: the transfer is no longer unmatched, because someone else got there first. `closed_target`: the account to
   * credit has been deleted.
   */
  | { readonly outcome: 'already' | 'unknown_transaction' | 'unknown_target' | 'closed_target' }

/** Credits the transfer. Idempotent: repeated requests answer `already`. */
export async function assignTransaction(services: PaymentServices, given: Assignment): Promise<Assigned> {
  const { bankTxnId, to, by, reason } = given
  const answer = await services.sql.begin(async (transaction): Promise<Assigned> => {
    const waiting = await lockTransaction(transaction, bankTxnId)
    if (waiting === null) return { outcome: 'unknown_transaction' }
    if (waiting.state !== 'unmatched') return { outcome: 'already' }
    const accountId = await findOwner(transaction, to)
    if (accountId === null) return { outcome: 'unknown_target' }
    if (await isClosed(transaction, accountId)) return { outcome: 'closed_target' }
    const orderCode = 'orderCode' in to ? to.orderCode : null
    await bookTransaction(services, transaction, waiting, { accountId, orderCode, by: by.name })
    const subject = `bank_txn:${bankTxnId} ${waiting.amountVnd} VND`
    await services.recordAction(transaction, { by, action: 'payment.assign', accountId, subject, reason })
    return { outcome: 'credited', accountId }
  })
  if (answer.outcome === 'credited') services.onCredited(answer.accountId)
  return answer
}

/** The account that an assignment would credit; null if there is no such account or order. */
export async function findOwner(sql: AnySql, to: Assignment['to']): Promise<number | null> {
  if ('orderCode' in to && !isOrderCode(to.orderCode)) return null
  const rows =
    'orderCode' in to ? await sql.unsafe(ORDER, [to.orderCode]) : await sql.unsafe(ACCOUNT, [String(to.accountId)])
  return rows[0] === undefined ? null : Number(rows[0].account_id)
}

/**
 * Whether an operator may put a transfer back in the queue: it was closed, and nobody has been credited. Outgoing transfers are
 * ignored, too, but never wait.
 */
export function isReopenable({ state, direction }: Pick<StoredTransaction, 'state' | 'direction'>): boolean {
  return direction === 'in' && (state === 'returned' || state === 'ignored')
}

/** Puts a transfer that was closed by mistake back in the queue. False if it is not closed, or there is none. */
export async function reopenTransaction(
  services: PaymentServices,
  { bankTxnId, by, reason }: { bankTxnId: number; by: Actor; reason: string },
): Promise<boolean> {
  return services.sql.begin(async transaction => {
    const closed = await lockTransaction(transaction, bankTxnId)
    if (closed === null || !isReopenable(closed)) return false
    await transaction.unsafe(SETTLE, [String(bankTxnId), String(TRANSACTION_STATES.unmatched), by.name])
    const subject = `bank_txn:${bankTxnId} ${closed.amountVnd} VND`
    await services.recordAction(transaction, { by, action: 'payment.reopen', accountId: null, subject, reason })
    return true
  })
}

/** Closes a transfer that is not a top-up, or whose money was sent back. False if the transfer is no longer unmatched. */
export async function settleUnmatched(
  services: PaymentServices,
  { bankTxnId, as, by, reason }: { bankTxnId: number; as: 'returned' | 'ignored'; by: Actor; reason: string },
): Promise<boolean> {
  return services.sql.begin(async transaction => {
    const waiting = await lockTransaction(transaction, bankTxnId)
    if (waiting?.state !== 'unmatched') return false
    await transaction.unsafe(SETTLE, [String(bankTxnId), String(TRANSACTION_STATES[as]), by.name])
    const subject = `bank_txn:${bankTxnId} ${waiting.amountVnd} VND`
    await services.recordAction(transaction, { by, action: `payment.${as}`, accountId: null, subject, reason })
    return true
  })
}
