/** The second factor: an authenticator app, passkeys (`passkeys.ts`), and recovery codes for people who have lost both. */

import type { AnySql, Sql, TransactionSql } from '../lib/database.ts'
import { lockAccount } from './accounts.ts'
import {
  openAuthenticator,
  openOffer,
  type SealingSecrets,
  sealAuthenticator,
  writeOffer,
} from './authenticator-seal.ts'
import { MAILS } from './mail-texts.ts'
import { type Actor, actingSelf, recordAction } from './operator-log.ts'
import { dropRecoveryCodes, replaceRecoveryCodes, useRecoveryCode } from './recovery-codes.ts'
import { isToken } from './secret-token.ts'
import { endAllSessions, endOtherSessions } from './sessions.ts'
import { tellOwner } from './tell-owner.ts'
import {
  countAttempt,
  deviceSubject,
  forgiveAttempt,
  isDeviceKnown,
  rememberDevice,
  takeBackAttempt,
} from './throttle.ts'
import { type Authenticator, describeAuthenticator, isCode, makeTotpSecret, stepOfCode } from './totp.ts'
import type { Language, PeopleServices, Session, Throttled, Visitor } from './types.ts'

const READ = 'select encryption_id, encryption_iv, ciphertext from totp where account_id = $1::text::bigint'
/** Accepts each code only once, so that a code which somebody else has seen is worthless after its owner has used it. */
const TAKE_STEP = `update totp set last_step = $2::text::bigint
  where account_id = $1::text::bigint and last_step < $2::text::bigint returning account_id`
const ADD = `insert into totp (account_id, encryption_id, encryption_iv, ciphertext, last_step)
  values ($1::text::bigint, $2::text::smallint, decode($3, 'hex'), decode($4, 'hex'), $5::text::bigint)
  on conflict (account_id) do update set encryption_id = excluded.encryption_id, encryption_iv = excluded.encryption_iv,
    ciphertext = excluded.ciphertext, last_step = excluded.last_step, created_at = now()`
const DROP = `
with apps as (delete from totp where account_id = $1::text::bigint returning account_id),
passkeys as (delete from passkey where account_id = $1::text::bigint returning account_id)
select from apps union all select from passkeys`
const COUNT = `select exists (select from totp where account_id = $1::text::bigint) as has_authenticator,
  (select count(*)::integer from passkey where account_id = $1::text::bigint) as passkeys`
const OWNER = 'select email, language from account where account_id = $1::text::bigint'
const PASSED = `update session set second_factor_at = now()
  where session_id = $1::text::bigint and account_id = $2::text::bigint`

/**
 * Creates an authenticator without storing it: the page carries its encrypted secret until the person enters a code from the
 * app.
 */
export async function offerAuthenticator(
  { serviceName }: Pick<PeopleServices, 'serviceName'>,
  secrets: SealingSecrets,
  session: Pick<Session, 'accountId' | 'email'>,
): Promise<{ readonly offer: string; readonly authenticator: Authenticator }> {
  const secret = await makeTotpSecret()
  const offer = writeOffer(sealAuthenticator(secrets, session.accountId, secret))
  return { offer, authenticator: await describeAuthenticator(secret, { service: serviceName, email: session.email }) }
}

/**
 * Opens the sealed authenticator secret that a form sent back, to show its QR code again after a wrong code. Null if the secret was
 * made for another account.
 */
export async function readOffer(
  { serviceName }: Pick<PeopleServices, 'serviceName'>,
  secrets: SealingSecrets,
  session: Pick<Session, 'accountId' | 'email'>,
  offer: string,
): Promise<Authenticator | null> {
  const secret = openOffer(secrets, session.accountId, offer)
  return secret === null ? null : describeAuthenticator(secret, { service: serviceName, email: session.email })
}

export type Enrolment =
  | { readonly outcome: 'enrolled'; readonly recoveryCodes: readonly string[] }
  /** `exists`: the account already has a second factor, and `replace` was not set. */
  | { readonly outcome: 'wrong_code' | 'bad_offer' | 'exists' }

