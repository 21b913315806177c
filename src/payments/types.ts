/** What the rooms above know of payments: plain data in, plain data out. */

import type { Sql, TransactionSql } from '../lib/database.ts'
import type { MicroVnd } from '../lib/money.ts'
import type { PaymentLimits } from './limits.ts'

/** Where customers transfer to. */
export interface BankAccount {
  /** Six digits, as NAPAS numbers the banks. */
  readonly bin: string
  readonly accountNumber: string
  readonly accountName: string
  /** Bank's short name for people. */
  readonly bankName: string
}

/** One movement on our bank account, whoever reported it. */
export interface BankTransaction {
  /** Unique among the transactions of one provider; the same transaction always has the same. */
  readonly providerReference: string
  /** The bank's own number, when it is known: other providers report the same transfer under it. */
  readonly bankReference: string | null
  readonly accountNumber: string
  /** Above 0. */
  readonly amountVnd: bigint
  readonly direction: 'in' | 'out'
  /** What the payer wrote, as the bank passed it on. */
  readonly memo: string
  /** By the bank's clock; null when it is not told. */
  readonly bookedAt: Date | null
}

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** A service that tells us of movements on our bank account. */
export interface BankProvider {
  /** In the path of its webhook and in the table. */
  readonly name: string
  /**
   * The transactions of an authentic notification. Throws GatewayError `notification_refused` when it is forged, stale or
   * unsigned, and `notification_unreadable` when it is authentic but not understood.
   */
  verify(rawBody: Buffer, headers: Headers): readonly BankTransaction[]
}

/** Who assigned or entered something: an operator's account, or the command line. */
export interface Actor {
  readonly accountId: number | null
  readonly name: string
}

/** As `credit` of the ledger. */
export type BookCredit = (
  transaction: TransactionSql,
  request: {
    readonly accountId: number
    readonly amountMicroVnd: MicroVnd
    readonly kind: 'bank_topup'
    readonly reference: string
    readonly note: string | null
  },
) => Promise<{ readonly balanceAfterMicroVnd: MicroVnd }>

/** As `recordAction` of the accounts. */
export type RecordAction = (
  transaction: TransactionSql,
  action: {
    readonly by: Actor
    readonly action: string
    readonly accountId: number | null
    readonly subject: string
    readonly reason: string
  },
) => Promise<unknown>

export interface PaymentEvent {
  readonly level: 'info' | 'warn' | 'error'
  readonly code: 'credited' | 'unmatched' | 'conflict' | 'undecided'
  readonly message: string
  readonly cause?: unknown
}

/** Everything that the functions for payments need; made once per process. */
export interface PaymentServices {
  readonly sql: Sql
  /** Null: nothing can be topped up by transfer until an account is configured. */
  readonly bank: BankAccount | null
  readonly bookCredit: BookCredit
  readonly recordAction: RecordAction
  /** Called after a credit is committed, so that calls that wait for money go on. */
  readonly onCredited: (accountId: number) => void
  /** What an operator should see; holds no memo. */
  readonly report: (event: PaymentEvent) => void
  /** True where transfers may be simulated. */
  readonly simulation: boolean
  readonly limits: PaymentLimits
}

export type OrderState = 'open' | 'paid' | 'cancelled' | 'expired'

export interface TopUpOrder {
  readonly orderCode: string
  readonly accountId: number
  readonly amountVnd: number
  /** A paid order stays paid; money that comes for a cancelled or expired one is credited all the same. */
  readonly state: OrderState
  readonly createdAt: Date
  readonly expiresAt: Date
  /** What has arrived, which may be more or less than the amount. */
  readonly paidVnd: number
  readonly firstPaidAt: Date | null
}

/** States of a transaction in the table `bank_txn`; never reused. */
export const TRANSACTION_STATES = {
  received: 0,
  credited: 1,
  unmatched: 2,
  ignored: 3,
  returned: 4,
  alias: 6,
} as const
export type TransactionState = keyof typeof TRANSACTION_STATES

/** Why a transaction waits for an operator. */
export type UnmatchedReason =
  | 'no_code'
  | 'unknown_code'
  | 'two_owners'
  | 'amount_over_limit'
  /** It went to an account that is not the one that customers are told. */
  | 'other_account'
  /** Its service has reported a transfer with the bank's same reference and amount, under another id. */
  | 'repeated_reference'

export interface StoredTransaction {
  readonly bankTxnId: number
  readonly provider: string
  readonly providerReference: string
  readonly bankReference: string | null
  readonly accountNumber: string
  readonly amountVnd: number
  readonly direction: 'in' | 'out'
  readonly memo: string
  readonly bookedAt: Date | null
  readonly receivedAt: Date
  readonly state: TransactionState
  readonly reason: UnmatchedReason | null
  readonly orderCode: string | null
  readonly accountId: number | null
  /** Who decided it: `automatic`, an operator's address or `command line`. */
  readonly stateBy: string | null
  readonly stateAt: Date | null
}
