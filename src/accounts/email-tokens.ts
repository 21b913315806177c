/** Links sent by email: single use, time-limited, stored only as hashes. */

import type { AnySql, TransactionSql } from '../lib/database.ts'
import { hashToken, makeToken } from './secret-token.ts'

/** Numbers stored in the table `email_token`; never reuse one. */
const PURPOSES = { registration: 1, reset: 2, email_change: 3 } as const
export type TokenPurpose = keyof typeof PURPOSES

export interface EmailToken {
  readonly email: string
  /** Set for a password reset and a change of address; null for a registration. */
  readonly accountId: number | null
  /** Hash of the password chosen at registration; null for other purposes. */
  readonly passwordPhc: string | null
}

const INSERT = `insert into email_token (token_hash, purpose, email, account_id, password_phc, expires_at)
  values (decode($1, 'hex'), $2::text::smallint, $3, $4::text::bigint, $5, now() + make_interval(secs => $6::text::integer))`
const READ = `select email, account_id, password_phc from email_token
  where token_hash = decode($1, 'hex') and purpose = $2::text::smallint and expires_at > now()`
const TAKE = `delete from email_token where token_hash = decode($1, 'hex') and purpose = $2::text::smallint
  and expires_at > now() returning email, account_id, password_phc`
const DROP_ALL = 'delete from email_token where account_id = $1::text::bigint'
const DROP = 'delete from email_token where email_key = lower($1) and purpose = $2::text::smallint'

/** Stores a new link and returns its secret. */
export async function issueToken(
  sql: AnySql,
  purpose: TokenPurpose,
  { email, accountId, passwordPhc }: EmailToken,
  seconds: number,
): Promise<string> {
  const token = makeToken()
  const account = accountId === null ? null : String(accountId)
  await sql.unsafe(INSERT, [
    hashToken(token) as string,
    String(PURPOSES[purpose]),
    email,
    account,
    passwordPhc,
    String(seconds),
  ])
  return token
}

/** Reads a link without consuming it; null if it is unknown, used or expired. */
export async function readToken(sql: AnySql, purpose: TokenPurpose, token: string): Promise<EmailToken | null> {
  const hash = hashToken(token)
  return hash === null ? null : toToken((await sql.unsafe(READ, [hash, String(PURPOSES[purpose])]))[0])
}

/** Consumes the link and all others of this purpose for the same address. If two uses are concurrent, one of them gets null. */
export async function takeToken(
  transaction: TransactionSql,
  purpose: TokenPurpose,
  token: string,
): Promise<EmailToken | null> {
  const hash = hashToken(token)
  const taken = hash === null ? null : toToken((await transaction.unsafe(TAKE, [hash, String(PURPOSES[purpose])]))[0])
  if (taken !== null) await dropTokens(transaction, purpose, taken.email)
  return taken
}

export async function dropTokens(sql: AnySql, purpose: TokenPurpose, email: string): Promise<void> {
  await sql.unsafe(DROP, [email, String(PURPOSES[purpose])])
}

/** Invalidates the account's links for resetting its password and changing its address. */
export async function dropAccountTokens(sql: AnySql, accountId: number): Promise<void> {
  await sql.unsafe(DROP_ALL, [String(accountId)])
}

function toToken(row: Readonly<Record<string, string | null>> | undefined): EmailToken | null {
  if (row === undefined) return null
  const { email, account_id, password_phc } = row
  return { email: email!, accountId: account_id == null ? null : Number(account_id), passwordPhc: password_phc ?? null }
}
