/** Adds, lists and removes an account's passkeys, and accepts them as its second factor. */

import { type AnySql, faultCode } from '../lib/database.ts'
import { MAILS } from './mail-texts.ts'
import { actingSelf, recordAction } from './operator-log.ts'
import { makeChallenge, takeChallenge } from './passkey-challenges.ts'
import { replaceRecoveryCodes } from './recovery-codes.ts'
import { confirmFactor, type FactorAnswer, lockFactors, markPassed } from './second-factor.ts'
import { endOtherSessions } from './sessions.ts'
import { tellOwner } from './tell-owner.ts'
import type { Language, PeopleServices, Session, Visitor } from './types.ts'
import {
  creationOptions,
  credentialIdOf,
  type KnownPasskey,
  type RelyingParty,
  relyingPartyOf,
  requestOptions,
  verifyCreation,
  verifySignature,
} from './webauthn.ts'

export const PASSKEY_NAME_CHARACTERS_MAX = 50

const LIST = `select passkey_id, credential_id, transports, name, created_at, used_at from passkey
  where account_id = $1::text::bigint order by passkey_id limit 100`
const ADD = `insert into passkey (credential_id, account_id, public_key, sign_count, transports, name)
  values (decode($1, 'hex'), $2::text::bigint, decode($3, 'hex'), $4::text::bigint, $5, $6)`
const REMOVE = `delete from passkey where account_id = $1::text::bigint and passkey_id = $2::text::bigint returning name`
const FIND = `select passkey_id, credential_id, public_key, transports, name from passkey
  where account_id = $1::text::bigint and credential_id = decode($2, 'hex')`
/**
 * Some devices count their signatures. If one does, the count must rise each time; otherwise, the passkey was copied or a
 * signature replayed.
 */
const USE = `update passkey set sign_count = $3::text::bigint, used_at = now()
  where account_id = $1::text::bigint and passkey_id = $2::text::bigint
    and (sign_count < $3::text::bigint or sign_count = 0 and $3::text::bigint = 0)
  returning passkey_id`

export interface Passkey extends KnownPasskey {
  readonly passkeyId: number
  readonly name: string
  readonly createdAt: Date
  /** Null if it has not been used since it was added. */
  readonly usedAt: Date | null
}

export async function listPasskeys(sql: AnySql, accountId: number): Promise<readonly Passkey[]> {
  return (await sql.unsafe(LIST, [String(accountId)])).map(row => ({
    passkeyId: Number(row.passkey_id),
    credentialId: row.credential_id,
    transports: row.transports.split(',').filter(Boolean),
    name: row.name,
    createdAt: row.created_at,
    usedAt: row.used_at,
  }))
}

/** Whether browsers allow passkeys at our public URL. */
export function arePasskeysOffered(services: Pick<PeopleServices, 'publicUrl' | 'serviceName'>): boolean {
  return relyingPartyOf(services) !== null
}

/**
 * Returns the browser's WebAuthn options for creating (`register`) or using (`give`) a passkey. Null if there is no passkey to
 * use, or browsers allow none at our public URL.
 */
export async function beginPasskey(
  services: PeopleServices,
  session: Session,
  purpose: 'register' | 'give',
): Promise<object | null> {
  const { sql, limits } = services
  const party = relyingPartyOf(services)
  if (party === null) return null
  const known = await listPasskeys(sql, session.accountId)
  if (purpose === 'give' && known.length === 0) return null
  const challenge = await makeChallenge(sql, limits, session, purpose)
  const ceremony = { party, challenge, timeoutMs: limits.passkeyChallengeSeconds * 1_000 }
  return purpose === 'give' ? requestOptions(ceremony, known) : creationOptions(ceremony, session, known)
}

export type Registration =
  /** Recovery codes are created together with the account's first factor; null for later factors. */
  | { readonly outcome: 'registered'; readonly recoveryCodes: readonly string[] | null }
  /**
   * `expired`: the challenge has expired or was used. `taken`: the passkey is registered already, with this or another account.
   * `full`: the account has as many passkeys as it may. `exists`: another factor was set up in the meantime, and the session has
   * to pass it first.
   */
  | { readonly outcome: 'refused' | 'expired' | 'taken' | 'full' | 'exists' }

/**
 * Adds a passkey. The caller must have checked that the request comes from the account's owner. If it is the account's first
 * factor, the account's other sessions end.
 */
