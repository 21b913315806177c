/**
 * The single entry point for bank transactions: they are stored, then judged (see judge.ts), and acknowledged only after both
 * are committed.
 */

import { judgeTransaction, type Verdict } from './judge.ts'
import { type Source, type StoreAnswer, storeTransaction } from './transactions.ts'
import type { BankTransaction, PaymentServices } from './types.ts'

export type Received = { readonly bankTxnId: number } & (
  | Exclude<Verdict, { outcome: 'decided' }>
  /** Reported before; nothing changed. */
  | { readonly outcome: 'duplicate' }
  /** Reported before with a different amount, account or direction. Nothing changed; an operator must look into it. */
  | { readonly outcome: 'conflict' }
)

/**
 * Resolves with the transactions' outcomes, in order. Rejects with the database's error; the whole list can then be sent again,
 * and transactions that have already been judged come back as duplicates. All are stored before the first is judged: if that
 * fails, `judgeUndecided` judges the others.
 */
export async function receiveTransactions(
  services: PaymentServices,
  source: Source,
  transactions: readonly BankTransaction[],
): Promise<readonly Received[]> {
  const stored: StoreAnswer[] = []
  for (const given of transactions) stored.push(await storeTransaction(services, source, given))
  const received: Received[] = []
  for (const answer of stored) received.push(await judgeStored(services, source, answer))
  return received
}

async function judgeStored(services: PaymentServices, source: Source, stored: StoreAnswer): Promise<Received> {
  const { bankTxnId } = stored
  if (stored.outcome === 'conflict') {
    const message = `${source.provider} reported bank transaction ${bankTxnId} again with another amount, account or direction`
    services.report({ level: 'error', code: 'conflict', message })
    return { bankTxnId, outcome: 'conflict' }
  }
  if (stored.outcome === 'duplicate' && !stored.undecided) return { bankTxnId, outcome: 'duplicate' }
  const verdict = await judgeTransaction(services, bankTxnId)
  return verdict.outcome === 'decided' ? { bankTxnId, outcome: 'duplicate' } : { bankTxnId, ...verdict }
}
