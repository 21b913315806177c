/** Sign-in, and the password check that is repeated before a secret is revealed. */

import type { TransactionSql } from '../lib/database.ts'
import { spellEmail } from './accounts.ts'
import { hostOf, networkOf } from './network.ts'
import { isTooLong } from './password-rules.ts'
import { isToken } from './secret-token.ts'
import { openSession } from './sessions.ts'
import {
  addressSubject,
  countAttempt,
  countQuota,
  deviceSubject,
  forgiveAttempt,
  isDeviceKnown,
  readQuota,
} from './throttle.ts'
import type { OpenedSession, PeopleServices, Session, Throttled, Visitor } from './types.ts'

const FIND = `select account_id, password_phc, blocked_at is not null as blocked from account where email_key = lower($1)`
const FIND_BY_ID =
  'select password_phc, email_key from account where account_id = $1::text::bigint and blocked_at is null'
/** $2: the password's hash, so that a password changed meanwhile yields no row. */
const LOCK_UNCHANGED = `select account_id from account
  where account_id = $1::text::bigint and password_phc = $2 and blocked_at is null for no key update`
const CONFIRM = `update session set password_checked_at = now()
  where session_id = $1::text::bigint and account_id = $2::text::bigint returning session_id`

/**
 * Signs a visitor in. Wrong passwords and unknown or unverified addresses get the same answer after the same time. Only someone
 * who knows the password learns that an account is blocked. Throws PasswordsBusyError when too many people sign in at once.
 */
export async function signIn(
  services: PeopleServices,
  visitor: Visitor,
  { email, password }: { email: string; password: string },
): Promise<
  { outcome: 'signed_in'; opened: OpenedSession } | { outcome: 'refused' } | { outcome: 'blocked' } | Throttled
> {
  const { sql, limits, passwords } = services
  const guard = guardOf(services, visitor, email)
  const retryAfterSeconds = await guard.begin()
  if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds }
  if (isTooLong(password, limits)) return { outcome: 'refused' }
  const row = (await sql.unsafe(FIND, [storable(spellEmail(email))]))[0]
  if (!(await passwords.verify(row?.password_phc ?? null, password)) || row === undefined) return { outcome: 'refused' }
  await guard.succeed()
  if (row.blocked) return { outcome: 'blocked' }
  const accountId = Number(row.account_id)
  const opened = await sql.begin(async transaction => {
    if (!(await lockUnchanged(transaction, { accountId, passwordPhc: row.password_phc }))) return null
    return openSession(transaction, limits, { accountId, visitor })
  })
  return opened === null ? { outcome: 'refused' } : { outcome: 'signed_in', opened }
}

/**
 * Locks the account until the transaction ends. False if its password is no longer the one that was checked, or it has been
 * blocked: checking takes time, and whatever ended the sessions meanwhile must end this sign-in, too.
 */
export async function lockUnchanged(
  transaction: TransactionSql,
  { accountId, passwordPhc }: { accountId: number; passwordPhc: string },
): Promise<boolean> {
  return (await transaction.unsafe(LOCK_UNCHANGED, [String(accountId), passwordPhc])).length > 0
}

/** Checks the password and, if it is right, records the time in the session. Wrong passwords are throttled as at sign-in. */
export async function confirmPassword(
  services: PeopleServices,
  visitor: Visitor,
  session: Session,
  password: string,
): Promise<{ outcome: 'confirmed' } | { outcome: 'refused' } | Throttled> {
  const checked = await checkPassword(services, visitor, session, password)
  if (checked.outcome !== 'confirmed') return checked
  const rows = await services.sql.unsafe(CONFIRM, [String(session.sessionId), String(session.accountId)])
  return { outcome: rows.length > 0 ? 'confirmed' : 'refused' }
}

/**
 * Checks the password of the session's account, and returns its hash. Wrong passwords are throttled as at sign-in.
 */
export async function checkPassword(
  services: PeopleServices,
  visitor: Visitor,
  session: Pick<Session, 'accountId' | 'email'>,
  password: string,
): Promise<{ outcome: 'confirmed'; passwordPhc: string } | { outcome: 'refused' } | Throttled> {
  const guard = guardOf(services, visitor, session.email)
  const retryAfterSeconds = await guard.begin()
  if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds }
  if (isTooLong(password, services.limits)) return { outcome: 'refused' }
  const row = (await services.sql.unsafe(FIND_BY_ID, [String(session.accountId)]))[0]
  const passwordPhc: string | null = row?.password_phc ?? null
  if (!(await services.passwords.verify(passwordPhc, password)) || passwordPhc === null) return { outcome: 'refused' }
  await guard.succeed()
  return { outcome: 'confirmed', passwordPhc }
}

/** Whether the password was checked recently enough to reveal a secret. */
export function isPasswordFresh(
  { limits }: Pick<PeopleServices, 'limits'>,
  session: Pick<Session, 'passwordCheckedAt'>,
  now: Date = new Date(),
): boolean {
  return now.getTime() - session.passwordCheckedAt.getTime() <= limits.passwordFreshSeconds * 1_000
}

export interface Guard {
  /** Counts an attempt. Returns the seconds to wait before the next try, or 0 if this attempt may go ahead. */
  begin(): Promise<number>
  /** Removes the attempt from the counts, because the password was right, and counts that instead. */
  succeed(): Promise<void>
}

/**
 * Counts wrong passwords per host, per network, per email address, and per email address and network, whether or not the email
 * address has an account. A device that has signed in to the account before is counted separately, so that no stranger can lock
 * the owner out. Also limits how often an account's right password is checked: with an account of one's own, one could otherwise
 * keep everybody else from signing in.
 */
export function guardOf({ sql, limits }: PeopleServices, visitor: Visitor, email: string): Guard {
  const address = addressSubject(email)
  const network = networkOf(visitor.ipAddress)
  const rightPasswords = { kind: 'right_passwords', subject: address, max: limits.rightPasswordsPerHourMax } as const
  let counts: readonly Parameters<typeof countAttempt>[2][] = [
    { kind: 'host_failures', subject: hostOf(visitor.ipAddress) },
    { kind: 'network_failures', subject: network },
    { kind: 'account_network_failures', subject: `${address} ${network}` },
    { kind: 'account_failures', subject: address },
  ]
  return {
    async begin() {
      const used = await readQuota(sql, rightPasswords)
      if (used > 0) return used
      const device = isToken(visitor.device) ? deviceSubject(visitor.device, email) : null
      if (device !== null && (await isDeviceKnown(sql, limits, device))) {
        counts = [{ kind: 'device_failures', subject: device }]
      }
      for (const count of counts) {
        const wait = await countAttempt(sql, limits, count)
        if (wait > 0) return wait
      }
      return 0
    },
    async succeed() {
      for (const count of counts) await forgiveAttempt(sql, limits, count)
      await countQuota(sql, rightPasswords)
    },
  }
}

/** Replaces or removes characters that a Postgres text column cannot store: lone surrogates and NUL. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}