export async function registerPasskey(
  services: PeopleServices,
  session: Session,
  given: { readonly answer: string; readonly name: string; readonly language: Language },
): Promise<Registration> {
  const { sql, limits } = services
  const { accountId } = session
  const party = relyingPartyOf(services)
  const challenge = await takeChallenge(sql, session, 'register')
  if (party === null || challenge === null) return { outcome: 'expired' }
  const passkey = await verifyCreation(party, challenge, given.answer)
  if (passkey === null) return { outcome: 'refused' }
  const { credentialId, publicKey, signCount, transports } = passkey
  const row = [credentialId.toString('hex'), String(accountId), publicKey.toString('hex'), String(signCount)]
  const isFirst = !session.hasSecondFactor
  try {
    const answer = await sql.begin(async (transaction): Promise<Registration> => {
      const factors = await lockFactors(transaction, accountId)
      if (isFirst && (factors.hasAuthenticator || factors.passkeys > 0)) return { outcome: 'exists' }
      if (factors.passkeys >= limits.passkeysMax) return { outcome: 'full' }
      await transaction.unsafe(ADD, [...row, transports.join(','), given.name])
      await recordAction(transaction, {
        by: actingSelf(session),
        action: 'passkey.add',
        accountId,
        subject: given.name,
      })
      if (!isFirst) return { outcome: 'registered', recoveryCodes: null }
      const recoveryCodes = await replaceRecoveryCodes(transaction, accountId)
      await markPassed(transaction, session)
      await endOtherSessions({ sql: transaction }, session)
      return { outcome: 'registered', recoveryCodes }
    })
    if (answer.outcome === 'registered') {
      tellOwner(services, session.email, MAILS[isFirst ? 'factorOn' : 'passkeyAdded'][given.language])
    }
    return answer
  } catch (error) {
    if (faultCode(error) === '23505') return { outcome: 'taken' }
    throw error
  }
}

/**
 * Removes a passkey. Resolves to `last` and keeps it if it is the account's only second factor: that can only be removed by
 * turning off two-factor authentication.
 */
export async function removePasskey(
  services: PeopleServices,
  session: Session,
  { passkeyId, language }: { readonly passkeyId: number; readonly language: Language },
): Promise<'removed' | 'last' | 'unknown'> {
  const { accountId } = session
  const outcome = await services.sql.begin(async transaction => {
    const factors = await lockFactors(transaction, accountId)
    const isLast = !factors.hasAuthenticator && factors.passkeys <= 1
    if (isLast) return factors.passkeys === 0 ? ('unknown' as const) : ('last' as const)
    const [row] = await transaction.unsafe(REMOVE, [String(accountId), String(passkeyId)])
    if (row === undefined) return 'unknown' as const
    const action = { by: actingSelf(session), action: 'passkey.remove', accountId, subject: row.name }
    await recordAction(transaction, action)
    return 'removed' as const
  })
  if (outcome === 'removed') tellOwner(services, session.email, MAILS.passkeyRemoved[language])
  return outcome
}

/** Checks a passkey's signature as the session's second factor. */
export async function givePasskey(
  services: PeopleServices,
  { visitor, session, answer }: { visitor: Visitor; session: Session; answer: string },
): Promise<FactorAnswer> {
  const { sql } = services
  const { accountId } = session
  const party = relyingPartyOf(services)
  const challenge = await takeChallenge(sql, session, 'give')
  if (party === null || challenge === null) return { outcome: 'expired' }
  const found = await findSigner(sql, party, { accountId, challenge, answer })
  if (found === null) return { outcome: 'refused_passkey' }
  const used = await sql.unsafe(USE, [String(accountId), String(found.passkeyId), String(found.signCount)])
  if (used.length > 0) return confirmFactor(services, { visitor, session })
  await recordAction(sql, { by: actingSelf(session), action: 'passkey.copied', accountId, subject: found.name })
  return { outcome: 'copied' }
}

async function findSigner(
  sql: AnySql,
  party: RelyingParty,
  { accountId, challenge, answer }: { accountId: number; challenge: string; answer: string },
): Promise<{ passkeyId: number; name: string; signCount: number } | null> {
  const id = credentialIdOf(answer)
  if (id === null) return null
  const row = (await sql.unsafe(FIND, [String(accountId), id.toString('hex')]))[0]
  if (row === undefined) return null
  const passkey = { credentialId: row.credential_id, publicKey: row.public_key, transports: [] }
  const signCount = await verifySignature(party, passkey, { challenge, answer })
  return signCount === null ? null : { passkeyId: Number(row.passkey_id), name: row.name, signCount }
}
