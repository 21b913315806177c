/** Enters a transfer that an operator has seen on the bank statement but no provider has reported. */

import { spellAccount, spellReference } from './providers/read.ts'
import { type Received, receiveTransactions } from './receive.ts'
import { MANUAL } from './transactions.ts'
import type { Actor, PaymentServices } from './types.ts'

export interface EnteredTransfer {
  /**
   * The bank's number for the transfer. It keeps the transfer from being entered twice, and matches it with a provider's later
   * report.
   */
  readonly bankReference: string
  readonly amountVnd: number
  /** The memo on the statement. If it contains an order's code, the transfer pays that order. */
  readonly memo: string
  /** Number of our bank account; defaults to the configured one. */
  readonly accountNumber?: string
  readonly by: Actor
  readonly reason: string
}

const AMOUNT_VND_MAX = 1_000_000_000_000

/**
 * Handles the transfer like any other: it is credited if its memo names an order, and otherwise left unmatched. The outcome is
 * `alias` if a provider has already reported it. Throws RangeError if a value is missing or wrong.
 */
export async function enterTransfer(services: PaymentServices, given: EnteredTransfer): Promise<Received> {
  const bankReference = spellReference(given.bankReference)
  const accountNumber = spellAccount(given.accountNumber ?? services.bank?.accountNumber ?? '')
  if (bankReference === '' || bankReference.length > 200)
    throw new RangeError("the bank's reference is missing or too long")
  if (accountNumber === '') throw new RangeError('the receiving account is unknown: name it, or set BANK_ACCOUNT')
  if (!Number.isSafeInteger(given.amountVnd) || given.amountVnd < 1 || given.amountVnd > AMOUNT_VND_MAX) {
    throw new RangeError('the amount is not a whole number of dong above 0')
  }
  const [received] = await receiveTransactions(services, { provider: MANUAL, via: 'manual', notificationId: null }, [
    {
      providerReference: `${accountNumber}/${bankReference}`,
      bankReference,
      accountNumber,
      amountVnd: BigInt(given.amountVnd),
      direction: 'in',
      memo: given.memo.toWellFormed().replaceAll('\0', '').slice(0, 2_000).toWellFormed(),
      bookedAt: null,
    },
  ])
  const entered = received as Received
  await services.sql.begin(transaction =>
    services.recordAction(transaction, {
      by: given.by,
      action: 'payment.enter',
      accountId: entered.outcome === 'credited' ? entered.accountId : null,
      subject: `bank_txn:${entered.bankTxnId} ${bankReference} ${given.amountVnd} VND: ${entered.outcome}`,
      reason: given.reason,
    }),
  )
  return entered
}