/** Activates the offered authenticator if the code is right. Ends the account's other sessions. */
export async function enrolAuthenticator(
  services: PeopleServices,
  secrets: SealingSecrets,
  session: Session,
  given: {
    readonly offer: string
    readonly code: string
    readonly replace: boolean
    readonly language: Language
    readonly now: Date
  },
): Promise<Enrolment> {
  const { accountId } = session
  const secret = openOffer(secrets, accountId, given.offer)
  if (secret === null) return { outcome: 'bad_offer' }
  const step = await stepOfCode(secret, given.code, given.now.getTime())
  if (step === null) return { outcome: 'wrong_code' }
  const { keyId, iv, ciphertext } = sealAuthenticator(secrets, accountId, secret)
  const row = [String(accountId), String(keyId), iv.toString('hex'), ciphertext.toString('hex'), String(step)]
  const enrolled = await services.sql.begin(async (transaction): Promise<Enrolment> => {
    const { hasAuthenticator, passkeys } = await lockFactors(transaction, accountId)
    if ((hasAuthenticator || passkeys > 0) && !given.replace) return { outcome: 'exists' }
    await transaction.unsafe(ADD, row)
    const recoveryCodes = await replaceRecoveryCodes(transaction, accountId)
    await markPassed(transaction, session)
    await endOtherSessions({ sql: transaction }, session)
    await recordAction(transaction, { by: actingSelf(session), action: 'factor.enrol', accountId })
    return { outcome: 'enrolled', recoveryCodes }
  })
  if (enrolled.outcome === 'enrolled') tellOwner(services, session.email, MAILS.factorOn[given.language])
  return enrolled
}

/** Turns off a customer's second factor and deletes the recovery codes. Operators must keep theirs. False if there was none. */
export async function dropSecondFactor(
  services: PeopleServices,
  session: Session,
  language: Language,
): Promise<boolean> {
  const { accountId, email } = session
  const isDropped = await services.sql.begin(async transaction => {
    if (!(await dropFactor(transaction, accountId))) return false
    await recordAction(transaction, { by: actingSelf(session), action: 'factor.drop', accountId })
    return true
  })
  if (isDropped) tellOwner(services, email, MAILS.factorOff[language])
  return isDropped
}

/**
 * Returns which second factors an account has. Locks them until the transaction ends, so that nobody else changes them meanwhile.
 */
export async function lockFactors(
  transaction: TransactionSql,
  accountId: number,
): Promise<{ readonly hasAuthenticator: boolean; readonly passkeys: number }> {
  await lockAccount(transaction, accountId)
  const row = (await transaction.unsafe(COUNT, [String(accountId)]))[0]!
  return { hasAuthenticator: row.has_authenticator, passkeys: row.passkeys }
}

/** Removes all second factors and recovery codes. False if there was no second factor. */
export async function dropFactor(transaction: TransactionSql, accountId: number): Promise<boolean> {
  if ((await transaction.unsafe(DROP, [String(accountId)])).length === 0) return false
  await dropRecoveryCodes(transaction, accountId)
  return true
}

export type FactorAnswer =
  | { readonly outcome: 'confirmed' | 'refused' }
  /** The code is right but has been used before; the app shows the next one within 30 seconds. */
  | { readonly outcome: 'used' }
  /**
   * Outcomes for a passkey. `copied`: the signature is right, but the passkey's signature count has not grown since the last one,
   * so a copy of the passkey may have signed.
   */
  | { readonly outcome: 'refused_passkey' | 'expired' | 'copied' }
  | Throttled

/** Records that the session has passed its second factor. */
export async function markPassed(
  sql: AnySql,
  { sessionId, accountId }: Pick<Session, 'sessionId' | 'accountId'>,
): Promise<void> {
  await sql.unsafe(PASSED, [String(sessionId), String(accountId)])
}

/**
 * Calls markPassed for a session that was asked for its second factor, and remembers the device: wrong codes from it are
 * counted separately from then on.
 */
export async function confirmFactor(
  { sql }: Pick<PeopleServices, 'sql'>,
  { visitor, session }: { visitor: Visitor; session: Session },
): Promise<{ readonly outcome: 'confirmed' }> {
  await markPassed(sql, session)
  const device = deviceOf(visitor, session)
  if (device !== null) await rememberDevice(sql, device)
  return { outcome: 'confirmed' }
}

/**
 * Checks a code from the authenticator app or a recovery code. Each wrong six-digit code counts against the account and makes
 * people wait longer before the next attempt. While somebody with a stolen password guesses, the owner still has two ways in: a
 * device that has passed the second factor before is counted separately, and a recovery code, which nobody can guess, never has
 * to wait.
 */
