/** Processes a bank's payment notification into committed credits. Authentic notifications are first stored verbatim. */

import { createHash } from 'node:crypto'
import { GatewayError } from '../errors.ts'
import { classifyFault, type Sql } from '../lib/database.ts'
import { type Received, receiveTransactions } from './receive.ts'
import {
  type BankProvider,
  type BankTransaction,
  type Headers,
  type PaymentServices,
  UnreadableListError,
} from './types.ts'

const INSERT = `insert into bank_notification (provider, digest, body, fault) values ($1, decode($2, 'hex'), $3, $4)
  on conflict (provider, digest) do nothing returning notification_id`
const FIND = `select notification_id from bank_notification where provider = $1 and digest = decode($2, 'hex')`
const UNREADABLE = 'select count(*)::integer as unreadable from bank_notification where fault is not null'

/**
 * Resolves after commit; only then may the provider be told OK. Throws GatewayError `notification_refused`,
 * `notification_unreadable` (stored all the same, and the transactions that can be parsed are received), or `ledger_unavailable`
 * while Postgres is not responding.
 */
export async function receiveNotification(
  services: PaymentServices,
  provider: BankProvider,
  rawBody: Buffer,
  headers: Headers,
): Promise<readonly Received[]> {
  try {
    const { transactions, fault } = readNotification(provider, rawBody, headers)
    const notificationId = await keep(services.sql, provider, rawBody, fault?.message ?? null)
    const source = { provider: provider.name, via: 'webhook', notificationId } as const
    const received = await receiveTransactions(services, source, transactions)
    if (fault !== null) throw fault
    return received
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    const code = classifyFault(cause) === 'retry' ? 'ledger_unavailable' : 'internal'
    throw new GatewayError(code, { cause, ...(code === 'internal' ? {} : { retryAfterSeconds: 30 }) })
  }
}

interface ReadNotification {
  readonly transactions: readonly BankTransaction[]
  /** Why the rest cannot be parsed; null if there is no rest. */
  readonly fault: GatewayError | null
}

function readNotification(provider: BankProvider, rawBody: Buffer, headers: Headers): ReadNotification {
  try {
    return { transactions: provider.verify(rawBody, headers), fault: null }
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'notification_unreadable') throw error
    return { transactions: error instanceof UnreadableListError ? error.readable : [], fault: error }
  }
}

/** Stores a notification and returns its number; identical bytes keep the number of their first arrival. */
async function keep(sql: Sql, { name }: BankProvider, rawBody: Buffer, fault: string | null): Promise<number> {
  const digest = createHash('sha256').update(rawBody).digest('hex')
  const text = rawBody.toString('utf8').replaceAll('\0', '')
  const row = (await sql.unsafe(INSERT, [name, digest, text, fault]))[0] ?? (await sql.unsafe(FIND, [name, digest]))[0]!
  return Number(row.notification_id)
}

/**
 * Counts authentic notifications that could not be parsed. Their provider must have changed its format, and such notifications
 * may report money that has not been credited.
 */
export async function countUnreadable({ sql }: { sql: Sql }): Promise<number> {
  return (await sql.unsafe(UNREADABLE))[0]!.unreadable
}
