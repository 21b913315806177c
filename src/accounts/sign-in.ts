/** Signing in, and asking for the password again before a secret is shown. */

import { spellEmail } from './accounts.ts'
import { networkOf } from './network.ts'
import { isTooLong } from './password-rules.ts'
import { openSession } from './sessions.ts'
import { addressSubject, countAttempt, forgiveAttempt } from './throttle.ts'
import type { OpenedSession, PeopleServices, Session, Throttled, Visitor } from './types.ts'

const FIND = `select account_id, password_phc, blocked_at is not null as blocked from account where email_key = lower($1)`
const FIND_BY_ID =
  'select password_phc, email_key from account where account_id = $1::text::bigint and blocked_at is null'
const CONFIRM = `update session set password_checked_at = now()
  where session_id = $1::text::bigint and account_id = $2::text::bigint returning session_id`

/**
 * A wrong password, an address without an account and one that was never verified give the same answer after the same
 * time. `blocked` is told only to who knows the password. Throws PasswordsBusyError when too many sign in at once.
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
  const opened = await sql.begin(transaction =>
    openSession(transaction, limits, { accountId: Number(row.account_id), visitor }),
  )
  return { outcome: 'signed_in', opened }
}

/** Makes the session's password check fresh again; wrong passwords count as at sign-in. */
export async function confirmPassword(
  services: PeopleServices,
  visitor: Visitor,
  session: Session,
  password: string,
): Promise<{ outcome: 'confirmed' } | { outcome: 'refused' } | Throttled> {
  const checked = await checkPassword(services, visitor, session, password)
  if (checked.outcome !== 'confirmed') return checked
  const rows = await services.sql.unsafe(CONFIRM, [String(session.sessionId), String(session.accountId)])
  return rows.length > 0 ? checked : { outcome: 'refused' }
}

/** Whether this is the password of the session's account. */
export async function checkPassword(
  services: PeopleServices,
  visitor: Visitor,
  session: Pick<Session, 'accountId' | 'email'>,
  password: string,
): Promise<{ outcome: 'confirmed' } | { outcome: 'refused' } | Throttled> {
  const guard = guardOf(services, visitor, session.email)
  const retryAfterSeconds = await guard.begin()
  if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds }
  if (isTooLong(password, services.limits)) return { outcome: 'refused' }
  const row = (await services.sql.unsafe(FIND_BY_ID, [String(session.accountId)]))[0]
  if (!(await services.passwords.verify(row?.password_phc ?? null, password))) return { outcome: 'refused' }
  await guard.succeed()
  return { outcome: 'confirmed' }
}

/** Whether the password was typed so lately that a secret may be shown. */
export function isPasswordFresh(
  { limits }: Pick<PeopleServices, 'limits'>,
  session: Pick<Session, 'passwordCheckedAt'>,
  now: Date = new Date(),
): boolean {
  return now.getTime() - session.passwordCheckedAt.getTime() <= limits.passwordFreshSeconds * 1_000
}

export interface Guard {
  /** Counts the attempt; seconds to wait, or 0. */
  begin(): Promise<number>
  /** The password was right. */
  succeed(): Promise<void>
}

/** Attempts on one address and from one network; the address counts whether it has an account or not. */
export function guardOf({ sql, limits }: PeopleServices, visitor: Visitor, email: string): Guard {
  const account = { kind: 'account_failures', subject: addressSubject(email) } as const
  const network = { kind: 'network_failures', subject: networkOf(visitor.ipAddress) } as const
  return {
    async begin() {
      const wait = await countAttempt(sql, limits, network)
      return wait > 0 ? wait : countAttempt(sql, limits, account)
    },
    async succeed() {
      await forgiveAttempt(sql, limits, network)
      await forgiveAttempt(sql, limits, account)
    },
  }
}

/** As Postgres can store it. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}
