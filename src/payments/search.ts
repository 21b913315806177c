/** Searches all transfers, newest first, by reference, memo, payer, amount or owner. */

import type { AnySql } from '../lib/database.ts'
import { listPage, type SearchPage, type SearchPlace, searchPage, searchStatement } from '../lib/search.ts'
import { readAmountVnd } from './amount.ts'
import { TRANSACTION_COLUMNS, toTransaction } from './transactions.ts'
import { type StoredTransaction, TRANSACTION_STATES, type TransactionState } from './types.ts'

const TEXT_CHARACTERS_MAX = 200
const LIST_MAX = 200
/** Maximum number of transfers compared with the search text for one page of results, which takes about 25 ms. */
export const COMPARED_MAX = 20_000
/** Statements that select the transfers in a state. */
const LISTS = new Map(
  ['any', ...Object.keys(TRANSACTION_STATES)].map(state => [
    state,
    `select bank_txn_id as id, received_at as at, bank_txn.* from bank_txn
      where ${state === 'any' ? 'true' : `state = ${TRANSACTION_STATES[state as TransactionState]}`}`,
  ]),
)
const PAGES = new Map(
  [...LISTS].map(([state, rows]) => [
    state,
    `select id from (${rows}) listed where id < $1::text::bigint order by id desc limit $2::text::integer`,
  ]),
)
/** The search statement for each state. $7 is the search text as an amount in whole dong; null if it is not an amount. */
const SEARCHES = new Map(
  [...LISTS].map(([state, rows]) => [
    state,
    searchStatement({
      rows,
      contains: `concat_ws(' ', bank_ref, provider_ref, content, payer, order_code) ilike '%' || $5 || '%' escape '\\'`,
      equals: [
        'amount_vnd = $7::text::bigint',
        'account_id = (select account_id from account where email_key = lower($4))',
      ],
      beginnings: ['lower(bank_ref)', 'lower(provider_ref)', 'lower(order_code)'],
    }),
  ]),
)
const READ = `select ${TRANSACTION_COLUMNS}, (select email from account a where a.account_id = b.account_id) as email
  from bank_txn b where bank_txn_id = any ($1::bigint[]) order by bank_txn_id desc`

export interface FoundTransaction extends StoredTransaction {
  /** Email address of the account that the transfer was credited to. */
  readonly email: string | null
}

export interface FoundTransactions extends Omit<SearchPage, 'ids'> {
  readonly transactions: readonly FoundTransaction[]
}

export async function searchTransactions(
  sql: AnySql,
  given: {
    readonly text?: string | undefined
    readonly state?: TransactionState | undefined
    readonly place?: SearchPlace | undefined
    readonly limit: number
    readonly comparedMax?: number
  },
): Promise<FoundTransactions> {
  const { state = 'any', place, comparedMax = COMPARED_MAX } = given
  const text = given.text?.toWellFormed().replaceAll('\0', '').trim().slice(0, TEXT_CHARACTERS_MAX) ?? ''
  const limit = Math.min(given.limit, LIST_MAX)
  const parameters = [String(readAmountVnd(text) ?? '') || null]
  const { ids, next, comparedTo } = await (text === ''
    ? listPage(sql, PAGES.get(state) as string, { place, limit })
    : searchPage(sql, SEARCHES.get(state) as string, { text, parameters, place, limit, comparedMax }))
  const rows = await sql.unsafe(READ, [`{${ids.join(',')}}`])
  return { transactions: rows.map(row => ({ ...toTransaction(row), email: row.email })), next, comparedTo }
}
