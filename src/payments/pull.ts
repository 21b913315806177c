/** Polls a service for transactions that it may have failed to report, so that no transfer is lost for good. */

import type { AnySql } from '../lib/database.ts'
import { type Received, receiveTransactions } from './receive.ts'
import type { BankTransaction, PaymentServices } from './types.ts'

/** A service that lists the transactions of our bank account. */
export interface PullSource {
  /** Must differ from the name of the service's webhook. A transfer that both report is paired by its bank reference. */
  readonly name: string
  /**
   * Yields pages of the transactions after `since`. Throws an Error if they cannot be read; if that is because of single
   * transactions, only after all others.
   */
  list(since: Date): AsyncIterable<readonly BankTransaction[]>
}

const FINISH = `insert into bank_pull (source, finished_at) values ($1, now())
  on conflict (source) do update set finished_at = now(), fault = null`
const FAIL = `insert into bank_pull (source, fault) values ($1, $2) on conflict (source) do update set fault = $2`
const STATE = 'select source, finished_at, fault from bank_pull order by source'
const FAULT_CHARACTERS_MAX = 300

export type Pulled = Readonly<Record<Received['outcome'] | 'without_reference', number>>

/**
 * Receives the transactions of the last `pullWindowSeconds` and resolves with their outcomes. Rejects if the service or the
 * database fails; transactions received before the failure stay stored.
 */
export async function pullTransactions(services: PaymentServices, source: PullSource, now: Date): Promise<Pulled> {
  const { sql, limits } = services
  try {
    const pulled = await pull(services, source, new Date(now.getTime() - limits.pullWindowSeconds * 1000))
    await sql.unsafe(FINISH, [source.name])
    return pulled
  } catch (error) {
    const fault = String(error instanceof Error ? error.message : error).slice(0, FAULT_CHARACTERS_MAX)
    await sql.unsafe(FAIL, [source.name, fault]).catch(() => {})
    throw error
  }
}

async function pull(services: PaymentServices, source: PullSource, since: Date): Promise<Pulled> {
  const pulled = {
    credited: 0,
    duplicate: 0,
    alias: 0,
    conflict: 0,
    unmatched: 0,
    ignored: 0,
    without_reference: 0,
  }
  for await (const page of source.list(since)) {
    // Without a bank reference, there is no way to tell whether the webhook has already reported a transfer, so it is not
    // credited.
    const known = page.filter(transaction => transaction.bankReference !== null)
    pulled.without_reference += page.length - known.length
    const received = await receiveTransactions(
      services,
      { provider: source.name, via: 'pull', notificationId: null },
      known,
    )
    for (const { outcome } of received) pulled[outcome]++
  }
  if (pulled.without_reference > 0) {
    const message = `${source.name} lists ${pulled.without_reference} transfers without a bank reference; compare them by hand`
    services.report({ level: 'warn', code: 'unmatched', message })
  }
  return pulled
}

export interface PullState {
  readonly source: string
  /** When the last successful poll ended; null if none has succeeded yet. */
  readonly finishedAt: Date | null
  readonly fault: string | null
}

export async function readPulls({ sql }: { sql: AnySql }): Promise<readonly PullState[]> {
  const rows = await sql.unsafe(STATE)
  return rows.map(row => ({ source: row.source, finishedAt: row.finished_at, fault: row.fault }))
}
