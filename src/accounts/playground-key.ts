/**
 * The API key that an account's playground uses, with a daily limit. Clients cannot use it: its stored hash is random, so nobody
 * knows a secret with that hash.
 */

import { randomBytes } from 'node:crypto'
import type { AnySql, Sql } from '../lib/database.ts'
import { type MicroVnd, microVnd, vndToMicro } from '../lib/money.ts'
import type { FoundKey } from './find-key.ts'
import type { KeySecrets } from './key-secret.ts'
import { LOCKED_ACCOUNT, lockKeys } from './keys.ts'

/** Name of the key on usage pages. */
const LABEL = 'playground'

const FIND = `
select k.key_id, k.key_hash, key_state(k.revoked_at, k.suspended_at, k.disabled_at, k.expires_at) as state,
       k.rate_limit_per_minute, k.concurrency_max, k.monthly_cap_micro_vnd::text as cap, w.balance_micro_vnd = 0 as wallet_empty
  from api_key k join wallet w using (account_id)
 where k.account_id = $1::text::bigint and k.playground`
const INSERT = `insert into api_key (account_id, key_hash, pepper_id, label, playground, limit_reset)
  select account_id, decode($2, 'hex'), $3::text::smallint, $4, true, 'daily' from account
   where account_id = $1::text::bigint and blocked_at is null
  on conflict (account_id) where playground do nothing`
const SET_LIMIT = `update api_key set monthly_cap_micro_vnd = $3::text::bigint
  where account_id = ${LOCKED_ACCOUNT} and key_id = $2::text::bigint`
const SPENT = `select coalesce(sum(charged_micro_vnd), 0)::text as spent from usage_daily
  where account_id = $1::text::bigint and day = limit_began('daily')
    and key_id = (select key_id from api_key where account_id = $1::text::bigint and playground)`

interface Playground {
  readonly accountId: number
  /** Most that the account may spend in the playground per calendar day (Vietnam time), in whole dong. */
  readonly dailyVndMax: number
}

/**
 * Returns the account's playground key, creating it on first use, and sets its daily limit to `dailyVndMax`. Returns null if it
 * cannot create the key, because the account is blocked or does not exist.
 */
export async function playgroundKey(
  sql: Sql,
  secrets: Pick<KeySecrets, 'peppers'>,
  { accountId, dailyVndMax }: Playground,
): Promise<FoundKey | null> {
  const account = String(accountId)
  const row = (await findKey(sql, account)) ?? (await makeKey(sql, secrets, accountId))
  if (row === undefined) return null
  const limit = String(vndToMicro(dailyVndMax))
  if (row.cap !== limit) await sql.unsafe(SET_LIMIT, [account, String(row.key_id), limit])
  return {
    accountId,
    keyId: Number(row.key_id),
    keyHash: row.key_hash,
    state: row.state,
    rateLimitPerMinute: row.rate_limit_per_minute,
    concurrencyMax: row.concurrency_max,
    allowedModels: null,
    walletEmpty: row.wallet_empty,
    keysVersion: null,
  }
}

/** Returns what the account's playground calls have been charged today (Vietnam time). */
export async function playgroundSpentToday(sql: AnySql, accountId: number): Promise<MicroVnd> {
  const [row] = await sql.unsafe(SPENT, [String(accountId)])
  return microVnd(BigInt(row?.spent))
}

async function findKey(sql: AnySql, account: string) {
  return (await sql.unsafe(FIND, [account]))[0]
}

async function makeKey(sql: Sql, { peppers }: Pick<KeySecrets, 'peppers'>, accountId: number) {
  const account = String(accountId)
  const hash = randomBytes(32).toString('hex')
  return sql.begin(async transaction => {
    // Waits for a concurrent blockAccount, which would miss a key that does not exist yet.
    await lockKeys(transaction, accountId)
    await transaction.unsafe(INSERT, [account, hash, String(peppers.currentId), LABEL])
    return findKey(transaction, account)
  })
}
