/**
 * Recovery codes for people who have lost their authenticator. Each has 80 random bits, is stored as a hash and works for one
 * sign-in.
 */

import { createHash, randomInt } from 'node:crypto'
import type { AnySql, TransactionSql } from '../lib/database.ts'

const CODES = 10
const GROUPS = 4
const GROUP_CHARACTERS = 4
/** Crockford's base 32, as in order codes: no two symbols look alike. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

const DROP = 'delete from recovery_code where account_id = $1::text::bigint'
const ADD = `insert into recovery_code (account_id, code_hash)
  select $1::text::bigint, decode(hash, 'hex') from unnest($2::text[]) as hash`
const USE = `update recovery_code set used_at = now()
  where account_id = $1::text::bigint and code_hash = decode($2, 'hex') and used_at is null returning account_id`
const COUNT = `select count(*)::integer as left_over from recovery_code
  where account_id = $1::text::bigint and used_at is null`

/** Creates new codes, such as `7K3M-9QXA-0TVE-R2HD`, and invalidates the old ones. The new ones cannot be shown again later. */
export async function replaceRecoveryCodes(transaction: TransactionSql, accountId: number): Promise<readonly string[]> {
  const codes = Array.from({ length: CODES }, makeCode)
  await transaction.unsafe(DROP, [String(accountId)])
  await transaction.unsafe(ADD, [String(accountId), `{${codes.map(hashCode).join(',')}}`])
  return codes
}

export async function dropRecoveryCodes(sql: AnySql, accountId: number): Promise<void> {
  await sql.unsafe(DROP, [String(accountId)])
}

/** Uses up a recovery code. True if it was valid and unused; if two requests use it at once, one of them gets false. */
export async function useRecoveryCode(sql: AnySql, accountId: number, typed: string): Promise<boolean> {
  return (await sql.unsafe(USE, [String(accountId), hashCode(typed)])).length > 0
}

export async function countRecoveryCodes(sql: AnySql, accountId: number): Promise<number> {
  return (await sql.unsafe(COUNT, [String(accountId)]))[0]!.left_over
}

function makeCode(): string {
  const group = () => Array.from({ length: GROUP_CHARACTERS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return Array.from({ length: GROUPS }, group).join('-')
}

/** Hashes a code as typed: ignores case, dashes and spaces, and reads O as 0, and I and L as 1. */
function hashCode(typed: string): string {
  const plain = typed
    .toUpperCase()
    .replace(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1')
  return createHash('sha256').update(plain).digest('hex')
}
