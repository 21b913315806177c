/**
 * Signing in with a provider. The account is found by the provider's id for the person, never by an email address alone. If the
 * address already has an account, the account's owner must agree first, in the same browser, with the password or an emailed
 * link.
 *
 * One case needs no agreement: nobody has ever verified the account's address, and the provider itself runs the mailbox. The
 * person is then signed in to that account, and everything that strangers may have left in it is removed.
 */

import type { AnySql, TransactionSql } from '../lib/database.ts'
import { lockAccount } from './accounts.ts'
import { dropTokens } from './email-tokens.ts'
import { addIdentity, findIdentity, isTaken, removeIdentities } from './identities.ts'
import type { Identity } from './identity-providers/types.ts'
import { PROVIDER_LABELS } from './identity-providers/types.ts'
import { MAILS } from './mail-texts.ts'
import { networkOf } from './network.ts'
import { dropFactor } from './second-factor.ts'
import { hashToken, makeToken } from './secret-token.ts'
import { endAllSessions, holdSession, openSession } from './sessions.ts'
import { checkPassword, lockUnchanged } from './sign-in.ts'
import { endWaiting, readWaiting, setMailedLink, type WaitingAttempt, waitForOwner } from './sign-in-attempts.ts'
import { tellOwner } from './tell-owner.ts'
import { addressSubject, countQuota } from './throttle.ts'
import type { OpenedSession, PeopleServices, Session, Throttled, Visitor } from './types.ts'

const FIND = `select account_id, email, email_verified_at is not null as verified, blocked_at is not null as blocked,
    password_phc is not null as has_password from account where email_key = lower($1)`
const CREATE = `with a as (insert into account (email, email_verified_at) values ($1, now()) returning account_id),
  w as (insert into wallet (account_id) select account_id from a)
  select account_id from a`
const CLAIM = `update account set email_verified_at = now(), password_phc = null
  where account_id = $1::text::bigint and email_verified_at is null returning account_id`

export type ProviderSignIn =
  | { readonly outcome: 'signed_in'; readonly opened: OpenedSession }
  /** The address already has an account, whose owner must agree first. `attempt` goes into the cookie. */
  | { readonly outcome: 'waiting'; readonly attempt: string }
  | { readonly outcome: 'blocked' | 'no_email' }
  | Throttled

interface Found {
  readonly accountId: number
  readonly isVerified: boolean
  readonly isBlocked: boolean
  readonly hasPassword: boolean
}

async function findByEmail(sql: AnySql, email: string): Promise<Found | null> {
  const row = (await sql.unsafe(FIND, [email]))[0]
  if (row === undefined) return null
  const { verified, blocked, has_password: hasPassword } = row
  return { accountId: Number(row.account_id), isVerified: verified, isBlocked: blocked, hasPassword }
}

/**
 * Signs in the person whom the provider has identified. `next` is the page to show afterwards; it is stored if the account's
 * owner has to agree first.
 */
export async function signInWithProvider(
  services: PeopleServices,
  visitor: Visitor,
  given: { identity: Identity; next: string },
): Promise<ProviderSignIn> {
  try {
    return await signInOnce(services, visitor, given)
  } catch (error) {
    if (!isTaken(error)) throw error
    // A concurrent request registered the address or signed in the same person, so start again.
    return signInOnce(services, visitor, given)
  }
}

/** Throws the database's error (see isTaken) if a concurrent request registers the address or links the identity first. */
async function signInOnce(
  services: PeopleServices,
  visitor: Visitor,
  { identity, next }: { identity: Identity; next: string },
): Promise<ProviderSignIn> {
  const { sql, limits } = services
  const { email } = identity
  // Read the account before the identity: a concurrent sign-in commits both at once, so if we see its account, we also see its
  // identity.
  const account = email === null ? null : await findByEmail(sql, email)
  const known = await findIdentity(sql, identity)
  if (known !== null) {
    if (known.isBlocked) return { outcome: 'blocked' }
    const { accountId } = known
    const opened = await sql.begin(async transaction => {
      await lockAccount(transaction, accountId)
      // A password reset may have removed the identity and ended its sessions in the meantime.
      if ((await findIdentity(transaction, identity))?.accountId !== accountId) return null
      return openSession(transaction, limits, { accountId, visitor })
    })
    if (opened !== null) return { outcome: 'signed_in', opened }
  }
  if (email === null) return { outcome: 'no_email' }
  if (account?.isBlocked) return { outcome: 'blocked' }
  if (account === null) return createAccount(services, visitor, { ...identity, email })
  if (!account.isVerified && identity.isAuthoritative) {
    const opened = await sql.begin(async transaction => {
      await linkProven(transaction, account.accountId, { ...identity, email })
      return openSession(transaction, limits, { accountId: account.accountId, visitor })
    })
    return { outcome: 'signed_in', opened }
  }
  return { outcome: 'waiting', attempt: await waitForOwner(sql, limits, { identity: { ...identity, email }, next }) }
}

