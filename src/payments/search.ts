/** Searches all transfers, newest first, by reference, memo, payer, amount or owner. */

import { type AnySql, escapeLike } from '../lib/database.ts'
import { readAmountVnd } from './amount.ts'
import { TRANSACTION_COLUMNS, toTransaction } from './transactions.ts'
import { type StoredTransaction, TRANSACTION_STATES, type TransactionState } from './types.ts'

const TEXT_CHARACTERS_MAX = 200
const LIST_MAX = 200
/** $3 is the text with the wildcards of `like` escaped; $4 is the text as an amount, if it is one. */
const SEARCH = `select ${TRANSACTION_COLUMNS}, (select email from account a where a.account_id = b.account_id) as email
  from bank_txn b
 where ($1::text is null or bank_txn_id < $1::text::bigint) and ($2::text is null or state = $2::text::smallint)
   and ($3::text is null or concat_ws(' ', bank_ref, provider_ref, content, payer, order_code) ilike '%' || $3 || '%' escape '\\'
     or amount_vnd = $4::text::bigint or account_id = (select account_id from account where email_key = lower($5)))
 order by bank_txn_id desc limit $6::text::integer`

export interface FoundTransaction extends StoredTransaction {
  /** Email address of the account that the transfer was credited to. */
  readonly email: string | null
}

export async function searchTransactions(
  sql: AnySql,
  given: {
    readonly text?: string | undefined
    readonly state?: TransactionState | undefined
    readonly beforeId?: number | undefined
    readonly limit: number
  },
): Promise<readonly FoundTransaction[]> {
  const text = given.text?.toWellFormed().replaceAll('\0', '').trim().slice(0, TEXT_CHARACTERS_MAX) ?? ''
  const amount = readAmountVnd(text)
  const rows = await sql.unsafe(SEARCH, [
    given.beforeId === undefined ? null : String(given.beforeId),
    given.state === undefined ? null : String(TRANSACTION_STATES[given.state]),
    text === '' ? null : escapeLike(text),
    amount === null ? null : String(amount),
    text,
    String(Math.min(given.limit, LIST_MAX)),
  ])
  return rows.map(row => ({ ...toTransaction(row), email: row.email }))
}