export async function giveSecondFactor(
  services: PeopleServices,
  secrets: SealingSecrets,
  { visitor, session, typed, now }: { visitor: Visitor; session: Session; typed: string; now: Date },
): Promise<FactorAnswer> {
  const { sql, limits } = services
  const { accountId } = session
  const device = deviceOf(visitor, session)
  const confirm = () => confirmFactor(services, { visitor, session })
  if (!isCode(typed)) return (await useRecoveryCode(sql, accountId, typed)) ? confirm() : { outcome: 'refused' }
  const isKnown = device !== null && (await isDeviceKnown(sql, limits, device))
  const count = isKnown
    ? ({ kind: 'device_failures', subject: device } as const)
    : ({ kind: 'factor_failures', subject: String(accountId) } as const)
  const retryAfterSeconds = await countAttempt(sql, limits, count)
  if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds }
  const outcome = await checkCode(sql, secrets, { accountId, typed, now })
  if (outcome === 'refused') return { outcome }
  if (outcome === 'used') {
    // Somebody else may have seen the code, so earlier wrong guesses still count.
    await takeBackAttempt(sql, limits, count)
    return { outcome }
  }
  await forgiveAttempt(sql, limits, count)
  return confirm()
}

async function checkCode(
  sql: Sql,
  secrets: SealingSecrets,
  { accountId, typed, now }: { accountId: number; typed: string; now: Date },
): Promise<'confirmed' | 'refused' | 'used'> {
  const row = (await sql.unsafe(READ, [String(accountId)]))[0]
  if (row === undefined) return 'refused'
  const sealed = { keyId: row.encryption_id, iv: row.encryption_iv, ciphertext: row.ciphertext }
  const step = await stepOfCode(openAuthenticator(secrets, accountId, sealed), typed, now.getTime())
  if (step === null) return 'refused'
  const taken = await sql.unsafe(TAKE_STEP, [String(accountId), String(step)])
  return taken.length > 0 ? 'confirmed' : 'used'
}

/** Creates new recovery codes; the old ones stop working. */
export function renewRecoveryCodes({ sql }: PeopleServices, session: Session): Promise<readonly string[]> {
  const { accountId } = session
  return sql.begin(async transaction => {
    const codes = await replaceRecoveryCodes(transaction, accountId)
    await recordAction(transaction, { by: actingSelf(session), action: 'factor.codes', accountId })
    return codes
  })
}

/**
 * For people who have lost all factors and recovery codes: removes the second factor, so that the next sign-in can set up a new
 * one. Returns the account's owner, who should be told; null if there was no second factor.
 */
export function resetSecondFactor(
  sql: Sql,
  { accountId, by, reason }: { accountId: number; by: Actor; reason: string },
): Promise<{ readonly email: string; readonly language: Language } | null> {
  return sql.begin(async transaction => {
    if (!(await dropFactor(transaction, accountId))) return null
    await endAllSessions(transaction, accountId)
    await recordAction(transaction, { by, action: 'factor.reset', accountId, reason })
    const owner = (await transaction.unsafe(OWNER, [String(accountId)]))[0]!
    return { email: owner.email, language: owner.language ?? 'vi' }
  })
}

/** Whether the session still has to pass its second factor; until then it gives access to nothing. */
export function awaitsFactor(session: Pick<Session, 'hasSecondFactor' | 'secondFactorAt'>): boolean {
  return session.hasSecondFactor && session.secondFactorAt === null
}

/** Whether the session passed its second factor recently enough to move money. */
export function isFactorFresh(
  { limits }: Pick<PeopleServices, 'limits'>,
  session: Pick<Session, 'secondFactorAt'>,
  now: Date,
): boolean {
  const { secondFactorAt: at } = session
  return at !== null && now.getTime() - at.getTime() <= limits.factorFreshSeconds * 1_000
}

/**
 * Returns the key (`subject` in the table `throttle`) under which failed second factors on a device are counted; null without a
 * device cookie. Failed passwords are counted under the device and the bare email address, which cannot contain spaces, so the
 * two never share a key.
 */
function deviceOf({ device }: Pick<Visitor, 'device'>, { email }: Pick<Session, 'email'>): string | null {
  return isToken(device) ? deviceSubject(device, `second factor of ${email}`) : null
}
