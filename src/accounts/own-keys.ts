/** A customer's keys: who may create one, what each has cost, its name and its monthly cap. */

import type { AnySql, Sql } from '../lib/database.ts'
import { isUuid } from '../lib/ids.ts'
import { type MicroVnd, microVnd, vndToMicro } from '../lib/money.ts'
import { HELD_BY_OPERATOR } from './key-rate.ts'
import type { KeyRow, KeySecrets } from './key-secret.ts'
import { type ApiKey, cleanLabel, insertKey, KeyLimitError, lockKeys, showKey } from './keys.ts'

export interface OwnKey extends ApiKey {
  /** Its account is blocked. */
  readonly suspended: boolean
  readonly costTodayMicroVnd: MicroVnd
  /** Today and the 29 days before, as Vietnamese calendar days. */
  readonly cost30DaysMicroVnd: MicroVnd
  readonly costTotalMicroVnd: MicroVnd
  /** Counts against the cap: charged since the first of the month, in Vietnam. */
  readonly spentThisMonthMicroVnd: MicroVnd
  readonly monthlyCapMicroVnd: MicroVnd | null
  /** An operator has set its calls per minute, so the owner cannot. */
  readonly rateHeld: boolean
  /** Day of the last call, `2026-11-21`; null when there was none. */
  readonly lastUsedDay: string | null
}

/** Highest cap, in whole dong. */
export const KEY_CAP_VND_MAX = 1_000_000_000

const STANDING = `select a.email_verified_at is not null as verified, a.blocked_at is not null as blocked,
    exists (select from credit c where c.account_id = a.account_id and c.amount_micro_vnd > 0) as topped_up
  from account a where a.account_id = $1::text::bigint`
/** How long a resubmitted form counts as an accidental repeat. */
const SUBMITTED = `select key_id, created_at > now() - interval '5 minutes' as fresh from api_key
  where account_id = $1::text::bigint and submission = $2::text::uuid`
const LIST = `
with today as (select (now() at time zone 'Asia/Ho_Chi_Minh')::date as day)
select k.account_id, k.key_id, k.label, k.last4, k.created_at, k.revoked_at, k.ciphertext is not null as showable,
       k.suspended_at is not null as suspended, k.monthly_cap_micro_vnd as cap, k.rate_limit_per_minute, k.concurrency_max,
       ${HELD_BY_OPERATOR} as rate_held,
       coalesce(sum(d.charged_micro_vnd) filter (where d.day = today.day), 0)::text as today,
       coalesce(sum(d.charged_micro_vnd) filter (where d.day > today.day - 30), 0)::text as days30,
       coalesce(sum(d.charged_micro_vnd) filter (where d.day >= date_trunc('month', today.day)), 0)::text as month,
       coalesce(sum(d.charged_micro_vnd), 0)::text as total, to_char(max(d.day), 'YYYY-MM-DD') as last_used
  from api_key k cross join today
  left join usage_daily d on d.account_id = k.account_id and d.key_id = k.key_id
 where k.account_id = $1::text::bigint
 group by k.account_id, k.key_id, today.day
 order by k.revoked_at is not null, k.key_id desc`
const RENAME = `update api_key set label = $3 where account_id = $1::text::bigint and key_id = $2::text::bigint
  returning key_id`
const SET_CAP = `update api_key set monthly_cap_micro_vnd = $3::text::bigint
  where account_id = $1::text::bigint and key_id = $2::text::bigint and revoked_at is null returning key_id`

export type CreatedKey =
  | { readonly outcome: 'created'; readonly keyId: number; readonly key: string }
  | { readonly outcome: 'unverified' | 'never_topped_up' | 'limit' | 'blocked' }
  /**
   * The form was submitted before; its key has since been revoked, or is older than five minutes and takes the password
   * to reveal.
   */
  | { readonly outcome: 'gone' }

