/** Decides what happens to a stored bank transaction. Each transaction is decided only once. */

import type { TransactionSql } from '../lib/database.ts'
import { bookTransaction, isClosed } from './book.ts'
import { findOrderCodes } from './memo.ts'
import { spellAccount } from './providers/read.ts'
import { lockTransaction, MANUAL, REASON_CODES } from './transactions.ts'
import {
  type PaymentServices,
  type StoredTransaction,
  TRANSACTION_STATES,
  type TransactionState,
  type UnmatchedReason,
} from './types.ts'

export type Verdict =
  | { readonly outcome: 'credited'; readonly accountId: number; readonly orderCode: string }
  | { readonly outcome: 'unmatched'; readonly reason: UnmatchedReason }
  | { readonly outcome: 'ignored' | 'alias' }
  /** Another process or an operator has decided it in the meantime. */
  | { readonly outcome: 'decided' }

export const AUTOMATIC = 'automatic'
const UNDECIDED_MAX = 500
const ORIGINALS_MAX = 20

/** Serializes the decisions on one transfer that several providers report, so that the second decision sees the first. */
const LOCK = `select pg_advisory_xact_lock(hashtextextended('bank_txn|' || $1, 0))`
/**
 * Finds other providers' reports with the same bank reference that are not yet paired with a report from this provider. Banks
 * use references again, so only one of about the same time (`is_near`) may be of the same transfer.
 */
const ORIGINALS = `select y.bank_txn_id, y.content,
    abs(extract(epoch from coalesce(y.booked_at, y.received_at) - $6::text::timestamptz)) < $7::text::bigint as is_near
  from bank_txn y
  where y.account_no = $2 and y.bank_ref = $3 and y.amount_vnd = $4::text::bigint and y.direction = $5::text::smallint
    and y.provider <> $1 and y.alias_of is null and y.state <> 0
    and not exists (select from bank_txn z where z.alias_of = y.bank_txn_id and z.provider = $1)
  order by is_near desc, y.bank_txn_id limit ${ORIGINALS_MAX}`
/**
 * Finds a transaction from the same provider with the same bank reference but a different id. It is either a second transfer or
 * the same transfer reported twice; only a person can tell.
 */
const REPEATED = `select y.bank_txn_id from bank_txn y
  where y.account_no = $2 and y.bank_ref = $3 and y.amount_vnd = $4::text::bigint and y.direction = $5::text::smallint
    and y.provider = $1 and y.bank_txn_id <> $6::text::bigint and y.state <> 0
    and abs(extract(epoch from coalesce(y.booked_at, y.received_at) - $7::text::timestamptz)) < $8::text::bigint limit 1`
/**
 * Finds a transfer with the same bank reference and another amount, of which one was reported and the other entered by hand. If the
 * amount was mistyped, it is the same transfer; only a person can tell.
 */
const MISTYPED = `select y.bank_txn_id from bank_txn y
  where y.account_no = $2 and y.bank_ref = $3 and y.amount_vnd <> $4::text::bigint and y.direction = $5::text::smallint
    and (y.provider = '${MANUAL}') <> ($1 = '${MANUAL}') and y.state <> 0
    and abs(extract(epoch from coalesce(y.booked_at, y.received_at) - $6::text::timestamptz)) < $7::text::bigint limit 1`
/**
 * Finds a credit of the same amount for the same order, which another provider has reported or an operator entered, if the two could
 * not be paired by their bank references: one has none, an operator may have mistyped it, or the providers pass on different ones. If
 * the bank booked both in the same second and no references differ (`is_same`), it is the same transfer; otherwise it may be another
 * one, which only a person can tell.
 */
const UNPAIRED = `select y.bank_txn_id,
    coalesce(y.booked_at = $7::text::timestamptz, false)
      and (y.bank_ref is null or $6::text is null or '${MANUAL}' in (y.provider, $5)) as is_same
  from bank_txn y
  where y.account_id = $1::text::bigint and y.order_code = $2 and y.state = 1
    and y.account_no = $3 and y.amount_vnd = $4::text::bigint
    and (y.provider <> $5 or $5 = '${MANUAL}')
    and abs(extract(epoch from coalesce(y.booked_at, y.received_at) - $8::text::timestamptz)) < $9::text::bigint
    and not exists (select from bank_txn z where z.alias_of = y.bank_txn_id and z.provider = $5)
  order by is_same desc limit 1`
const ORDERS = 'select order_code, account_id from topup_order where order_code = any ($1::text[]) order by account_id'
const DECIDE = `update bank_txn set state = $2::text::smallint, reason = $3::text::smallint, alias_of = $4::text::bigint,
    state_at = now(), state_by = $5 where bank_txn_id = $1::text::bigint`