async function createAccount(
  services: PeopleServices,
  visitor: Visitor,
  identity: WaitingAttempt['identity'],
): Promise<ProviderSignIn> {
  const { sql, limits } = services
  const network = networkOf(visitor.ipAddress)
  const quotas = [
    { kind: 'registrations_of_network', subject: network, max: limits.registrationsPerNetworkMax },
    { kind: 'registrations', subject: '', max: limits.registrationsMax },
  ] as const
  for (const quota of quotas) {
    const retryAfterSeconds = await countQuota(sql, quota)
    if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds }
  }
  const opened = await sql.begin(async transaction => {
    const accountId = Number((await transaction.unsafe(CREATE, [identity.email]))[0]!.account_id)
    await addIdentity(transaction, accountId, identity)
    await dropTokens(transaction, 'registration', identity.email)
    return openSession(transaction, limits, { accountId, visitor })
  })
  return { outcome: 'signed_in', opened }
}

/**
 * Links the provider once the person has proved that they own the mailbox. If the address had never been verified before, this
 * also removes everything that others may have set up in the account: password, sessions, second factor, emailed links and other
 * providers.
 */
async function linkProven(
  transaction: TransactionSql,
  accountId: number,
  identity: WaitingAttempt['identity'],
): Promise<void> {
  if ((await transaction.unsafe(CLAIM, [String(accountId)])).length > 0) {
    await endAllSessions(transaction, accountId)
    await dropFactor(transaction, accountId)
    await removeIdentities(transaction, accountId)
    for (const purpose of ['registration', 'reset'] as const) await dropTokens(transaction, purpose, identity.email)
  }
  await addIdentity(transaction, accountId, identity)
}

/**
 * Returns what the page needs to ask the account's owner whether to link the provider. Null if no sign-in from this browser
 * (`attempt`, from its cookie) is waiting for the owner's consent.
 */
export async function readLinkQuestion(
  { sql }: PeopleServices,
  attempt: string | null,
): Promise<{ provider: Identity['provider']; email: string; hasPassword: boolean } | null> {
  const waiting = await readWaiting(sql, attempt)
  if (waiting === null) return null
  const { provider, email } = waiting.identity
  return { provider, email, hasPassword: (await findByEmail(sql, email))?.hasPassword === true }
}

export type Linked =
  | { readonly outcome: 'linked'; readonly opened: OpenedSession; readonly next: string }
  /**
   * `taken`: in the meantime, the person's identity at the provider was linked to another account, or another identity at the
   * provider to this account. `expired`: no sign-in from this browser is waiting for the owner's consent any more.
   */
  | { readonly outcome: 'refused' | 'taken' | 'expired' | 'blocked' }
  | Throttled

/** Links the provider if the owner has consented by entering the account's password. */
export async function linkByPassword(
  services: PeopleServices,
  visitor: Visitor,
  { attempt, password }: { attempt: string | null; password: string },
): Promise<Linked> {
  const waiting = await readWaiting(services.sql, attempt)
  if (waiting === null || attempt === null) return { outcome: 'expired' }
  const { email } = waiting.identity
  const account = await findByEmail(services.sql, email)
  if (account === null) return { outcome: 'expired' }
  const checked = await checkPassword(services, visitor, { accountId: account.accountId, email }, password)
  if (checked.outcome !== 'confirmed') return checked
  return link(services, visitor, { attempt, waiting, account, passwordPhc: checked.passwordPhc })
}

