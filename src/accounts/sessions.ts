/**
 * Sessions are opened at sign-in, found by their cookie's hash, and ended by a timeout, by their owner or by a new password.
 */

import type { AnySql, TransactionSql } from '../lib/database.ts'
import { lockAccount } from './accounts.ts'
import { describeDevice } from './device.ts'
import type { PeopleLimits } from './limits.ts'
import { readRole } from './roles.ts'
import { hashToken, isToken, makeToken } from './secret-token.ts'
import { deviceSubject, rememberDevice } from './throttle.ts'
import type { OpenedSession, PeopleServices, Session, Visitor } from './types.ts'

/** Shortest time between updates of a session's `seen_at`, so that viewing a page usually costs no write. */
const TOUCH_SECONDS = 60

const COLUMNS = `s.session_id, s.account_id, s.created_at, s.seen_at, s.password_checked_at, s.device,
  s.second_factor_at, a.email, a.is_operator, a.operator_role, a.email_verified_at,
  a.password_phc is not null as has_password, exists (select from totp t where t.account_id = s.account_id) as has_authenticator,
  exists (select from passkey p where p.account_id = s.account_id) as has_passkeys`
/** $2 and $3: idle timeout and lifetime of a customer's session, in seconds; $4 and $5: the same for an operator's. */
const ALIVE = `a.blocked_at is null
  and s.seen_at > now() - make_interval(secs => case when a.is_operator then $4 else $2 end::text::integer)
  and s.created_at > now() - make_interval(secs => case when a.is_operator then $5 else $3 end::text::integer)`
const READ = `
with s as materialized (
  select ${COLUMNS} from session s join account a using (account_id)
   where s.session_hash = decode($1, 'hex') and ${ALIVE}),
touched as (
  update session set seen_at = now() from s
   where session.session_id = s.session_id and session.seen_at < now() - make_interval(secs => ${TOUCH_SECONDS}))
select * from s`
const LIST = `select ${COLUMNS} from session s join account a using (account_id)
  where s.account_id = $1::text::bigint and ${ALIVE} order by s.seen_at desc, s.session_id desc limit 100`
const OPEN = `
with s as (
  insert into session (session_hash, account_id, device, second_factor_at)
  values (decode($1, 'hex'), $2::text::bigint, $3, $4::text::timestamptz) returning *)
select ${COLUMNS} from s join account a using (account_id)`
/** Sessions that await their second factor go first: whoever only knows the password must not sign the owner out. */
const MAKE_ROOM = `delete from session where session_id in (
  select session_id from session where account_id = $1::text::bigint
   order by second_factor_at is null, seen_at desc, session_id desc offset $2::text::integer)`
const IS_OPEN = 'select session_id from session where session_id = $1::text::bigint and account_id = $2::text::bigint'
const END =
  'delete from session where account_id = $1::text::bigint and session_id = $2::text::bigint returning session_id'
const END_OTHERS = `delete from session
  where account_id = $1::text::bigint and session_id <> $2::text::bigint returning session_id`
const END_ALL = 'delete from session where account_id = $1::text::bigint'
/**
 * Stores what alerts need: the account's language, and the sign-in if the owner has not used the device before, in a row that
 * outlives the session. At registration, no device counts as new. Processes of the previous version read `session.new_device`.
 */
const NOTE = `
with spoken as (
  update account set language = $3 where account_id = $1::text::bigint and language is distinct from $3),
noted as (
  update session set new_device = true from account
   where session_id = $2::text::bigint and $4::text::boolean and account.account_id = $1::text::bigint and account.created_at < now()
  returning session.session_id, session.account_id, session.device)
insert into new_device (session_id, account_id, device) select session_id, account_id, device from noted`

/** Must exceed the time that searches for alerts look back. */
const DEVICES_KEPT = '3 days'
const FORGET_DEVICES = `delete from new_device where at < now() - interval '${DEVICES_KEPT}'`

/**
 * Opens a session with a new secret. If the account has too many sessions, ends the least recently used ones, those that
 * await their second factor first. `secondFactorAt`
 * is carried over from the session that this one replaces.
 */
