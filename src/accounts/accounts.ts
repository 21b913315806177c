/** Accounts and their wallets. */

import { type AnySql, faultCode, plainArray, type Sql, type TransactionSql } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'

export interface Account {
  readonly accountId: number
  readonly email: string
}

export interface AccountWithWallet extends Account {
  /** What the account can still spend, not counting money held for calls in flight. */
  readonly balanceMicroVnd: MicroVnd
  /** Money set aside for calls in flight. */
  readonly heldMicroVnd: MicroVnd
}

const EMAIL_BYTES_MAX = 254
/**
 * Rejects quotes, lists, display names and comments, because they could direct an email to a different address. Also rejects
 * invisible characters.
 */
const EMAIL = /^[^\s@\p{C}"(),:;<>[\]]+@[^\s@\p{C}"(),:;<>[\]]+\.[^\s@\p{C}"(),:;<>[\]]+$/u

const CREATE = `with a as (insert into account (email) values ($1) returning account_id, email),
  w as (insert into wallet (account_id) select account_id from a)
  select account_id, email from a`
const FIND = `select a.account_id, a.email, w.balance_micro_vnd, w.held_micro_vnd
  from account a join wallet w using (account_id) where a.email_key = lower($1)`
const READ = `select a.account_id, a.email, w.balance_micro_vnd, w.held_micro_vnd
  from account a join wallet w using (account_id) where a.account_id = $1::text::bigint`

const LOCK = 'select from account where account_id = $1::text::bigint for no key update'
const EMAILS = 'select account_id, email from account where account_id = any($1::bigint[])'

/**
 * Returns the form in which an address is stored and looked up. Lower-cases non-ASCII letters here, because Postgres does so
 * differently depending on its locale: a variant spelling could then reach the same account without being throttled.
 */
export function spellEmail(text: string): string {
  return text.trim().replace(/[^\p{ASCII}]+/gu, letters => letters.toLowerCase())
}

/** Returns the address as it is stored; null if it is not a valid email address. */
export function readEmail(text: string): string | null {
  const address = spellEmail(text)
  return EMAIL.test(address) && Buffer.byteLength(address) <= EMAIL_BYTES_MAX ? address : null
}

/** Creates an account with an empty wallet. Throws an Error if the address is invalid or taken. */
export async function createAccount(sql: Sql, email: string): Promise<Account> {
  const address = readEmail(email)
  if (address === null) {
    throw new Error(`${JSON.stringify(email)} is not an email address; write name@example.com`)
  }
  try {
    const row = (await sql.unsafe(CREATE, [address]))[0]!
    return { accountId: Number(row.account_id), email: row.email }
  } catch (error) {
    if (faultCode(error) !== '23505') throw error
    throw new Error(`${address} already has an account`, { cause: error })
  }
}

/** Finds the account with this address, ignoring case. Null if there is none. */
export async function findAccountByEmail(sql: Sql, email: string): Promise<AccountWithWallet | null> {
  return readAccount((await sql.unsafe(FIND, [spellEmail(email)]))[0])
}

/** Null if there is no such account. */
export async function findAccount(sql: Sql, accountId: number): Promise<AccountWithWallet | null> {
  return readAccount((await sql.unsafe(READ, [String(accountId)]))[0])
}

/**
 * Locks an account until the transaction ends, as everybody does who changes its password, its factors or its block. The next
 * statement sees what the previous holder of the lock committed.
 */
export async function lockAccount(transaction: TransactionSql, accountId: number): Promise<void> {
  await transaction.unsafe(LOCK, [String(accountId)])
}

/** Returns email addresses by account number. */
export async function findEmails(sql: AnySql, accountIds: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const rows = await sql.unsafe(EMAILS, [plainArray(accountIds)])
  return new Map(rows.map(row => [Number(row.account_id), row.email]))
}

function readAccount(row: Readonly<Record<string, string>> | undefined): AccountWithWallet | null {
  if (row === undefined) return null
  return {
    accountId: Number(row.account_id),
    email: row.email!,
    balanceMicroVnd: microVnd(BigInt(row.balance_micro_vnd!)),
    heldMicroVnd: microVnd(BigInt(row.held_micro_vnd!)),
  }
}