/**
 * Creates a key for an account that is verified and has topped up at least once. `submission` is a UUID in the form:
 * submitted twice, even concurrently, it creates one key and reveals it both times, for five minutes.
 */
export async function createOwnKey(
  sql: Sql,
  secrets: KeySecrets,
  { accountId, label, submission = null }: { accountId: number; label: string; submission?: string | null },
): Promise<CreatedKey> {
  if (submission !== null && !isUuid(submission)) throw new RangeError('submission is not a lower-case UUID')
  try {
    return await sql.begin(async (transaction): Promise<CreatedKey> => {
      await lockKeys(transaction, accountId)
      const earlier = submission === null ? null : await findSubmitted(transaction, secrets, { accountId, submission })
      if (earlier !== null) return earlier
      const standing = (await transaction.unsafe(STANDING, [String(accountId)]))[0]
      if (standing === undefined || standing.blocked) return { outcome: 'blocked' }
      if (!standing.verified) return { outcome: 'unverified' }
      if (!standing.topped_up) return { outcome: 'never_topped_up' }
      return { outcome: 'created', ...(await insertKey(transaction, secrets, { accountId, label, submission })) }
    })
  } catch (error) {
    if (error instanceof KeyLimitError) return { outcome: 'limit' }
    throw error
  }
}

async function findSubmitted(
  sql: AnySql,
  secrets: KeySecrets,
  { accountId, submission }: { accountId: number; submission: string },
): Promise<CreatedKey | null> {
  const row = (await sql.unsafe(SUBMITTED, [String(accountId), submission]))[0]
  if (row === undefined) return null
  const keyId = Number(row.key_id)
  const revealed = row.fresh ? await showKey(sql, secrets, { accountId, keyId }) : null
  return revealed?.outcome === 'revealed' ? { outcome: 'created', keyId, key: revealed.key } : { outcome: 'gone' }
}

/** Active ones first, newest first. */
export async function listOwnKeys(sql: AnySql, accountId: number): Promise<readonly OwnKey[]> {
  const rows = await sql.unsafe(LIST, [String(accountId)])
  return rows.map(row => ({
    accountId: Number(row.account_id),
    keyId: Number(row.key_id),
    label: row.label,
    last4: row.last4,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    showable: row.showable,
    rateLimitPerMinute: row.rate_limit_per_minute,
    concurrencyMax: row.concurrency_max,
    rateHeld: row.rate_held,
    suspended: row.suspended,
    costTodayMicroVnd: microVnd(BigInt(row.today)),
    cost30DaysMicroVnd: microVnd(BigInt(row.days30)),
    costTotalMicroVnd: microVnd(BigInt(row.total)),
    spentThisMonthMicroVnd: microVnd(BigInt(row.month)),
    monthlyCapMicroVnd: row.cap === null ? null : microVnd(BigInt(row.cap)),
    lastUsedDay: row.last_used,
  }))
}

/** False when the account has no such key. */
export async function renameKey(
  sql: AnySql,
  { accountId, keyId, label }: KeyRow & { readonly label: string },
): Promise<boolean> {
  return (await sql.unsafe(RENAME, [String(accountId), String(keyId), cleanLabel(label)])).length > 0
}

/**
 * In whole dong per month, null for none; applies from the next call. False when the account has no such active key.
 * Throws RangeError unless it is a whole number from 1 to KEY_CAP_VND_MAX.
 */
export async function setKeyCap(
  sql: AnySql,
  { accountId, keyId, capVnd }: KeyRow & { readonly capVnd: number | null },
): Promise<boolean> {
  if (capVnd !== null && !(Number.isSafeInteger(capVnd) && capVnd >= 1 && capVnd <= KEY_CAP_VND_MAX)) {
    throw new RangeError(`a cap is a whole number of dong from 1 to ${KEY_CAP_VND_MAX}`)
  }
  const cap = capVnd === null ? null : String(vndToMicro(capVnd))
  return (await sql.unsafe(SET_CAP, [String(accountId), String(keyId), cap])).length > 0
}
