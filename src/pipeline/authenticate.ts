/**
 * Finds the account that a key belongs to, before the body is read. A cached caller may be stale; placing the hold verifies the
 * key again.
 */

import { hash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { FoundKey } from '../accounts/find-key.ts'
import { GatewayError } from '../errors.ts'
import type { RefusedKeyState } from '../ledger/types.ts'
import type { Caller } from './call.ts'

export interface KeyDirectory {
  /** Hashes under which this key may be stored; empty for text that cannot be a key. */
  hashes(key: string): readonly Uint8Array[]
  /** The key's current database record; null if the key is unknown. Rejects with GatewayError `ledger_unavailable`. */
  find(hashes: readonly Uint8Array[]): Promise<FoundKey | null>
}

export interface AuthenticatorOptions {
  readonly directory: KeyDirectory
  /** Maximum number of callers kept in the cache. */
  readonly cachedMax: number
  /** How long a caller stays cached, in ms. */
  readonly cachedMs: number
  readonly nowMs: () => number
}

export interface Authenticator {
  /**
   * The cached caller of the first key, without a database lookup; null if that key is not cached. The other keys only count if
   * the first is invalid, which takes a lookup.
   */
  cachedCaller(keys: readonly string[]): Caller | null
  /** The caller from the cache, otherwise from the database. Only for calls that place a hold, which verifies the key. */
  findCaller(keys: readonly string[]): Promise<Caller>
  /** The caller from the database, whatever is cached. */
  verify(keys: readonly string[]): Promise<Caller>
  /** Clears the cache. Call when keys have changed. */
  forget(): void
  /** Ignores cached callers of this account until the database says that its wallet has money again. */
  distrust(accountId: number): void
}

const MISSING = 'The API key is missing: send it as `x-api-key: <key>` or `authorization: Bearer <key>`.'
const WRONG = 'The API key is wrong. Check it for missing characters, or create a new one in the dashboard.'

/** The error for a key that gives no access. */
export function keyRefused(state: RefusedKeyState): GatewayError {
  switch (state) {
    case 'unknown':
      return new GatewayError('authentication_failed', { message: WRONG })
    case 'revoked':
      return new GatewayError('authentication_failed', {
        message: 'This API key has been revoked. Create a new one in the dashboard.',
      })
    case 'blocked':
      return new GatewayError('authentication_failed', {
        message: 'The account of this API key is blocked. Its owner can contact us through the dashboard.',
      })
    case 'disabled':
      return new GatewayError('key_disabled')
    case 'expired':
      return new GatewayError('key_expired')
  }
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { directory, cachedMax, cachedMs, nowMs } = options
  /** Callers by the SHA-256 of the complete key, so that no secret is kept in memory. Oldest first. */
  const cache = new Map<string, { caller: Caller; untilMs: number }>()

  /** Accounts whose wallet was empty when a hold was placed. */
  const distrusted = new Set<number>()
  const cachedUnder = (digest: string): Caller | null => {
    const cached = cache.get(digest)
    return cached && cached.untilMs > nowMs() && !distrusted.has(cached.caller.accountId) ? cached.caller : null
  }

  const find = async (key: string, digest: string): Promise<Caller | RefusedKeyState> => {
    const keyHashes = directory.hashes(key)
    const found = keyHashes.length === 0 ? null : await directory.find(keyHashes)
    cache.delete(digest)
    if (found === null) return 'unknown'
    const { state, ...facts } = found
    if (state !== 'active') return state
    const caller = { ...facts, keyHashes }
    // Never cache an empty wallet: a customer who has just topped up must be served at once.
    if (caller.walletEmpty) return caller
    distrusted.delete(caller.accountId)
    cache.set(digest, { caller, untilMs: nowMs() + cachedMs })
    if (cache.size > cachedMax) cache.delete(cache.keys().next().value as string)
    return caller
  }

  const first = async (keys: readonly string[], fresh: boolean): Promise<Caller> => {
    if (keys.length === 0) throw new GatewayError('authentication_failed', { message: MISSING })
    let refused: RefusedKeyState = 'unknown'
    for (const key of keys) {
      const digest = hash('sha256', key, 'base64')
      const cached = fresh ? null : cachedUnder(digest)
      if (cached !== null) return cached
      const found = await find(key, digest)
      if (typeof found === 'object') return found
      if (refused === 'unknown') refused = found
    }
    throw keyRefused(refused)
  }

  return {
    cachedCaller(keys) {
      const [key] = keys
      return key === undefined ? null : cachedUnder(hash('sha256', key, 'base64'))
    },
    findCaller: keys => first(keys, false),
    verify: keys => first(keys, true),
    forget: () => cache.clear(),
    distrust(accountId) {
      if (distrusted.size >= cachedMax) {
        distrusted.clear()
        cache.clear()
      }
      distrusted.add(accountId)
    },
  }
}

/** The keys in the request headers, in the order in which they are tried. One valid key is enough. */
export function keysIn(headers: IncomingHttpHeaders): string[] {
  const { authorization, 'x-api-key': apiKey } = headers
  const keys: string[] = []
  const single = Array.isArray(apiKey) ? apiKey[0] : apiKey
  if (single) keys.push(single.trim())
  const bearer = /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1]
  if (bearer && !keys.includes(bearer)) keys.push(bearer)
  return keys.filter(key => key !== '')
}