const UNDECIDED = `select bank_txn_id from bank_txn where state = 0 and received_at < now() - interval '30 seconds'
  order by bank_txn_id limit $1::text::integer`

/**
 * Decides a transaction and resolves after commit. Rejects with the database's error; the transaction then stays undecided and
 * can be decided again.
 */
export async function judgeTransaction(services: PaymentServices, bankTxnId: number): Promise<Verdict> {
  const verdict = await services.sql.begin(transaction => judge(services, transaction, bankTxnId))
  tell(services, bankTxnId, verdict)
  return verdict
}

async function judge(services: PaymentServices, transaction: TransactionSql, bankTxnId: number): Promise<Verdict> {
  const key = await lockTransaction(transaction, bankTxnId)
  if (key === null || key.state !== 'received') return { outcome: 'decided' }
  const codes = findOrderCodes(key.memo)
  const { original, isInDoubt } = await findOriginal(services, transaction, key, codes)
  if (original !== null) {
    const alias = await decide(transaction, key, { outcome: 'alias' }, { aliasOf: original })
    return (await creditOriginal(services, transaction, original, codes)) ?? alias
  }
  if (key.direction === 'out') return decide(transaction, key, { outcome: 'ignored' })
  if (BigInt(key.amountVnd) > services.limits.creditVndMax) {
    return decide(transaction, key, { outcome: 'unmatched', reason: 'amount_over_limit' })
  }
  if (services.bank !== null && spellAccount(key.accountNumber) !== spellAccount(services.bank.accountNumber)) {
    return decide(transaction, key, { outcome: 'unmatched', reason: 'other_account' })
  }
  if (isInDoubt || (await isRepeated(services, transaction, key)) || (await isMistyped(services, transaction, key))) {
    return decide(transaction, key, { outcome: 'unmatched', reason: 'repeated_reference' })
  }
  const matched = await creditOrder(services, transaction, key, codes)
  if (matched.outcome === 'credited') return matched
  if (matched.outcome === 'unmatched') return decide(transaction, key, matched)
  return decide(transaction, key, { outcome: 'alias' }, matched)
}

/** Credits a transfer to the owner of the order with one of these codes. Otherwise returns why nobody is credited. */
async function creditOrder(
  services: PaymentServices,
  transaction: TransactionSql,
  key: StoredTransaction,
  codes: readonly string[],
): Promise<Extract<Verdict, { outcome: 'credited' | 'unmatched' }> | { outcome: 'alias'; aliasOf: number }> {
  if (codes.length === 0) return { outcome: 'unmatched', reason: 'no_code' }
  const orders = await transaction.unsafe(ORDERS, [`{${codes.join(',')}}`])
  const owners = new Set(orders.map(order => order.account_id))
  if (owners.size !== 1) return { outcome: 'unmatched', reason: owners.size === 0 ? 'unknown_code' : 'two_owners' }
  // If the memo names several orders of one owner, the first is paid.
  const known = new Set(orders.map(order => order.order_code as string))
  const orderCode = codes.find(code => known.has(code)) as string
  const accountId = Number(orders[0]!.account_id)
  // Locks the wallet, so that of two reports of one transfer, the second sees what the first has credited.
  if (await isClosed(transaction, accountId)) return { outcome: 'unmatched', reason: 'account_closed' }
  const other = await findUnpaired(services, transaction, key, { accountId, orderCode })
  if (other?.is_same) return { outcome: 'alias', aliasOf: Number(other.bank_txn_id) }
  if (other !== undefined) return { outcome: 'unmatched', reason: 'maybe_credited' }
  await bookTransaction(services, transaction, key, { accountId, orderCode, by: AUTOMATIC })
  return { outcome: 'credited', accountId, orderCode }
}

/**
 * Credits a transfer that waits because the first report of it named no order, if a later report does. Null if it does not, or
 * the transfer waits for another reason or no longer.
 */
async function creditOriginal(
  services: PaymentServices,
  transaction: TransactionSql,
  original: number,
  codes: readonly string[],
): Promise<Extract<Verdict, { outcome: 'credited' }> | null> {
  const waiting = codes.length === 0 ? null : await lockTransaction(transaction, original)
  if (waiting?.state !== 'unmatched' || (waiting.reason !== 'no_code' && waiting.reason !== 'unknown_code')) return null
  const matched = await creditOrder(services, transaction, waiting, codes)
  return matched.outcome === 'credited' ? matched : null
}

