/** Helpers for tests: payment services, customers and transfers. */

import { createAccount } from '../../src/accounts/accounts.ts'
import { recordAction } from '../../src/accounts/operator-log.ts'
import { credit } from '../../src/ledger/credit.ts'
import type { Sql } from '../../src/lib/database.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { PAYMENT_LIMITS, type PaymentLimits } from '../../src/payments/limits.ts'
import { createOrder } from '../../src/payments/orders.ts'
import { type Received, receiveTransactions } from '../../src/payments/receive.ts'
import type { BankTransaction, PaymentEvent, PaymentServices, TopUpOrder } from '../../src/payments/types.ts'

export const BANK = { bin: '970436', accountNumber: '1012345678', accountName: 'CONG TY ABC', bankName: 'VCB' }
export const OPERATOR = { accountId: 1, name: 'operator@example.com' }

export interface TestPayments extends PaymentServices {
  readonly events: PaymentEvent[]
  readonly credited: number[]
}

export function testPayments(
  sql: Sql,
  change: Partial<Omit<PaymentServices, 'limits'>> & { limits?: Partial<PaymentLimits> } = {},
): TestPayments {
  const events: PaymentEvent[] = []
  const credited: number[] = []
  return {
    sql,
    bank: BANK,
    bookCredit: credit,
    recordAction,
    onCredited: accountId => credited.push(accountId),
    report: event => events.push(event),
    simulation: false,
    events,
    credited,
    ...change,
    limits: { ...PAYMENT_LIMITS, ...change.limits },
  }
}

/** Opens every connection of the pool, so that statements sent together run concurrently. */
export async function warmUp(sql: Sql): Promise<void> {
  await Promise.all(Array.from({ length: 8 }, () => sql.unsafe('select pg_sleep(0.05)')))
}

let accounts = 0

export async function newAccount(sql: Sql): Promise<number> {
  return (await createAccount(sql, `payer${++accounts}@example.com`)).accountId
}

export async function newOrder(payments: PaymentServices, amountVnd = 50_000, accountId?: number): Promise<TopUpOrder> {
  const account = accountId ?? (await newAccount(payments.sql))
  const created = await createOrder(payments, { accountId: account, amountVnd })
  if (created.outcome !== 'created') throw new Error(`the order was not created: ${created.outcome}`)
  return created.order
}

export function transfer(change: Partial<BankTransaction> = {}): BankTransaction {
  return {
    providerReference: uuidv7(),
    bankReference: null,
    accountNumber: BANK.accountNumber,
    amountVnd: 50_000n,
    direction: 'in',
    memo: 'chuyen tien',
    bookedAt: null,
    ...change,
  }
}

/**
 * Receives a transaction through the webhook of `provider`; the provider `pull` stands for polling SePay's list of
 * transactions.
 */
export async function receive(
  payments: PaymentServices,
  given: BankTransaction,
  provider = 'sepay',
): Promise<Received> {
  const via = provider === 'pull' ? 'pull' : 'webhook'
  const [received] = await receiveTransactions(payments, { provider, via, notificationId: null }, [given])
  return received as Received
}

/** The balance in whole dong. */
export async function balanceOf(sql: Sql, accountId: number): Promise<number> {
  const rows = await sql.unsafe(
    'select balance_micro_vnd / 1000000 as vnd from wallet where account_id = $1::text::bigint',
    [String(accountId)],
  )
  return Number(rows[0]?.vnd)
}

export async function stateOf(sql: Sql, bankTxnId: number): Promise<number> {
  return (await sql.unsafe('select state from bank_txn where bank_txn_id = $1::text::bigint', [String(bankTxnId)]))[0]
    ?.state
}
