/** Stores, reads and lists bank transactions. */

import type { AnySql, Sql } from '../lib/database.ts'
import { spellAccount } from './providers/read.ts'
import {
  type BankTransaction,
  type PaymentServices,
  type StoredTransaction,
  TRANSACTION_STATES,
  type TransactionState,
  type UnmatchedReason,
} from './types.ts'

/** Values of the column `bank_txn.via`: how we learned of a transaction. Never reuse a number. */
export const VIA_CODES = { webhook: 1, pull: 2, manual: 3, simulated: 4 } as const
export type Via = keyof typeof VIA_CODES

/** Values of the column `bank_txn.reason`: why a transaction is unmatched. Never reuse a number. */
export const REASON_CODES = {
  no_code: 1,
  unknown_code: 2,
  two_owners: 3,
  amount_over_limit: 4,
  other_account: 5,
  repeated_reference: 6,
  account_closed: 7,
  maybe_credited: 8,
} as const

/** The provider of transfers that an operator has entered. */
export const MANUAL = 'manual'

export interface Source {
  /** Provider's name, MANUAL, or `simulated`. */
  readonly provider: string
  readonly via: Via
  /** The notification that contained the transaction; null if none did. */
  readonly notificationId: number | null
}

const LIST_MAX = 200
const PAYER_CHARACTERS_MAX = 200
export const TRANSACTION_COLUMNS = `bank_txn_id, provider, provider_ref, bank_ref, account_no, amount_vnd, direction, content, payer, booked_at,
  received_at, state, reason, order_code, account_id, state_by, state_at`
const INSERT = `insert into bank_txn
    (provider, provider_ref, bank_ref, account_no, amount_vnd, direction, content, booked_at, via, notification_id, payer)
  values ($1, $2, $3, $4, $5::text::bigint, $6::text::smallint, $7, $8::text::timestamptz, $9::text::smallint, $10::text::bigint, $11)
  on conflict (provider, provider_ref) do nothing returning bank_txn_id`
const TWIN = `select bank_txn_id, state, upper(account_no) = any (string_to_array(upper($3), ',')) and amount_vnd = $4::text::bigint and direction = $5::text::smallint as same
  from bank_txn where provider = $1 and provider_ref = $2`
const LOCKED = `select ${TRANSACTION_COLUMNS} from bank_txn where bank_txn_id = $1::text::bigint for update`
const FIRST = `select ${TRANSACTION_COLUMNS} from bank_txn where bank_txn_id = (
  select coalesce(alias_of, bank_txn_id) from bank_txn where bank_txn_id = $1::text::bigint)`
const LIST = `select ${TRANSACTION_COLUMNS} from bank_txn
  where ($1::text::smallint is null or state = $1::text::smallint)
    and ($2::text::bigint is null or account_id = $2::text::bigint)
    and ($3::text::bigint is null or bank_txn_id < $3::text::bigint)
  order by bank_txn_id desc limit $4::text::integer`

export type StoreAnswer =
  | { readonly outcome: 'stored'; readonly bankTxnId: number }
  /** The same transaction was reported before. `undecided` is true if a crash or an outage came before its decision. */
  | { readonly outcome: 'duplicate'; readonly bankTxnId: number; readonly undecided: boolean }
  /** A transaction with the same reference but a different amount, account or direction was reported before. */
  | { readonly outcome: 'conflict'; readonly bankTxnId: number }

/**
 * Stores a transaction, which is committed once the promise resolves. Whether to credit it or leave it unmatched is decided
 * later, by `judge.ts`.
 */
export async function storeTransaction(
  { sql, bank }: Pick<PaymentServices, 'sql' | 'bank'>,
  source: Source,
  given: BankTransaction,
): Promise<StoreAnswer> {
  const { provider, via, notificationId } = source
  const accountNumber = shownAccount(bank, given)
  const [amount, direction] = [String(given.amountVnd), String(given.direction === 'in' ? 1 : -1)]
  const inserted = await sql.unsafe(INSERT, [
    provider,
    given.providerReference,
    given.bankReference,
    accountNumber,
    amount,
    direction,
    given.memo,
    given.bookedAt?.toISOString() ?? null,
    String(VIA_CODES[via]),
    notificationId === null ? null : String(notificationId),
    given.payer?.slice(0, PAYER_CHARACTERS_MAX) || null,
  ])
  if (inserted[0] !== undefined) return { outcome: 'stored', bankTxnId: Number(inserted[0].bank_txn_id) }
  const accounts = [given.accountNumber, accountNumber].join(',')
  const twin = (await sql.unsafe(TWIN, [provider, given.providerReference, accounts, amount, direction]))[0]!
  const bankTxnId = Number(twin.bank_txn_id)
  return twin.same
    ? { outcome: 'duplicate', bankTxnId, undecided: twin.state === TRANSACTION_STATES.received }
    : { outcome: 'conflict', bankTxnId }
}