async function findUnpaired(
  { limits }: PaymentServices,
  transaction: TransactionSql,
  given: StoredTransaction,
  { accountId, orderCode }: { readonly accountId: number; readonly orderCode: string },
) {
  const { accountNumber, amountVnd, provider, bankReference, bookedAt } = given
  const report = [accountNumber, String(amountVnd), provider, bankReference, bookedAt?.toISOString() ?? null]
  const values = [String(accountId), orderCode, ...report, timeOf(given), String(limits.referenceSeconds)]
  return (await transaction.unsafe(UNPAIRED, values))[0]
}

/**
 * Finds another provider's report of the same transfer. `isInDoubt`: there is none, but there are reports with the same bank
 * reference of another time, or with other order codes.
 */
async function findOriginal(
  { limits }: PaymentServices,
  transaction: TransactionSql,
  given: StoredTransaction,
  codes: readonly string[],
): Promise<{ original: number | null; isInDoubt: boolean }> {
  if (given.bankReference === null) return { original: null, isInDoubt: false }
  const [provider, ...transfer] = identityOf(given)
  await transaction.unsafe(LOCK, [JSON.stringify(transfer)])
  const values = [provider, ...transfer, timeOf(given), String(limits.referenceSeconds)]
  const rows = await transaction.unsafe(ORIGINALS, values)
  const original = rows.find(row => row.is_near && mayAgree(codes, findOrderCodes(row.content)))
  return { original: original === undefined ? null : Number(original.bank_txn_id), isInDoubt: rows.length > 0 }
}

/** Whether two memos may be of one transfer: a bank or a provider may have cut the codes out of one, but not replaced them. */
function mayAgree(codes: readonly string[], others: readonly string[]): boolean {
  return codes.length === 0 || others.length === 0 || codes.some(code => others.includes(code))
}

/**
 * Whether the provider has reported a transaction with the same bank reference under a different id. Requires the lock that
 * `findOriginal` takes.
 */
async function isRepeated(
  { limits }: PaymentServices,
  transaction: TransactionSql,
  given: StoredTransaction,
): Promise<boolean> {
  if (given.bankReference === null) return false
  const values = [...identityOf(given), String(given.bankTxnId), timeOf(given), String(limits.referenceSeconds)]
  return (await transaction.unsafe(REPEATED, values)).length > 0
}

/** Whether an operator has entered the transfer with another amount or, if it is such an entry, a service has reported one. */
async function isMistyped(
  { limits }: PaymentServices,
  transaction: TransactionSql,
  given: StoredTransaction,
): Promise<boolean> {
  if (given.bankReference === null) return false
  const values = [...identityOf(given), timeOf(given), String(limits.referenceSeconds)]
  return (await transaction.unsafe(MISTYPED, values)).length > 0
}

function identityOf({ provider, accountNumber, bankReference, amountVnd, direction }: StoredTransaction) {
  return [provider, accountNumber, bankReference, String(amountVnd), direction === 'in' ? '1' : '-1'] as const
}

function timeOf({ bookedAt, receivedAt }: StoredTransaction): string {
  return (bookedAt ?? receivedAt).toISOString()
}

async function decide<Decided extends Verdict>(
  transaction: TransactionSql,
  { bankTxnId }: StoredTransaction,
  verdict: Decided,
  { aliasOf = null }: { aliasOf?: number | null } = {},
): Promise<Decided> {
  const state = String(TRANSACTION_STATES[verdict.outcome as TransactionState])
  const reason = 'reason' in verdict ? String(REASON_CODES[verdict.reason]) : null
  const alias = aliasOf === null ? null : String(aliasOf)
  await transaction.unsafe(DECIDE, [String(bankTxnId), state, reason, alias, AUTOMATIC])
  return verdict
}

function tell({ report, onCredited }: PaymentServices, bankTxnId: number, verdict: Verdict): void {
  if (verdict.outcome === 'credited') {
    report({
      level: 'info',
      code: 'credited',
      message: `bank transaction ${bankTxnId} credited to ${verdict.orderCode}`,
    })
    onCredited(verdict.accountId)
  }
  if (verdict.outcome === 'unmatched') {
    const message = `bank transaction ${bankTxnId} is waiting for an operator: ${verdict.reason}`
    report({ level: 'warn', code: 'unmatched', message })
  }
}

/** Decides transactions that a crash or an outage has left undecided. Returns how many there were. */
export async function judgeUndecided(services: PaymentServices): Promise<number> {
  const rows = await services.sql.unsafe(UNDECIDED, [String(UNDECIDED_MAX)])
  for (const row of rows) {
    const bankTxnId = Number(row.bank_txn_id)
    try {
      await judgeTransaction(services, bankTxnId)
    } catch (cause) {
      services.report({
        level: 'error',
        code: 'undecided',
        message: `could not decide what to do with bank transaction ${bankTxnId}`,
        cause,
      })
    }
  }
  return rows.length
}
