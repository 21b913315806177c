/** Links accounts to identities at Google, GitHub and other providers, with which their owners can sign in. */

import { type AnySql, faultCode, type Sql } from '../lib/database.ts'
import { type Identity, PROVIDER_CODES, PROVIDER_IDS, type ProviderId } from './identity-providers/types.ts'

const LIST = `select provider, email, created_at from identity where account_id = $1::text::bigint order by provider`
const FIND = `select i.account_id, a.blocked_at is not null as blocked
  from identity i join account a using (account_id) where i.provider = $1::text::smallint and i.subject = $2`
const ADD = `insert into identity (provider, subject, account_id, email, is_authoritative)
  values ($1::text::smallint, $2, $3::text::bigint, $4, $5::text::boolean)`
/** Never removes an account's last way to sign in. */
const REMOVE = `delete from identity i
  where account_id = $1::text::bigint and provider = $2::text::smallint
    and (exists (select from account a where a.account_id = i.account_id and a.password_phc is not null)
      or exists (select from identity o where o.account_id = i.account_id and o.provider <> i.provider))
  returning provider`
const LOCK = 'select account_id from account where account_id = $1::text::bigint for update'
/**
 * Removes an account's links to identities, except one at the provider that runs the account's mailbox: only the mailbox's
 * owner can have made that one.
 */
const REMOVE_OUTRANKED = `delete from identity i using account a
  where i.account_id = $1::text::bigint and a.account_id = i.account_id
    and not (i.is_authoritative and lower(i.email) = a.email_key)`
const REMOVE_ALL = 'delete from identity where account_id = $1::text::bigint'

export interface LinkedProvider {
  readonly provider: ProviderId
  /** The address that the provider gave when the identity was linked; '' if it gave none. */
  readonly email: string
  readonly createdAt: Date
}

export async function listIdentities(sql: AnySql, accountId: number): Promise<readonly LinkedProvider[]> {
  return (await sql.unsafe(LIST, [String(accountId)])).map(row => ({
    provider: PROVIDER_IDS.find(id => PROVIDER_CODES[id] === row.provider) as ProviderId,
    email: row.email,
    createdAt: row.created_at,
  }))
}

export async function findIdentity(
  sql: AnySql,
  { provider, subject }: Pick<Identity, 'provider' | 'subject'>,
): Promise<{ accountId: number; isBlocked: boolean } | null> {
  const row = (await sql.unsafe(FIND, [String(PROVIDER_CODES[provider]), subject]))[0]
  return row === undefined ? null : { accountId: Number(row.account_id), isBlocked: row.blocked }
}

/**
 * Links an identity to an account. Throws the database's error (see isTaken) if the identity already has an account, or if the
 * account already has an identity at this provider.
 */
export async function addIdentity(sql: AnySql, accountId: number, identity: Identity): Promise<void> {
  const { provider, subject, email, isAuthoritative } = identity
  const row = [String(PROVIDER_CODES[provider]), subject, String(accountId), email ?? '', String(isAuthoritative)]
  await sql.unsafe(ADD, row)
}

export function isTaken(error: unknown): boolean {
  return faultCode(error) === '23505'
}

/**
 * Unlinks a provider. False if the provider is not linked or is the last way to sign in. Two concurrent removals leave one way to
 * sign in.
 */
export function removeIdentity(sql: Sql, accountId: number, provider: ProviderId): Promise<boolean> {
  return sql.begin(async transaction => {
    await transaction.unsafe(LOCK, [String(accountId)])
    return (await transaction.unsafe(REMOVE, [String(accountId), String(PROVIDER_CODES[provider])])).length > 0
  })
}

/** Called once somebody has proved that they own the mailbox: unlinks all identities that somebody else may have linked. */
export async function removeOutranked(sql: AnySql, accountId: number): Promise<void> {
  await sql.unsafe(REMOVE_OUTRANKED, [String(accountId)])
}

export async function removeIdentities(sql: AnySql, accountId: number): Promise<void> {
  await sql.unsafe(REMOVE_ALL, [String(accountId)])
}
