/** Sets a new password, either through an emailed link or by typing the old one. Either way, all existing sessions end. */

import type { AnySql } from '../lib/database.ts'
import { readEmail } from './accounts.ts'
import { dropAccountTokens, dropTokens, issueToken, readToken, takeToken } from './email-tokens.ts'
import { removeOutranked } from './identities.ts'
import { MAILS } from './mail-texts.ts'
import { networkOf } from './network.ts'
import { passwordFault } from './password-rules.ts'
import { endAllSessions, openSession } from './sessions.ts'
import { checkPassword } from './sign-in.ts'
import { tellOwner } from './tell-owner.ts'
import { addressSubject, countQuota } from './throttle.ts'
import type { Invalid, OpenedSession, PeopleServices, Session, Throttled, Visitor } from './types.ts'

const FIND = 'select account_id, email from account where email_key = lower($1) and blocked_at is null'
/**
 * Also marks the address as verified, because whoever opens the link has access to the mailbox. $3: the hash of the password that
 * was typed, which must still be the current one; null for a link.
 */
const CHANGE = `update account set password_phc = $2, email_verified_at = coalesce(email_verified_at, now())
  where account_id = $1::text::bigint and blocked_at is null and ($3::text is null or password_phc = $3) returning email`

/** Gives the same answer for every well-formed address, but emails only accounts that exist and are not blocked. */
export async function requestReset(
  services: PeopleServices,
  visitor: Visitor,
  { email }: { email: string },
): Promise<{ outcome: 'accepted' } | Invalid | Throttled> {
  const { sql, limits } = services
  const address = readEmail(email)
  if (address === null) return { outcome: 'invalid', email: 'malformed' }
  const quotas = [
    {
      kind: 'registrations_of_network',
      subject: networkOf(visitor.ipAddress),
      max: limits.registrationsPerNetworkMax,
    },
    // Counted separately, so that other emails to the address do not use up its resets. If a stranger uses them up, the owner
    // is not locked out: each request has emailed the owner a working link.
    { kind: 'resets_to_address', subject: addressSubject(address), max: limits.mailsPerHourMax },
  ] as const
  for (const quota of quotas) {
    const retryAfterSeconds = await countQuota(sql, quota)
    if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds }
  }
  const row = (await sql.unsafe(FIND, [address]))[0]
  // Not awaited: the time it takes to send an email would reveal whether there is an account.
  if (row !== undefined)
    sendReset(services, visitor, { accountId: Number(row.account_id), email: row.email }).catch(services.onMailFailed)
  return { outcome: 'accepted' }
}

async function sendReset(
  services: PeopleServices,
  visitor: Visitor,
  { accountId, email }: { accountId: number; email: string },
): Promise<void> {
  const { sql, limits, serviceName: service, publicUrl, mailer } = services
  const about = { email, accountId, passwordPhc: null }
  const token = await issueToken(sql, 'reset', about, limits.resetSeconds)
  const facts = { service, publicUrl, link: `${publicUrl}/reset?token=${token}` }
  const minutes = Math.floor(limits.resetSeconds / 60)
  await mailer.send({ to: email, ...MAILS.reset[visitor.language]({ ...facts, minutes }) })
}

/**
 * Returns the address that the link was sent to, for the page that the link opens; null if the link is unknown, used or
 * expired. Does not use up the link.
 */
export async function readReset({ sql }: PeopleServices, token: string): Promise<{ email: string } | null> {
  const found = await readToken(sql, 'reset', token)
  return found === null ? null : { email: found.email }
}

/** Sets the password, ends every session and opens a new one. */
export async function resetPassword(
  services: PeopleServices,
  visitor: Visitor,
  { token, password }: { token: string; password: string },
): Promise<
  { outcome: 'changed'; opened: OpenedSession } | Invalid | { outcome: 'expired' } | { outcome: 'blocked' } | Throttled
> {
  const { sql, limits, passwords } = services
  const found = await readToken(sql, 'reset', token)
  if (found === null) return { outcome: 'expired' }
  const fault = passwordFault(password, { email: found.email, limits })
  if (fault !== null) return { outcome: 'invalid', password: fault }
  const passwordPhc = await passwords.hash(password)
  const answer = await sql.begin(async transaction => {
    const taken = await takeToken(transaction, 'reset', token)
    if (taken === null) return 'expired'
    const accountId = taken.accountId as number
    if (!(await change(transaction, { accountId, from: null, to: passwordPhc }))) return 'blocked'
    await removeOutranked(transaction, accountId)
    return openSession(transaction, limits, { accountId, visitor })
  })
  if (typeof answer === 'string') return { outcome: answer }
  tellOwner(services, found.email, MAILS.passwordChanged[visitor.language])
  return { outcome: 'changed', opened: answer }
}

/** For a signed-in user: requires the current password, ends every session and opens a new one. */
export async function changePassword(
  services: PeopleServices,
  visitor: Visitor,
  session: Session,
  { current, next }: { current: string; next: string },
): Promise<{ outcome: 'changed'; opened: OpenedSession } | Invalid | { outcome: 'refused' } | Throttled> {
  const { sql, limits, passwords } = services
  const fault = passwordFault(next, { email: session.email, limits })
  if (fault !== null) return { outcome: 'invalid', password: fault }
  const checked = await checkPassword(services, visitor, session, current)
  if (checked.outcome !== 'confirmed') return checked
  const passwordPhc = await passwords.hash(next)
  const opened = await sql.begin(async transaction => {
    const { accountId, secondFactorAt } = session
    if (!(await change(transaction, { accountId, from: checked.passwordPhc, to: passwordPhc }))) return null
    return openSession(transaction, limits, { accountId, visitor, secondFactorAt })
  })
  if (opened === null) return { outcome: 'refused' }
  tellOwner(services, session.email, MAILS.passwordChanged[visitor.language])
  return { outcome: 'changed', opened }
}

/** Sets the password and invalidates outstanding links. False if the account is blocked or its password is not `from` any more. */
async function change(
  transaction: AnySql,
  { accountId, from, to }: { accountId: number; from: string | null; to: string },
): Promise<boolean> {
  const row = (await transaction.unsafe(CHANGE, [String(accountId), to, from]))[0]
  if (row === undefined) return false
  await endAllSessions(transaction, accountId)
  await dropAccountTokens(transaction, accountId)
  await dropTokens(transaction, 'registration', row.email)
  return true
}
