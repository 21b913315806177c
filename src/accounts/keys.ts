/** API keys: at most 10 active per account, hashed for look-up, revealed again only to their owner. */

import type { AnySql, Sql, TransactionSql } from '../lib/database.ts'
import { hashKey, type KeyRow, type KeySecrets, makeKey, openKey, sealKey } from './key-secret.ts'

export const ACTIVE_KEYS_MAX = 10
const LABEL_CHARACTERS_MAX = 100

export interface ApiKey extends KeyRow {
  readonly label: string
  /** The last four characters, for telling keys apart. */
  readonly last4: string
  readonly createdAt: Date
  /** Null while the key is active. */
  readonly revokedAt: Date | null
  /** Maximum number of calls per minute. 0 means no limit; null means the catalogue's default. */
  readonly rateLimitPerMinute: number | null
  /** Maximum number of concurrent calls. 0 means no limit; null means the catalogue's default. */
  readonly concurrencyMax: number | null
  /** Whether the secret can be shown again: false for revoked keys and for keys created before encrypted copies were stored. */
  readonly showable: boolean
}

const LOCK = 'select account_id from wallet where account_id = $1::text::bigint for no key update'
/**
 * The account $1, after locking its wallet. Changes of keys lock it in a trigger anyway (`keys_version`), but only after the key:
 * a transaction that has locked the wallet and then changes the key, such as one that deletes the account, would deadlock.
 */
export const LOCKED_ACCOUNT = '(select account_id from wallet where account_id = $1::text::bigint for no key update)'
const COUNT = `select count(*)::integer as active, nextval(pg_get_serial_sequence('api_key', 'key_id')) as key_id
  from api_key where account_id = $1::text::bigint and revoked_at is null and not playground`
const INSERT = `insert into api_key
    (account_id, key_id, key_hash, pepper_id, label, last4, encryption_id, encryption_iv, ciphertext, submission)
  overriding system value
  values ($1::text::bigint, $2::text::bigint, decode($3, 'hex'), $4::text::smallint, $5, $6, $7::text::smallint,
          decode($8, 'hex'), decode($9, 'hex'), $10::text::uuid)`
const ERASED = `encryption_id = null, encryption_iv = null, ciphertext = null, replaced_hash = null, replaced_pepper_id = null,
    replaced_until = null`
const REVOKE = `update api_key set revoked_at = now(), ${ERASED}
  where account_id = ${LOCKED_ACCOUNT} and key_id = $2::text::bigint and revoked_at is null returning key_id`
/** Erases the keys' names too, because they may contain personal data. */
const REVOKE_ALL = `update api_key set revoked_at = coalesce(revoked_at, now()), label = '', ${ERASED}
  where account_id = $1::text::bigint`
const LIST = `select account_id, key_id, label, last4, created_at, revoked_at, rate_limit_per_minute, concurrency_max,
    ciphertext is not null as showable
  from api_key where account_id = $1::text::bigint and not playground order by key_id`
const SHOW = `select encryption_id, encryption_iv, ciphertext from api_key
  where account_id = $1::text::bigint and key_id = $2::text::bigint`

const FIND = `select account_id, key_id from api_key
  where ($2::text is null or account_id = $2::text::bigint) and (key_id = $3::text::bigint or last4 = $1)
  order by key_id = $3::text::bigint desc nulls last limit 2`

export class KeyLimitError extends Error {}

/**
 * Creates a key and returns its secret. Throws KeyLimitError if the account has 10 active keys, and an Error if the account does
 * not exist. The keys are counted in a separate statement after the lock, because within the same statement the count would come
 * from a stale snapshot.
 */
export async function createKey(
  sql: Sql,
  secrets: KeySecrets,
  { accountId, label = '' }: { accountId: number; label?: string },
): Promise<{ keyId: number; key: string }> {
  return sql.begin(async transaction => {
    await lockKeys(transaction, accountId)
    return insertKey(transaction, secrets, { accountId, label, submission: null })
  })
}

/**
 * Blocks other key creations for this account until the transaction ends. Throws an Error when the account does not
 * exist.
 */
export async function lockKeys(transaction: TransactionSql, accountId: number): Promise<void> {
  const wallet = await transaction.unsafe(LOCK, [String(accountId)])
  if (wallet.length === 0) throw new Error(`there is no account ${accountId}`)
}