/** Emails the account's owner a link, which works only in the browser that asked for it. */
export async function mailLink(
  services: PeopleServices,
  visitor: Visitor,
  attempt: string | null,
): Promise<{ outcome: 'sent' | 'expired' } | Throttled> {
  const { sql, limits, mailer, publicUrl, serviceName: service } = services
  const waiting = await readWaiting(sql, attempt)
  if (waiting === null || attempt === null) return { outcome: 'expired' }
  const { email, provider } = waiting.identity
  const quota = { kind: 'mails_to_address', subject: addressSubject(email), max: limits.mailsPerHourMax } as const
  const retryAfterSeconds = await countQuota(sql, quota)
  if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds }
  const token = makeToken()
  await setMailedLink(sql, attempt, token)
  const link = `${publicUrl}/signin/link/confirm?token=${token}`
  const facts = { service, publicUrl, link, provider: PROVIDER_LABELS[provider] }
  await mailer.send({ to: email, ...MAILS.linkProvider[visitor.language](facts) })
  return { outcome: 'sent' }
}

/** Whether the link was emailed for this browser's attempt. Changes nothing. */
export async function readMailedLink(
  { sql }: PeopleServices,
  { attempt, token }: { attempt: string | null; token: string },
): Promise<WaitingAttempt | null> {
  const waiting = await readWaiting(sql, attempt)
  return waiting?.linkHash != null && waiting.linkHash === hashToken(token) ? waiting : null
}

/** Links the provider if the owner has consented by opening the emailed link. */
export async function linkByMail(
  services: PeopleServices,
  visitor: Visitor,
  given: { attempt: string | null; token: string },
): Promise<Linked> {
  const waiting = await readMailedLink(services, given)
  if (waiting === null || given.attempt === null) return { outcome: 'expired' }
  const account = await findByEmail(services.sql, waiting.identity.email)
  if (account === null) return { outcome: 'expired' }
  return link(services, visitor, { attempt: given.attempt, waiting, account, passwordPhc: null })
}

/** `passwordPhc`: the hash of the password with which the owner has consented; null for an emailed link. */
async function link(
  services: PeopleServices,
  visitor: Visitor,
  {
    attempt,
    waiting: { identity, next },
    account: { accountId, isBlocked },
    passwordPhc,
  }: { attempt: string; waiting: WaitingAttempt; account: Found; passwordPhc: string | null },
): Promise<Linked> {
  if (isBlocked) return { outcome: 'blocked' }
  try {
    const opened = await services.sql.begin(async transaction => {
      if (!(await endWaiting(transaction, attempt))) return null
      if (passwordPhc === null) await linkProven(transaction, accountId, identity)
      else if (await lockUnchanged(transaction, { accountId, passwordPhc })) {
        await addIdentity(transaction, accountId, identity)
      } else return null
      return openSession(transaction, services.limits, { accountId, visitor })
    })
    if (opened === null) return { outcome: 'expired' }
    tellLinked(services, visitor, { email: identity.email, provider: identity.provider })
    return { outcome: 'linked', opened, next }
  } catch (error) {
    if (isTaken(error)) return { outcome: 'taken' }
    throw error
  }
}

/**
 * Links a provider for somebody who is signed in and has proved that they own the account. `ended`: the session has ended while
 * the provider was answering.
 */
export async function linkToSession(
  services: PeopleServices,
  visitor: Visitor,
  { session, identity }: { session: Session; identity: Identity },
): Promise<{ outcome: 'linked' | 'taken' | 'ended' }> {
  const known = await findIdentity(services.sql, identity)
  if (known?.accountId === session.accountId) return { outcome: 'linked' }
  try {
    const isLinked = await services.sql.begin(async transaction => {
      if (!(await holdSession(transaction, session))) return false
      await addIdentity(transaction, session.accountId, identity)
      return true
    })
    if (!isLinked) return { outcome: 'ended' }
  } catch (error) {
    if (isTaken(error)) return { outcome: 'taken' }
    throw error
  }
  tellLinked(services, visitor, { email: session.email, provider: identity.provider })
  return { outcome: 'linked' }
}

function tellLinked(
  services: PeopleServices,
  { language }: Visitor,
  { email, provider }: { email: string; provider: Identity['provider'] },
): void {
  tellOwner(services, email, facts => MAILS.providerLinked[language]({ ...facts, provider: PROVIDER_LABELS[provider] }))
}
