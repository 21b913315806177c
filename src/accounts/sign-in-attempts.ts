/**
 * Attempts to sign in with a provider. An attempt begins when the browser leaves for the provider and ends when it comes back.
 * The browser holds a secret in its cookie. Everything that the provider must send back is derived from that secret, and the
 * attempt's row, found by the secret's hash, is used only once. So nobody can be tricked into finishing an attempt that somebody
 * else began.
 */

import { createHash } from 'node:crypto'
import type { AnySql } from '../lib/database.ts'
import {
  type AttemptSecrets,
  type Identity,
  PROVIDER_CODES,
  PROVIDER_IDS,
  type ProviderId,
} from './identity-providers/types.ts'
import type { PeopleLimits } from './limits.ts'
import { networkOf } from './network.ts'
import { hashToken, isToken, makeToken } from './secret-token.ts'
import { countQuota } from './throttle.ts'
import type { PeopleServices, Throttled, Visitor } from './types.ts'

const BEGIN = `insert into sign_in_attempt (attempt_hash, provider, account_id, next, expires_at)
  values (decode($1, 'hex'), $2::text::smallint, $3::text::bigint, $4, now() + make_interval(secs => $5::text::integer))`
const READ = `select provider, account_id, next, subject, email, is_authoritative, encode(link_hash, 'hex') as link_hash
  from sign_in_attempt where attempt_hash = decode($1, 'hex') and expires_at > now()`
const TAKE = `delete from sign_in_attempt
  where attempt_hash = decode($1, 'hex') and provider = $2::text::smallint and subject is null and expires_at > now()
  returning account_id, next`
const WAIT = `insert into sign_in_attempt
    (attempt_hash, provider, next, subject, email, is_authoritative, expires_at)
  values (decode($1, 'hex'), $2::text::smallint, $3, $4, $5, $6::text::boolean, now() + make_interval(secs => $7::text::integer))`
const SET_LINK = `update sign_in_attempt set link_hash = decode($2, 'hex') where attempt_hash = decode($1, 'hex')`
const END =
  "delete from sign_in_attempt where attempt_hash = decode($1, 'hex') and subject is not null returning subject"
const SWEEP = 'delete from sign_in_attempt where expires_at < now()'

/** An attempt that the provider has not answered yet. */
export interface Attempt {
  readonly provider: ProviderId
  /** The account to link the provider to; null for a plain sign-in. */
  readonly accountId: number | null
  /** The page to show afterwards. */
  readonly next: string
}

/**
 * An attempt that the provider has answered with the email address of an existing account. It waits until the account's owner
 * agrees to link the provider.
 */
export interface WaitingAttempt {
  readonly identity: Identity & { readonly email: string }
  readonly next: string
  /** Hash of the emailed link's token, hexadecimal; null if no link was emailed. */
  readonly linkHash: string | null
}

export type BegunAttempt = { readonly outcome: 'begun'; readonly token: string } | Throttled

/** Starts an attempt; `token` is the cookie's value. */
export async function beginAttempt(
  { sql, limits }: Pick<PeopleServices, 'sql' | 'limits'>,
  { ipAddress }: Pick<Visitor, 'ipAddress'>,
  attempt: Attempt,
): Promise<BegunAttempt> {
  const subject = networkOf(ipAddress)
  const quota = { kind: 'attempts_of_network', subject, max: limits.attemptsPerNetworkMax } as const
  const retryAfterSeconds = await countQuota(sql, quota)
  if (retryAfterSeconds > 0) return { outcome: 'throttled', retryAfterSeconds }
  const token = makeToken()
  const account = attempt.accountId === null ? null : String(attempt.accountId)
  const row = [hashToken(token) as string, String(PROVIDER_CODES[attempt.provider]), account, attempt.next]
  await sql.unsafe(BEGIN, [...row, String(limits.attemptSeconds)])
  return { outcome: 'begun', token }
}

/** Reads an attempt that the provider has not answered yet, for the page that sends the browser there. Does not consume it. */
export async function readAttempt(sql: AnySql, token: string | null): Promise<Attempt | null> {
  const row = await find(sql, token)
  return row === null || row.subject !== null
    ? null
    : { provider: row.provider, accountId: row.accountId, next: row.next }
}

/** Consumes the attempt and returns it; null if it is unknown, used, expired or another provider's. */
export async function takeAttempt(sql: AnySql, token: string | null, provider: ProviderId): Promise<Attempt | null> {
  const hash = hashToken(token ?? '')
  const row = hash === null ? undefined : (await sql.unsafe(TAKE, [hash, String(PROVIDER_CODES[provider])]))[0]
  if (row === undefined) return null
  return { provider, accountId: row.account_id === null ? null : Number(row.account_id), next: row.next }
}

/** Stores the provider's answer until the owner agrees, and returns the cookie's new value. */
export async function waitForOwner(
  sql: AnySql,
  limits: PeopleLimits,
  { identity, next }: { identity: WaitingAttempt['identity']; next: string },
): Promise<string> {
  const token = makeToken()
  const { provider, subject, email, isAuthoritative } = identity
  const row = [hashToken(token) as string, String(PROVIDER_CODES[provider]), next, subject, email]
  await sql.unsafe(WAIT, [...row, String(isAuthoritative), String(limits.linkSeconds)])
  return token
}

export async function readWaiting(sql: AnySql, token: string | null): Promise<WaitingAttempt | null> {
  const row = await find(sql, token)
  if (row === null || row.subject === null || row.email === null) return null
  const { provider, subject, email, isAuthoritative, next, linkHash } = row
  return { identity: { provider, subject, email, isAuthoritative }, next, linkHash }
}

/** Stores a hash of the link emailed for a waiting attempt. Only the newest link works. */
export async function setMailedLink(sql: AnySql, token: string, link: string): Promise<void> {
  await sql.unsafe(SET_LINK, [hashToken(token) as string, hashToken(link) as string])
}

/** Consumes the waiting attempt. False if another request has already done so. */
export async function endWaiting(sql: AnySql, token: string): Promise<boolean> {
  return (await sql.unsafe(END, [hashToken(token) as string])).length > 0
}

export async function sweepAttempts(sql: AnySql): Promise<void> {
  await sql.unsafe(SWEEP)
}

/** Derives the secrets that tie the provider's answer to the attempt; only the browser that began it can know them. */
export function secretsOf(token: string): AttemptSecrets {
  const derive = (purpose: string) => createHash('sha256').update(`${purpose}|${token}`).digest('base64url')
  return { state: derive('state'), nonce: derive('nonce'), codeVerifier: derive('code verifier') }
}

interface Row extends Attempt {
  readonly subject: string | null
  readonly email: string | null
  readonly isAuthoritative: boolean
  readonly linkHash: string | null
}

async function find(sql: AnySql, token: string | null): Promise<Row | null> {
  const row = isToken(token) ? (await sql.unsafe(READ, [hashToken(token) as string]))[0] : undefined
  if (row === undefined) return null
  return {
    provider: PROVIDER_IDS.find(id => PROVIDER_CODES[id] === row.provider) as ProviderId,
    accountId: row.account_id === null ? null : Number(row.account_id),
    next: row.next,
    subject: row.subject,
    email: row.email,
    isAuthoritative: row.is_authoritative === true,
    linkHash: row.link_hash,
  }
}