export async function openSession(
  sql: AnySql,
  limits: PeopleLimits,
  {
    accountId,
    visitor,
    secondFactorAt = null,
  }: { accountId: number; visitor: Visitor; secondFactorAt?: Date | null | undefined },
): Promise<OpenedSession> {
  const token = makeToken()
  const account = String(accountId)
  await sql.unsafe(MAKE_ROOM, [account, String(limits.sessionsMax - 1)])
  const row = [hashToken(token) as string, account, describeDevice(visitor.userAgent)]
  const rows = await sql.unsafe(OPEN, [...row, secondFactorAt?.toISOString() ?? null])
  const session = toSession(rows[0]!)
  const device = isToken(visitor.device) ? visitor.device : makeToken()
  const isNewDevice = await rememberDevice(sql, deviceSubject(device, session.email))
  await sql.unsafe(NOTE, [account, String(session.sessionId), visitor.language, String(isNewDevice)])
  const maxAgeSeconds = session.role !== null ? limits.operatorSessionSeconds : limits.sessionSeconds
  return { token, session, maxAgeSeconds, device, deviceSeconds: limits.deviceSeconds }
}

/** Returns the token's session. Null if there is none, it has expired, or its account is blocked. */
export async function readSession({ sql, limits }: PeopleServices, token: string): Promise<Session | null> {
  const hash = hashToken(token)
  if (hash === null) return null
  const row = (await sql.unsafe(READ, [hash, ...lifetimes(limits)]))[0]
  return row === undefined ? null : toSession(row)
}

/** Locks the session's account until the transaction ends, so that nobody ends the session meanwhile. False if it has ended. */
export async function holdSession(
  transaction: TransactionSql,
  { accountId, sessionId }: Pick<Session, 'accountId' | 'sessionId'>,
): Promise<boolean> {
  await lockAccount(transaction, accountId)
  return (await transaction.unsafe(IS_OPEN, [String(sessionId), String(accountId)])).length > 0
}

/** Lists the account's sessions, most recently used first. */
export async function listSessions({ sql, limits }: PeopleServices, accountId: number): Promise<readonly Session[]> {
  return (await sql.unsafe(LIST, [String(accountId), ...lifetimes(limits)])).map(toSession)
}

/** Ends one session. False if the account has no such session. */
export async function endSession(
  { sql }: { sql: AnySql },
  { accountId, sessionId }: Pick<Session, 'accountId' | 'sessionId'>,
): Promise<boolean> {
  return (await sql.unsafe(END, [String(accountId), String(sessionId)])).length > 0
}

/** Ends all other sessions of the account. Returns how many. */
export async function endOtherSessions(
  { sql }: { sql: AnySql },
  { accountId, sessionId }: Pick<Session, 'accountId' | 'sessionId'>,
): Promise<number> {
  return (await sql.unsafe(END_OTHERS, [String(accountId), String(sessionId)])).length
}

/** Forgets sign-ins whose alerts have been recorded, or are too old for one. */
export async function sweepNewDevices(sql: AnySql): Promise<void> {
  await sql.unsafe(FORGET_DEVICES)
}

export async function endAllSessions(sql: AnySql, accountId: number): Promise<void> {
  await sql.unsafe(END_ALL, [String(accountId)])
}

function lifetimes(limits: PeopleLimits): string[] {
  const { sessionIdleSeconds, sessionSeconds, operatorSessionIdleSeconds, operatorSessionSeconds } = limits
  return [sessionIdleSeconds, sessionSeconds, operatorSessionIdleSeconds, operatorSessionSeconds].map(String)
}

interface Row {
  readonly session_id: string
  readonly account_id: string
  readonly email: string
  readonly is_operator: boolean
  readonly operator_role: number | null
  readonly has_password: boolean
  readonly has_authenticator: boolean
  readonly has_passkeys: boolean
  readonly second_factor_at: Date | null
  readonly email_verified_at: Date | null
  readonly created_at: Date
  readonly seen_at: Date
  readonly password_checked_at: Date
  readonly device: string
}

function toSession(row: unknown): Session {
  const from = row as Row
  return {
    sessionId: Number(from.session_id),
    accountId: Number(from.account_id),
    email: from.email,
    role: readRole(from.is_operator, from.operator_role),
    emailVerifiedAt: from.email_verified_at,
    createdAt: from.created_at,
    seenAt: from.seen_at,
    passwordCheckedAt: from.password_checked_at,
    hasPassword: from.has_password,
    hasAuthenticator: from.has_authenticator,
    hasPasskeys: from.has_passkeys,
    hasSecondFactor: from.has_authenticator || from.has_passkeys,
    secondFactorAt: from.second_factor_at,
    device: from.device,
  }
}
