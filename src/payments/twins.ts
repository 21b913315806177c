/**
 * Finds other reports that may be of the same transfer as one that waits for an operator, so that nobody is credited twice for one
 * transfer.
 */

import type { AnySql } from '../lib/database.ts'
import { findOrderCodes } from './memo.ts'
import { MANUAL, TRANSACTION_COLUMNS, toTransaction } from './transactions.ts'
import { type StoredTransaction, TRANSACTION_STATES } from './types.ts'

const PER_TRANSFER_MAX = 3
/** Reports of the same second are only looked for among this many that came before or after. */
const NEIGHBOURS_MAX = 1_000
/** Also tells the planner that they are few, so that it looks each of them up instead of reading all transfers. */
const FOUND_MAX = 50
const { received, alias } = TRANSACTION_STATES

/**
 * A twin has the same bank reference; or it has paid an order that the memo names, with the same amount; or another service reports
 * that the bank booked the same amount in the same second. Amounts that operators enter may be mistyped.
 */
const TWINS = `
select w.bank_txn_id as of_id, twin.*, (select email from account where account.account_id = twin.account_id) as email
  from unnest($1::bigint[], $2::text[]) as given (bank_txn_id, codes) join bank_txn w using (bank_txn_id)
 cross join lateral (
   select ${TRANSACTION_COLUMNS}
     from (select bank_txn_id from bank_txn y where lower(y.bank_ref) = lower(w.bank_ref)
              and (y.amount_vnd = w.amount_vnd or (y.provider = '${MANUAL}') <> (w.provider = '${MANUAL}'))
            union
           select bank_txn_id from bank_txn y
            where lower(y.order_code) = any (string_to_array(lower(given.codes), ' ')) and y.amount_vnd = w.amount_vnd
            union
           select bank_txn_id from bank_txn y
            where y.amount_vnd = w.amount_vnd and y.booked_at = w.booked_at and y.provider <> w.provider
              and y.bank_txn_id between w.bank_txn_id - ${NEIGHBOURS_MAX} and w.bank_txn_id + ${NEIGHBOURS_MAX}
            limit ${FOUND_MAX}) found
          join bank_txn using (bank_txn_id)
    where bank_txn_id <> w.bank_txn_id and direction = w.direction and state not in (${received}, ${alias})
    order by abs(extract(epoch from received_at - w.received_at)) limit ${PER_TRANSFER_MAX}) twin
 order by of_id, twin.bank_txn_id`

export interface Twin extends StoredTransaction {
  /** Email address of the account that it was credited to. */
  readonly email: string | null
}

/** Returns the twins of each transfer, keyed by its `bankTxnId`, those received at nearly the same time. */
export async function findTwins(
  sql: AnySql,
  transfers: readonly Pick<StoredTransaction, 'bankTxnId' | 'memo'>[],
): Promise<ReadonlyMap<number, readonly Twin[]>> {
  const ids = transfers.map(({ bankTxnId }) => bankTxnId).join(',')
  // Order codes are only letters and digits, which need no escaping in a Postgres array.
  const codes = transfers.map(({ memo }) => `"${findOrderCodes(memo).join(' ')}"`).join(',')
  const rows = await sql.unsafe(TWINS, [`{${ids}}`, `{${codes}}`])
  return Map.groupBy(
    rows.map(row => ({ ofId: Number(row.of_id), ...toTransaction(row), email: row.email })),
    ({ ofId }) => ofId,
  )
}
