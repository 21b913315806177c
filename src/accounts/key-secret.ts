/** The secret of an API key: how it is generated, hashed for look-up, and sealed so that its owner can see it again. */

import { randomBytes } from 'node:crypto'
import { keyedHash, open, type SealedValue, type SecretSet, seal } from '../lib/secrets.ts'

const SECRET_BYTES = 32
/** Longer than any key ever issued; longer text is not even hashed. */
export const KEY_CHARACTERS_MAX = 200

export interface KeySecrets {
  /** Name of this service; keys begin with `sk-<service>-`. */
  readonly service: string
  readonly peppers: SecretSet
  readonly encryption: SecretSet
}

/** Numbers of the secrets that a process has, standby included. */
export interface KnownSecrets {
  readonly peppers: readonly number[]
  readonly encryption: readonly number[]
}

export function knownSecrets({ peppers, encryption }: KeySecrets): KnownSecrets {
  return { peppers: [...peppers.secrets.keys()], encryption: [...encryption.secrets.keys()] }
}

/** `sk-<service>-` and 256 random bits. */
export function makeKey(service: string): string {
  return `sk-${service}-${randomBytes(SECRET_BYTES).toString('base64url')}`
}

export interface KeyHash {
  readonly pepperId: number
  readonly hash: Buffer
}

/** Hash under which a new key is stored. */
export function hashKey({ peppers }: Pick<KeySecrets, 'peppers'>, key: string): KeyHash {
  return { pepperId: peppers.currentId, hash: keyedHash(peppers.secrets.get(peppers.currentId)!, key) }
}

/**
 * The hashes under which a presented key may be stored: one per pepper, the current one first. Each takes a few microseconds.
 * Empty for text that cannot be a key, so that nothing long or odd is hashed or looked up.
 */
export function candidateHashes({ peppers }: Pick<KeySecrets, 'peppers'>, key: string): readonly Buffer[] {
  if (key.length === 0 || key.length > KEY_CHARACTERS_MAX) return []
  const hashes = [keyedHash(peppers.secrets.get(peppers.currentId)!, key)]
  if (peppers.secrets.size === 1) return hashes
  for (const [pepperId, pepper] of peppers.secrets)
    if (pepperId !== peppers.currentId) hashes.push(keyedHash(pepper, key))
  return hashes
}

export interface KeyRow {
  readonly accountId: number
  readonly keyId: number
}

export function sealKey({ encryption }: Pick<KeySecrets, 'encryption'>, row: KeyRow, key: string): SealedValue {
  return seal(encryption, key, encryptionId => boundTo(row, encryptionId))
}

/** Decrypts a key's stored copy. Throws an Error if the copy was tampered with, was truncated or belongs to another row. */
export function openKey({ encryption }: Pick<KeySecrets, 'encryption'>, row: KeyRow, sealed: SealedValue): string {
  return open(encryption, sealed, encryptionId => boundTo(row, encryptionId))
}

function boundTo({ accountId, keyId }: KeyRow, encryptionId: number): string {
  return `gateway/api_key/v1|${accountId}|${keyId}|${encryptionId}`
}
