/**
 * Replaces a key's secret. The key keeps its name, limits and history, and the old secret may work beside the new one for some
 * hours.
 */

import type { AnySql, Sql } from '../lib/database.ts'
import { hashKey, type KeyRow, type KeySecrets, makeKey, sealKey } from './key-secret.ts'
import { LOCKED_ACCOUNT, showKey } from './keys.ts'

export const OVERLAP_HOURS_MAX = 24

/** Does nothing if the key has been rotated since the caller read it. */
const REPLACE = `update api_key set
    replaced_hash = case when $4::text::integer > 0 then key_hash end,
    replaced_pepper_id = case when $4::text::integer > 0 then pepper_id end,
    replaced_until = case when $4::text::integer > 0 then now() + make_interval(hours => $4::text::integer) end,
    key_hash = decode($5, 'hex'), pepper_id = $6::text::smallint, last4 = $7, encryption_id = $8::text::smallint,
    encryption_iv = decode($9, 'hex'), ciphertext = decode($10, 'hex'), rotations = rotations + 1, rotated_at = now()
  where account_id = ${LOCKED_ACCOUNT} and key_id = $2::text::bigint and revoked_at is null and rotations = $3::text::integer
  returning replaced_until`
/** `fresh`: the key was rotated less than five minutes ago, so submitting the form again returns the same new secret. */
const ROTATED = `select rotations, rotated_at > now() - interval '5 minutes' as fresh, replaced_until from api_key
  where account_id = $1::text::bigint and key_id = $2::text::bigint and revoked_at is null`
const END = `update api_key set replaced_hash = null, replaced_pepper_id = null, replaced_until = null
  where account_id = $1::text::bigint and key_id = $2::text::bigint and replaced_hash is not null returning key_id`
const SWEEP = `update api_key set replaced_hash = null, replaced_pepper_id = null, replaced_until = null
  where replaced_hash is not null and replaced_until < now()`

export type ReplacedSecret =
  /** `oldUntil`: when the old secret stops working; null if it no longer works. */
  | { readonly outcome: 'replaced'; readonly key: string; readonly oldUntil: Date | null }
  /** Somebody else has rotated the key in the meantime. */
  | { readonly outcome: 'changed' }
  /** The account has no such active key. */
  | { readonly outcome: 'gone' }

/**
 * `rotations` is how often the key had been rotated when the caller read it. If several requests give the same number, only one
 * of them replaces the secret; for five minutes, the others get that same new secret. (If each replaced it again, the old secret
 * would stop working earlier than promised.) A secret still valid from an earlier rotation stops working. Throws RangeError
 * unless `overlapHours` is a whole number from 0 to OVERLAP_HOURS_MAX.
 */
export async function replaceSecret(
  sql: Sql,
  secrets: KeySecrets,
  { accountId, keyId, rotations, overlapHours }: KeyRow & { readonly rotations: number; readonly overlapHours: number },
): Promise<ReplacedSecret> {
  if (!(Number.isInteger(overlapHours) && overlapHours >= 0 && overlapHours <= OVERLAP_HOURS_MAX)) {
    throw new RangeError(`an overlap must be a whole number of hours from 0 to ${OVERLAP_HOURS_MAX}`)
  }
  const key = makeKey(secrets.service)
  const { pepperId, hash } = hashKey(secrets, key)
  const sealed = sealKey(secrets, { accountId, keyId }, key)
  const row = [String(accountId), String(keyId)]
  const [replaced] = await sql.unsafe(REPLACE, [
    ...row,
    String(rotations),
    String(overlapHours),
    hash.toString('hex'),
    String(pepperId),
    key.slice(-4),
    String(sealed.keyId),
    sealed.iv.toString('hex'),
    sealed.ciphertext.toString('hex'),
  ])
  if (replaced !== undefined) return { outcome: 'replaced', key, oldUntil: replaced.replaced_until }
  const [now] = await sql.unsafe(ROTATED, row)
  if (now === undefined) return { outcome: 'gone' }
  if (now.rotations !== rotations + 1 || !now.fresh) return { outcome: 'changed' }
  const shown = await showKey(sql, secrets, { accountId, keyId })
  if (shown?.outcome !== 'revealed') return { outcome: 'changed' }
  return { outcome: 'replaced', key: shown.key, oldUntil: now.replaced_until }
}

/** Ends the overlap: the old secret is refused from now on. False if the key has no old secret. */
export async function endReplacedSecret(sql: AnySql, { accountId, keyId }: KeyRow): Promise<boolean> {
  return (await sql.unsafe(END, [String(accountId), String(keyId)])).length > 0
}

/** Forgets hashes of secrets that no longer work. */
export async function sweepReplacedSecrets(sql: AnySql): Promise<void> {
  await sql.unsafe(SWEEP)
}
