/** Encrypts the secrets of authenticator apps with KEY_ENCRYPTION_KEYS. Each is bound to its account. */

import type { AnySql } from '../lib/database.ts'
import { open, type SealedValue, seal } from '../lib/secrets.ts'
import type { KeySecrets } from './key-secret.ts'

export type SealingSecrets = Pick<KeySecrets, 'encryption'>

const boundTo = (accountId: number) => (encryptionId: number) => `gateway/totp/v1|${accountId}|${encryptionId}`

export function sealAuthenticator({ encryption }: SealingSecrets, accountId: number, secret: string): SealedValue {
  return seal(encryption, secret, boundTo(accountId))
}

/**
 * Decrypts a stored secret. Throws an Error if it was tampered with, belongs to another account, or needs a key that is not
 * configured.
 */
export function openAuthenticator({ encryption }: SealingSecrets, accountId: number, sealed: SealedValue): string {
  return open(encryption, sealed, boundTo(accountId))
}

/** Encodes a sealed secret as the value of a form field. */
export function writeOffer({ keyId, iv, ciphertext }: SealedValue): string {
  return [String(keyId), iv.toString('base64url'), ciphertext.toString('base64url')].join('.')
}

/** Opens a form field written by writeOffer. Returns null if it was tampered with or made for another account. */
export function openOffer(secrets: SealingSecrets, accountId: number, offer: string): string | null {
  const [keyId = '', iv = '', ciphertext = ''] = offer.split('.')
  const sealed = {
    keyId: Number(keyId),
    iv: Buffer.from(iv, 'base64url'),
    ciphertext: Buffer.from(ciphertext, 'base64url'),
  }
  try {
    return openAuthenticator(secrets, accountId, sealed)
  } catch {
    return null
  }
}

const NEXT_SEALED = `select account_id, encryption_id, encryption_iv, ciphertext from totp
  where account_id > $1::text::bigint and encryption_id <> $2::text::smallint order by account_id limit 1`
const RESEAL = `update totp set encryption_id = $3::text::smallint, encryption_iv = decode($4, 'hex'),
    ciphertext = decode($5, 'hex') where account_id = $1::text::bigint and encryption_iv = decode($2, 'hex')`
const IN_USE = 'select encryption_id, count(*)::integer as factors from totp group by 1'

/**
 * Reseals every authenticator under the current key, as rotateKeys does for API keys. Returns the accounts whose authenticator
 * could not be opened.
 */
export async function rotateAuthenticators(sql: AnySql, secrets: SealingSecrets): Promise<readonly number[]> {
  const unreadable: number[] = []
  for (let after = 0; ; ) {
    const row = (await sql.unsafe(NEXT_SEALED, [String(after), String(secrets.encryption.currentId)]))[0]
    if (row === undefined) return unreadable
    after = Number(row.account_id)
    const sealed = { keyId: row.encryption_id, iv: row.encryption_iv, ciphertext: row.ciphertext }
    try {
      const next = sealAuthenticator(secrets, after, openAuthenticator(secrets, after, sealed))
      const copy = [String(next.keyId), next.iv.toString('hex'), next.ciphertext.toString('hex')]
      await sql.unsafe(RESEAL, [String(after), row.encryption_iv.toString('hex'), ...copy])
    } catch {
      unreadable.push(after)
    }
  }
}

/** Counts authenticators by the number of their encryption key. */
export async function countSealedAuthenticators(sql: AnySql): Promise<ReadonlyMap<number, number>> {
  return new Map((await sql.unsafe(IN_USE)).map(row => [row.encryption_id, row.factors]))
}