/** Creates the key within a transaction that has called lockKeys. Throws KeyLimitError if the account has 10 active keys. */
export async function insertKey(
  transaction: TransactionSql,
  secrets: KeySecrets,
  { accountId, label, submission }: { accountId: number; label: string; submission: string | null },
): Promise<{ keyId: number; key: string }> {
  const account = String(accountId)
  const { active, key_id } = (await transaction.unsafe(COUNT, [account]))[0]!
  if (active >= ACTIVE_KEYS_MAX) {
    throw new KeyLimitError(`the account already has ${ACTIVE_KEYS_MAX} active keys; revoke one first`)
  }
  const keyId = Number(key_id)
  const key = makeKey(secrets.service)
  const { pepperId, hash } = hashKey(secrets, key)
  const sealed = sealKey(secrets, { accountId, keyId }, key)
  const parameters = [account, String(keyId), hash.toString('hex'), String(pepperId), cleanLabel(label), key.slice(-4)]
  const copy = [String(sealed.keyId), sealed.iv.toString('hex'), sealed.ciphertext.toString('hex')]
  await transaction.unsafe(INSERT, [...parameters, ...copy, submission])
  return { keyId, key }
}

/** Returns a key's name in the form that is stored: well-formed, without control characters, at most 100 characters. */
export function cleanLabel(label: string): string {
  const plain = label
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return plain.slice(0, LABEL_CHARACTERS_MAX).toWellFormed()
}

/** Revokes a key, with effect from its next call in every process. Returns false if there is no such active key. */
export async function revokeKey(sql: Sql | AnySql, { accountId, keyId }: KeyRow): Promise<boolean> {
  return (await sql.unsafe(REVOKE, [String(accountId), String(keyId)])).length > 0
}

/** Revokes all keys of an account that is being deleted, and erases their names. */
export async function revokeAllKeys(sql: AnySql, accountId: number): Promise<void> {
  await sql.unsafe(REVOKE_ALL, [String(accountId)])
}

/**
 * Finds a key by its number or its last four characters, in one account or in all. Revoked keys are found too. Returns null if
 * no key matches, or if the text is the last four characters of several keys.
 */
export async function findKeyOfAny(
  sql: AnySql,
  { text, accountId }: { readonly text: string; readonly accountId: number | null },
): Promise<KeyRow | null> {
  const number = /^#?(\d{1,15})$/.exec(text)?.[1] ?? null
  const account = accountId === null ? null : String(accountId)
  const rows = await sql.unsafe(FIND, [text.replace(/^…/, ''), account, number])
  const [row, another] = rows
  if (row === undefined || (another !== undefined && row.key_id !== number)) return null
  return { accountId: Number(row.account_id), keyId: Number(row.key_id) }
}

/** Lists an account's keys, oldest first, including revoked ones but not the playground's. */
export async function listKeys(sql: Sql | AnySql, accountId: number): Promise<readonly ApiKey[]> {
  const rows = await sql.unsafe(LIST, [String(accountId)])
  return rows.map(row => ({
    accountId: Number(row.account_id),
    keyId: Number(row.key_id),
    label: row.label,
    last4: row.last4,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    rateLimitPerMinute: row.rate_limit_per_minute,
    concurrencyMax: row.concurrency_max,
    showable: row.showable,
  }))
}

/**
 * Reveals the secret to the key's owner. `gone`: the key was revoked or created before encrypted copies were stored, so the owner
 * needs a new one. Null if there is no such key. Throws an Error if the stored copy is damaged or its encryption key is not
 * configured.
 */
export async function showKey(
  sql: Sql | AnySql,
  secrets: Pick<KeySecrets, 'encryption'>,
  { accountId, keyId }: KeyRow,
): Promise<{ outcome: 'revealed'; key: string } | { outcome: 'gone' } | null> {
  const row = (await sql.unsafe(SHOW, [String(accountId), String(keyId)]))[0]
  if (row === undefined) return null
  if (row.ciphertext === null) return { outcome: 'gone' }
  const sealed = { keyId: row.encryption_id, iv: row.encryption_iv, ciphertext: row.ciphertext }
  return { outcome: 'revealed', key: openKey(secrets, { accountId, keyId }, sealed) }
}
