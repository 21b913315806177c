/** Changes an account's email address: a link sent to the new address confirms it, and the old address is notified. */

import { faultCode } from '../lib/database.ts'
import { readEmail } from './accounts.ts'
import { dropAccountTokens, dropTokens, issueToken, readToken, takeToken } from './email-tokens.ts'
import { MAILS } from './mail-texts.ts'
import { actingSelf, recordAction } from './operator-log.ts'
import { isToken } from './secret-token.ts'
import { endOtherSessions } from './sessions.ts'
import { tellOwner } from './tell-owner.ts'
import { addressSubject, countQuota, deviceSubject, rememberDevice } from './throttle.ts'
import type { Invalid, PeopleServices, Session, Throttled, Visitor } from './types.ts'

const IS_TAKEN = 'select account_id from account where email_key = lower($1)'
const CHANGE = `update account set email = $2, email_verified_at = now()
  where account_id = $1::text::bigint and blocked_at is null returning account_id`

/**
 * Emails a link to the new address. If that address already has an account, the email says so instead, and the caller gets the
 * same answer. The caller must have checked that the request comes from the account's owner.
 */
export async function requestEmailChange(
  services: PeopleServices,
  visitor: Visitor,
  session: Session,
  { email }: { email: string },
): Promise<{ outcome: 'accepted' } | { outcome: 'same' } | Invalid | Throttled> {
  const { sql, limits, mailer, publicUrl, serviceName: service } = services
  const address = readEmail(email)
  if (address === null) return { outcome: 'invalid', email: 'malformed' }
  if (address.toLowerCase() === session.email.toLowerCase()) return { outcome: 'same' }
  const max = limits.mailsPerHourMax
  const quotas = [
    { kind: 'changes_of_email', subject: String(session.accountId), max },
    { kind: 'mails_to_address', subject: addressSubject(address), max },
  ] as const
  for (const quota of quotas) {
    const retryAfterSeconds = await countQuota(sql, quota)
    if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds }
  }
  const { language } = visitor
  if ((await sql.unsafe(IS_TAKEN, [address])).length > 0) {
    await mailer.send({ to: address, ...MAILS.addressTaken[language]({ service, publicUrl }) })
    return { outcome: 'accepted' }
  }
  const about = { email: address, accountId: session.accountId, passwordPhc: null }
  const token = await issueToken(sql, 'email_change', about, limits.verifySeconds)
  const link = `${publicUrl}/account/email/confirm?token=${token}`
  const hours = Math.floor(limits.verifySeconds / 3_600)
  await mailer.send({ to: address, ...MAILS.confirmAddress[language]({ service, publicUrl, link, hours }) })
  return { outcome: 'accepted' }
}

/**
 * Returns the new address that a link confirms, without changing anything. Only the account that asked for the link can use it,
 * so whoever reads the mailbox of a mistyped address gains nothing. Null if the link is unknown, used, expired or another
 * account's.
 */
export async function readEmailChange(
  { sql }: PeopleServices,
  { accountId }: Pick<Session, 'accountId'>,
  token: string,
): Promise<{ email: string } | null> {
  const found = await readToken(sql, 'email_change', token)
  return found?.accountId === accountId ? { email: found.email } : null
}

/**
 * Changes the address, ends the account's other sessions and invalidates links sent to either address. API keys and the
 * password are unaffected. `taken`: another account has the new address by now.
 */
export async function finishEmailChange(
  services: PeopleServices,
  visitor: Visitor,
  session: Session,
  token: string,
): Promise<{ outcome: 'changed' | 'expired' | 'taken' }> {
  if ((await readEmailChange(services, session, token)) === null) return { outcome: 'expired' }
  const { accountId, email: before } = session
  try {
    const email = await services.sql.begin(async transaction => {
      const taken = await takeToken(transaction, 'email_change', token)
      if (taken === null) return null
      if ((await transaction.unsafe(CHANGE, [String(accountId), taken.email])).length === 0) return null
      await endOtherSessions({ sql: transaction }, session)
      await dropAccountTokens(transaction, accountId)
      for (const purpose of ['reset', 'registration', 'email_change'] as const) {
        await dropTokens(transaction, purpose, before)
        await dropTokens(transaction, purpose, taken.email)
      }
      if (isToken(visitor.device)) await rememberDevice(transaction, deviceSubject(visitor.device, taken.email))
      await recordAction(transaction, { by: actingSelf(session), action: 'account.email', accountId })
      return taken.email
    })
    if (email === null) return { outcome: 'expired' }
    tellOwner(services, before, facts => MAILS.emailChanged[visitor.language]({ ...facts, email }))
    return { outcome: 'changed' }
  } catch (error) {
    if (faultCode(error) === '23505') return { outcome: 'taken' }
    throw error
  }
}
