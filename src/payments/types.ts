/** Types of bank transfers, top-up orders and the services that payment functions need. */

import { GatewayError } from '../errors.ts'
import type { Sql, TransactionSql } from '../lib/database.ts'
import type { MicroVnd } from '../lib/money.ts'
import type { PaymentLimits } from './limits.ts'

/** Our bank account, to which customers transfer money. */
export interface BankAccount {
  /** NAPAS's six-digit bank number. */
  readonly bin: string
  readonly accountNumber: string
  readonly accountName: string
  /** The bank's short name, for display. */
  readonly bankName: string
}

/** One transaction on our bank account, whoever reported it. */
export interface BankTransaction {
  /** Unique among one provider's transactions, and stable. */
  readonly providerReference: string
  /** The bank's own number; null if unknown. Several providers may report a transfer, and this number pairs their reports. */
  readonly bankReference: string | null
  readonly accountNumber: string
  /**
   * The number to which the payer transferred, if it is not the account's own: banks give an account virtual numbers, and some let
   * services see only transfers to those. Null or absent when not given.
   */
  readonly virtualAccountNumber?: string | null
  /** Whole dong, above 0. */
  readonly amountVnd: bigint
  readonly direction: 'in' | 'out'
  /** The payer's memo, as the bank passed it on. */
  readonly memo: string
  /** The payer's name; null or absent when not given. */
  readonly payer?: string | null
  /** When the bank booked the transaction, by its own clock; null when not given. */
  readonly bookedAt: Date | null
}

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** A service that notifies us of transactions on our bank account. */
export interface BankProvider {
  /** Used in the path of its webhook and in the table `bank_txn`. */
  readonly name: string
  /**
   * Returns the transactions of an authentic notification. Throws GatewayError `notification_refused` if it is forged, stale or
   * unsigned, and `notification_unreadable` if it is authentic but cannot be parsed; UnreadableListError if parts of it can.
   */
  verify(rawBody: Buffer, headers: Headers): readonly BankTransaction[]
}

/** Some transactions of a list cannot be parsed. */
export class UnreadableListError extends GatewayError {
  /** The transactions that can be. */
  readonly readable: readonly BankTransaction[]

  /** `first` is the error of the first transaction that cannot be parsed. */
  constructor(first: GatewayError, readable: readonly BankTransaction[]) {
    super(first.code, first.details)
    this.readable = readable
  }
}

/** Who assigned or entered something: an operator's account, or the command line. */
export interface Actor {
  readonly accountId: number | null
  readonly name: string
}

/** The ledger's `credit`, which is injected because payments may not import the ledger. */
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

/**
 * `conflict`: a known transaction was reported again with other data. `undecided`: deciding what to do with a stored transaction
 * failed.
 */
export const PAYMENT_EVENTS = ['credited', 'unmatched', 'conflict', 'undecided'] as const

export interface PaymentEvent {
  readonly level: 'info' | 'warn' | 'error'
  readonly code: (typeof PAYMENT_EVENTS)[number]
  readonly message: string
  readonly cause?: unknown
}

/** Everything that the payment functions need; created once per process. */
export interface PaymentServices {
  readonly sql: Sql
  /** Null until a bank account is configured; until then, nobody can top up by transfer. */
  readonly bank: BankAccount | null
  readonly bookCredit: BookCredit
  readonly recordAction: RecordAction
  /** Called after a credit is committed, so that calls waiting for money can continue. */
  readonly onCredited: (accountId: number) => void
  /** Reports events to the operator; they contain no memo. */
  readonly report: (event: PaymentEvent) => void
  readonly simulation: boolean
  readonly limits: PaymentLimits
}

export type OrderState = 'open' | 'paid' | 'cancelled' | 'expired'

export interface TopUpOrder {
  readonly orderCode: string
  readonly accountId: number
  readonly amountVnd: number
  /** A paid order stays paid; money that arrives for a cancelled or expired one is credited nevertheless. */
  readonly state: OrderState
  readonly createdAt: Date
  readonly expiresAt: Date
  readonly cancelledAt: Date | null
  /** The amount received so far, which may differ from the amount of the order. */
  readonly paidVnd: number
  readonly firstPaidAt: Date | null
}

/** The states of a transaction and their numbers in the table `bank_txn`. Numbers are never reused. */
export const TRANSACTION_STATES = {
  received: 0,
  credited: 1,
  unmatched: 2,
  ignored: 3,
  returned: 4,
  alias: 6,
} as const
export type TransactionState = keyof typeof TRANSACTION_STATES

/** Why a transaction needs an operator. */
export type UnmatchedReason =
  | 'no_code'
  | 'unknown_code'
  | 'two_owners'
  | 'amount_over_limit'
  /** The money arrived in a bank account other than the one that customers are shown. */
  | 'other_account'
  /**
   * The provider has reported another transaction with the same bank reference and amount under a different id. Or another
   * provider has, but at another time or with another order code. Or an operator has entered it with another amount.
   */
  | 'repeated_reference'
  /**
   * A transfer of the same amount for the same order has been credited that another provider reported or an operator entered. Bank
   * references cannot tell whether it is the same one: one of the two has none, or an operator may have mistyped it.
   */
  | 'maybe_credited'
  /** The owner has deleted the account, so nobody could spend the money. */
  | 'account_closed'

export interface StoredTransaction {
  readonly bankTxnId: number
  readonly provider: string
  readonly providerReference: string
  readonly bankReference: string | null
  readonly accountNumber: string
  readonly amountVnd: number
  readonly direction: 'in' | 'out'
  readonly memo: string
  readonly payer: string | null
  readonly bookedAt: Date | null
  readonly receivedAt: Date
  readonly state: TransactionState
  readonly reason: UnmatchedReason | null
  readonly orderCode: string | null
  readonly accountId: number | null
  /** Who put it into this state: `automatic`, an operator's address or `command line`. */
  readonly stateBy: string | null
  readonly stateAt: Date | null
}
