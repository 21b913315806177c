/** Moves stored keys to the current secrets, so that older secrets can be removed from the environment. */

import type { AnySql, Sql } from '../lib/database.ts'
import { keyedHash } from '../lib/secrets.ts'
import { countSealedAuthenticators, rotateAuthenticators } from './authenticator-seal.ts'
import { hashKey, type KeyRow, type KeySecrets, openKey, sealKey } from './key-secret.ts'
import { LOCKED_ACCOUNT } from './keys.ts'

const BATCH_ROWS = 200

const NEXT = `select account_id, key_id, encryption_id, encryption_iv, ciphertext from api_key
  where (account_id, key_id) > ($1::text::bigint, $2::text::bigint) and ciphertext is not null
    and (encryption_id <> $3::text::smallint or pepper_id <> $4::text::smallint)
  order by account_id, key_id limit $5::text::integer`
/** Does nothing if the key was revoked or replaced in the meantime. */
const REPLACE = `update api_key set key_hash = decode($4, 'hex'), pepper_id = $5::text::smallint,
    encryption_id = $6::text::smallint, encryption_iv = decode($7, 'hex'), ciphertext = decode($8, 'hex')
  where account_id = ${LOCKED_ACCOUNT} and key_id = $2::text::bigint and encryption_iv = decode($3, 'hex')
  returning key_id`
/** Leaves out the playground's keys: nobody holds a secret for them, so they depend on no pepper or encryption key. */
const IN_USE = `select pepper_id, encryption_id, count(*)::integer as keys,
    count(*) filter (where ciphertext is null)::integer as without_copy
  from api_key where revoked_at is null and not playground group by 1, 2
 union all
select replaced_pepper_id, null, count(*)::integer, 0 from api_key where replaced_until > now() group by 1
 order by 1, 2`
const REFUSED = `select count(*)::integer as keys from api_key
  where revoked_at is null and not playground and pepper_id <> all(string_to_array($1, ',')::smallint[])`
const SAMPLES = `select distinct on (pepper_id, encryption_id) account_id, key_id, key_hash, pepper_id, encryption_id, encryption_iv,
    ciphertext from api_key where ciphertext is not null order by pepper_id, encryption_id, account_id`

export interface Rotation {
  /** Keys moved to the current secrets. */
  readonly rotated: number
  /** Keys left unchanged, because their stored copy is damaged or its encryption key is not configured. */
  readonly unreadable: readonly KeyRow[]
  /** Accounts whose authenticator was left unchanged, for the same reasons. */
  readonly unreadableAuthenticators: readonly number[]
}

/**
 * Reseals every authenticator and every revealable key under the current encryption key, and rehashes keys under the current
 * pepper, 200 rows at a time. Safe to interrupt and run again. Configure the current secrets in every running process first.
 */
export async function rotateKeys(sql: Sql | AnySql, secrets: KeySecrets): Promise<Rotation> {
  const current = [String(secrets.encryption.currentId), String(secrets.peppers.currentId), String(BATCH_ROWS)]
  const unreadable: KeyRow[] = []
  let rotated = 0
  let after: KeyRow = { accountId: 0, keyId: 0 }
  for (;;) {
    const rows = await sql.unsafe(NEXT, [String(after.accountId), String(after.keyId), ...current])
    for (const row of rows) {
      after = { accountId: Number(row.account_id), keyId: Number(row.key_id) }
      const sealed = { keyId: row.encryption_id, iv: row.encryption_iv, ciphertext: row.ciphertext }
      const key = readCopy(secrets, after, sealed)
      if (key === null) unreadable.push(after)
      else if (await replace(sql, secrets, { row: after, key, iv: sealed.iv })) rotated++
    }
    if (rows.length < BATCH_ROWS) break
  }
  return { rotated, unreadable, unreadableAuthenticators: await rotateAuthenticators(sql, secrets) }
}

function readCopy(secrets: KeySecrets, row: KeyRow, sealed: Parameters<typeof openKey>[2]): string | null {
  try {
    return openKey(secrets, row, sealed)
  } catch {
    return null
  }
}

async function replace(
  sql: Sql | AnySql,
  secrets: KeySecrets,
  { row, key, iv }: { row: KeyRow; key: string; iv: Buffer },
): Promise<boolean> {
  const { pepperId, hash } = hashKey(secrets, key)
  const sealed = sealKey(secrets, row, key)
  const before = [String(row.accountId), String(row.keyId), iv.toString('hex')]
  const copy = [String(sealed.keyId), sealed.iv.toString('hex'), sealed.ciphertext.toString('hex')]
  return (await sql.unsafe(REPLACE, [...before, hash.toString('hex'), String(pepperId), ...copy])).length > 0
}

/** How many active keys depend on each secret, by the secret's number in KEY_PEPPERS or KEY_ENCRYPTION_KEYS. */
export interface SecretsInUse {
  readonly peppers: ReadonlyMap<number, number>
  /** Counts authenticators, too. */
  readonly encryption: ReadonlyMap<number, number>
  /** Number of active keys without a sealed copy. They cannot be moved to another pepper, so their owners must replace them. */
  readonly withoutCopy: number
  /** Numbers of secrets whose configured value is not the one that keys were stored with. */
  readonly wrong: { readonly peppers: ReadonlySet<number>; readonly encryption: ReadonlySet<number> }
}

export async function readSecretsInUse(sql: Sql | AnySql, secrets: KeySecrets): Promise<SecretsInUse> {
  const peppers = new Map<number, number>()
  const encryption = new Map<number, number>()
  let withoutCopy = 0
  for (const { pepper_id, encryption_id, keys, without_copy } of await sql.unsafe(IN_USE)) {
    peppers.set(pepper_id, (peppers.get(pepper_id) ?? 0) + keys)
    if (encryption_id !== null) encryption.set(encryption_id, (encryption.get(encryption_id) ?? 0) + keys)
    withoutCopy += without_copy
  }
  for (const [id, sealed] of await countSealedAuthenticators(sql))
    encryption.set(id, (encryption.get(id) ?? 0) + sealed)
  return { peppers, encryption, withoutCopy, wrong: await findWrong(sql, secrets) }
}

/** Counts the active keys that get a 401 because their pepper is not configured. Reads the whole table. */
export async function countRefusedKeys(sql: Sql | AnySql, { peppers }: KeySecrets): Promise<number> {
  return (await sql.unsafe(REFUSED, [[...peppers.secrets.keys()].join(',')]))[0]?.keys
}

/** Finds wrong secrets: opens and rehashes one stored key for each pair of pepper and encryption key. */
async function findWrong(sql: Sql | AnySql, secrets: KeySecrets): Promise<SecretsInUse['wrong']> {
  const wrong = { peppers: new Set<number>(), encryption: new Set<number>() }
  for (const row of await sql.unsafe(SAMPLES)) {
    const sealed = { keyId: row.encryption_id, iv: row.encryption_iv, ciphertext: row.ciphertext }
    const key = readCopy(secrets, { accountId: Number(row.account_id), keyId: Number(row.key_id) }, sealed)
    const pepper = secrets.peppers.secrets.get(row.pepper_id)
    if (key === null) {
      if (secrets.encryption.secrets.has(row.encryption_id)) wrong.encryption.add(row.encryption_id)
    } else if (pepper !== undefined && !keyedHash(pepper, key).equals(row.key_hash)) wrong.peppers.add(row.pepper_id)
  }
  return wrong
}
