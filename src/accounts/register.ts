/** Registration. No account exists until the link in the email is opened and the password typed again. */

import { faultCode } from '../lib/database.ts'
import { readEmail } from './accounts.ts'
import { dropTokens, issueToken, readToken, takeToken } from './email-tokens.ts'
import { removeOutranked } from './identities.ts'
import { MAILS } from './mail-texts.ts'
import { networkOf } from './network.ts'
import { isTooLong, passwordFault } from './password-rules.ts'
import { endAllSessions, openSession } from './sessions.ts'
import { guardOf } from './sign-in.ts'
import { addressSubject, countQuota } from './throttle.ts'
import type { Invalid, OpenedSession, PeopleServices, Throttled, Visitor } from './types.ts'

const KNOWN = 'select account_id from account where email_key = lower($1) and password_phc is not null'
/**
 * Creates the verified account. If an operator or a sign-in with a provider has already created one without a password, sets
 * its password instead: whoever controls the mailbox may choose it.
 */
const VERIFY = `
insert into account as a (email, password_phc, email_verified_at) values ($1, $2, now())
on conflict (email_key) do update set password_phc = excluded.password_phc, email_verified_at = now()
  where a.password_phc is null
returning account_id, blocked_at is not null as blocked`
const WALLET = 'insert into wallet (account_id) values ($1::text::bigint) on conflict (account_id) do nothing'

/**
 * Sends an email and gives the same answer whether or not the address has an account. The chosen password is stored with the
 * link, not with the account, so registering somebody else's address achieves nothing. Throws PasswordsBusyError when too many
 * people register at once, and the mail server's error when the email cannot be sent.
 */
export async function register(
  services: PeopleServices,
  visitor: Visitor,
  { email, password }: { email: string; password: string },
): Promise<{ outcome: 'accepted' } | Invalid | Throttled> {
  const { sql, limits, passwords } = services
  const address = readEmail(email)
  const fault = passwordFault(password, { email, limits })
  if (address === null || fault !== null) {
    return {
      outcome: 'invalid',
      ...(address === null ? { email: 'malformed' } : {}),
      ...(fault === null ? {} : { password: fault }),
    }
  }
  const retryAfterSeconds = await countRegistration(services, visitor, address)
  if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds }
  const passwordPhc = await passwords.hash(password)
  const isKnown = (await sql.unsafe(KNOWN, [address])).length > 0
  const facts = { service: services.serviceName, publicUrl: services.publicUrl }
  if (isKnown) {
    await services.mailer.send({ to: address, ...MAILS.alreadyRegistered[visitor.language](facts) })
    return { outcome: 'accepted' }
  }
  const about = { email: address, accountId: null, passwordPhc }
  const token = await issueToken(sql, 'registration', about, limits.verifySeconds)
  const link = `${services.publicUrl}/verify?token=${token}`
  const hours = Math.floor(limits.verifySeconds / 3_600)
  await services.mailer.send({ to: address, ...MAILS.verification[visitor.language]({ ...facts, link, hours }) })
  return { outcome: 'accepted' }
}

async function countRegistration({ sql, limits }: PeopleServices, visitor: Visitor, address: string): Promise<number> {
  const quotas = [
    {
      kind: 'registrations_of_network',
      subject: networkOf(visitor.ipAddress),
      max: limits.registrationsPerNetworkMax,
    },
    { kind: 'registrations', subject: '', max: limits.registrationsMax },
    { kind: 'mails_to_address', subject: addressSubject(address), max: limits.mailsPerHourMax },
  ] as const
  for (const quota of quotas) {
    const wait = await countQuota(sql, quota)
    if (wait > 0) return wait
  }
  return 0
}

/**
 * Returns the address that the link was sent to, for the page that the link opens; null if the link is unknown, used or
 * expired. Does not use up the link.
 */
export async function readVerification({ sql }: PeopleServices, token: string): Promise<{ email: string } | null> {
  const found = await readToken(sql, 'registration', token)
  return found === null ? null : { email: found.email }
}

/**
 * Creates the verified account with an empty wallet and signs the person in. The password must be the one chosen when asking for
 * the link.
 */
export async function finishRegistration(
  services: PeopleServices,
  visitor: Visitor,
  { token, password }: { token: string; password: string },
): Promise<
  { outcome: 'verified'; opened: OpenedSession } | { outcome: 'wrong_password' } | { outcome: 'expired' } | Throttled
> {
  const { sql, limits, passwords } = services
  const found = await readToken(sql, 'registration', token)
  if (found === null) return { outcome: 'expired' }
  const guard = guardOf(services, visitor, found.email)
  const retryAfterSeconds = await guard.begin()
  if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds }
  if (isTooLong(password, limits) || !(await passwords.verify(found.passwordPhc, password))) {
    return { outcome: 'wrong_password' }
  }
  await guard.succeed()
  const opened = await sql
    .begin(async transaction => {
      const taken = await takeToken(transaction, 'registration', token)
      if (taken === null) return null
      const row = (await transaction.unsafe(VERIFY, [taken.email, taken.passwordPhc]))[0]
      if (row === undefined || row.blocked) return null
      await transaction.unsafe(WALLET, [row.account_id])
      // While the account had no password, people without access to its mailbox may have signed in through a provider.
      await endAllSessions(transaction, Number(row.account_id))
      await removeOutranked(transaction, Number(row.account_id))
      await dropTokens(transaction, 'reset', taken.email)
      return openSession(transaction, limits, { accountId: Number(row.account_id), visitor })
    })
    .catch((error: unknown) => {
      // Two links for the same new address were opened concurrently.
      if (faultCode(error) === '23505') return null
      throw error
    })
  return opened === null ? { outcome: 'expired' } : { outcome: 'verified', opened }
}