/**
 * The account under which a transaction is stored: the one that customers are shown if it is a virtual number and the transfer went
 * to it, so that other reports of the transfer and an operator's entry are paired with it; otherwise the one in the report.
 */
function shownAccount(bank: PaymentServices['bank'], { accountNumber, virtualAccountNumber }: BankTransaction): string {
  const shown = bank === null ? null : spellAccount(bank.accountNumber)
  return virtualAccountNumber != null && spellAccount(virtualAccountNumber) === shown ? shown : accountNumber
}

/**
 * Reads a transaction or, if it repeats another report of the same transfer, the first report, which is the one that is decided.
 * Null if there is no such transaction.
 */
export async function readFirstReport(sql: AnySql, bankTxnId: number): Promise<StoredTransaction | null> {
  const row = (await sql.unsafe(FIRST, [String(bankTxnId)]))[0]
  return row === undefined ? null : toTransaction(row)
}

/** Locks the row until the caller's transaction ends. Null if there is no such transaction. */
export async function lockTransaction(transaction: AnySql, bankTxnId: number): Promise<StoredTransaction | null> {
  const row = (await transaction.unsafe(LOCKED, [String(bankTxnId)]))[0]
  return row === undefined ? null : toTransaction(row)
}

/** Newest first. */
export async function listTransactions(
  { sql }: { sql: Sql },
  given: { state?: TransactionState; accountId?: number; beforeId?: number; limit?: number } = {},
): Promise<readonly StoredTransaction[]> {
  const { state, accountId, beforeId, limit = 50 } = given
  const filter = [state === undefined ? null : TRANSACTION_STATES[state], accountId ?? null, beforeId ?? null]
  const rows = await sql.unsafe(LIST, [
    ...filter.map(value => (value === null ? null : String(value))),
    String(Math.min(limit, LIST_MAX)),
  ])
  return rows.map(toTransaction)
}

const STATE_NAMES = new Map(Object.entries(TRANSACTION_STATES).map(([name, code]) => [code, name as TransactionState]))
const REASON_NAMES = new Map(Object.entries(REASON_CODES).map(([name, code]) => [code, name as UnmatchedReason]))

interface Row {
  readonly bank_txn_id: string
  readonly provider: string
  readonly provider_ref: string
  readonly bank_ref: string | null
  readonly account_no: string
  readonly amount_vnd: string
  readonly direction: number
  readonly content: string
  readonly payer: string | null
  readonly booked_at: Date | null
  readonly received_at: Date
  readonly state: (typeof TRANSACTION_STATES)[TransactionState]
  readonly reason: (typeof REASON_CODES)[UnmatchedReason] | null
  readonly order_code: string | null
  readonly account_id: string | null
  readonly state_by: string | null
  readonly state_at: Date | null
}

export function toTransaction(row: unknown): StoredTransaction {
  const from = row as Row
  return {
    bankTxnId: Number(from.bank_txn_id),
    provider: from.provider,
    providerReference: from.provider_ref,
    bankReference: from.bank_ref,
    accountNumber: from.account_no,
    amountVnd: Number(from.amount_vnd),
    direction: from.direction === 1 ? 'in' : 'out',
    memo: from.content,
    payer: from.payer,
    bookedAt: from.booked_at,
    receivedAt: from.received_at,
    state: STATE_NAMES.get(from.state) as TransactionState,
    reason: from.reason === null ? null : (REASON_NAMES.get(from.reason) as UnmatchedReason),
    orderCode: from.order_code,
    accountId: from.account_id === null ? null : Number(from.account_id),
    stateBy: from.state_by,
    stateAt: from.state_at,
  }
}
