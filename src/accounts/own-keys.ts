/** A customer's keys: who may create one, what state they are in and what they have cost. */

import type { AnySql, Sql } from '../lib/database.ts'
import { isUuid } from '../lib/ids.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import type { Period } from '../lib/period.ts'
import type { KeyState } from './find-key.ts'
import { CONCURRENCY_HELD, RATE_HELD } from './key-rate.ts'
import type { KeyRow, KeySecrets } from './key-secret.ts'
import { changeKey, type KeyLimits } from './key-settings.ts'
import { type ApiKey, insertKey, KeyLimitError, lockKeys, showKey } from './keys.ts'

export interface OwnKey extends ApiKey {
  readonly state: KeyState
  readonly disabledAt: Date | null
  readonly expiresAt: Date | null
  readonly rotations: number
  /** When the previous secret stops working after a rotation; null if no previous secret works. */
  readonly replacedUntil: Date | null
  /** Models that the key may call, as entry ids or `family/*`; null if it may call all. */
  readonly allowedModels: readonly string[] | null
  readonly costTodayMicroVnd: MicroVnd
  /** Cost of the last 30 days including today, in Vietnam time. */
  readonly cost30DaysMicroVnd: MicroVnd
  readonly costTotalMicroVnd: MicroVnd
  /** The key's own spending limit; null if it has none. */
  readonly limitMicroVnd: MicroVnd | null
  /** How often the limit resets; null if never. */
  readonly limitReset: Period | null
  /** What the key has been charged in the limit's current period. */
  readonly spentMicroVnd: MicroVnd
  /** True while an operator controls the key's rate limit, so that its owner cannot change it. */
  readonly rateHeld: boolean
  /** True while an operator controls the key's limit of concurrent calls, so that its owner cannot change it. */
  readonly concurrencyHeld: boolean
  readonly isPlayground: boolean
  /** Day of the last call, such as `2026-11-21`; null if there was none. */
  readonly lastUsedDay: string | null
}

/** Maximum number of keys that an account may create within 24 hours, revoked ones included. */
export const CREATED_PER_DAY_MAX = 100
/** Maximum number of keys in a list. There are far fewer active ones, so only long revoked ones are left out. */
export const LISTED_MAX = 200

const STANDING = `select a.email_verified_at is not null as verified, a.blocked_at is not null as blocked,
    exists (select from credit c where c.account_id = a.account_id and c.amount_micro_vnd > 0) as topped_up,
    (select count(*)::integer from api_key k
      where k.account_id = a.account_id and k.created_at > now() - interval '1 day' and not k.playground) as created
  from account a where a.account_id = $1::text::bigint`
/** A form submitted again within five minutes counts as an accidental repeat. */
const SUBMITTED = `select key_id, created_at > now() - interval '5 minutes' as fresh from api_key
  where account_id = $1::text::bigint and submission = $2::text::uuid`
const ORDER = 'order by revoked_at is not null, key_id desc'
const LIST = `
with today as (select (now() at time zone 'Asia/Ho_Chi_Minh')::date as day),
listed as (
  select key_id from api_key
   where account_id = $1::text::bigint and ($2::text::boolean or not playground)
     and ($3::text is null or key_id = $3::text::bigint)
  ${ORDER} limit ${LISTED_MAX})
select k.account_id, k.key_id, k.label, k.last4, k.created_at, k.revoked_at, k.ciphertext is not null as showable,
       key_state(k.revoked_at, k.suspended_at, k.disabled_at, k.expires_at) as state, k.disabled_at, k.expires_at, k.playground, k.rotations,
       case when k.replaced_until > now() then k.replaced_until end as replaced_until,
       array_to_json(k.allowed_models)::text as allowed_models, k.monthly_cap_micro_vnd as cap, k.limit_reset,
       k.rate_limit_per_minute, k.concurrency_max, ${RATE_HELD} as rate_held, ${CONCURRENCY_HELD} as concurrency_held,
       coalesce(sum(d.charged_micro_vnd) filter (where d.day = today.day), 0)::text as today,
       coalesce(sum(d.charged_micro_vnd) filter (where d.day > today.day - 30), 0)::text as days30,
       coalesce(sum(d.charged_micro_vnd) filter (where d.day >= coalesce(limit_began(k.limit_reset), '-infinity')), 0)::text as spent,
       coalesce(sum(d.charged_micro_vnd), 0)::text as total, to_char(max(d.day), 'YYYY-MM-DD') as last_used
  from listed join api_key k on k.account_id = $1::text::bigint and k.key_id = listed.key_id cross join today
  left join usage_daily d on d.account_id = k.account_id and d.key_id = k.key_id
 group by k.account_id, k.key_id, today.day
 order by k.revoked_at is not null, k.key_id desc`
const NAMES = `select key_id, label, last4 from api_key where account_id = $1::text::bigint ${ORDER} limit ${LISTED_MAX}`

export type CreatedKey =
  | { readonly outcome: 'created'; readonly keyId: number; readonly key: string }
  | { readonly outcome: 'unverified' | 'never_topped_up' | 'limit' | 'too_many' | 'blocked' }
  /**
   * The form was already submitted, and the key that it created can no longer be shown: the key has been revoked, or it is more
   * than five minutes old, so that showing it requires the password.
   */
  | { readonly outcome: 'gone' }

interface NewKey {
  readonly accountId: number
  readonly label: string
  /** Limits that apply from the first call on; null for none. */
  readonly limits?: KeyLimits | null
  readonly submission?: string | null
}

/**
 * Creates a key for an account that is verified and has topped up at least once. Throws RangeError if a limit is out of bounds.
 * `submission` is a UUID in the form: if the form is submitted twice, even concurrently, one key is created and, for five
 * minutes, shown both times.
 */
export async function createOwnKey(
  sql: Sql,
  secrets: KeySecrets,
  { accountId, label, limits = null, submission = null }: NewKey,
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
      if (standing.created >= CREATED_PER_DAY_MAX) return { outcome: 'too_many' }
      const made = await insertKey(transaction, secrets, { accountId, label, submission })
      if (limits !== null) await changeKey(transaction, { accountId, keyId: made.keyId }, { label, ...limits })
      return { outcome: 'created', ...made }
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

/**
 * Lists an account's keys except the playground's: keys that are not revoked first, then newest first, at most LISTED_MAX.
 */
export function listOwnKeys(sql: AnySql, accountId: number): Promise<readonly OwnKey[]> {
  return listKeys(sql, { accountId, playground: false })
}

/** Null if the account has no such key, or it is the playground's. */
export async function readOwnKey(sql: AnySql, { accountId, keyId }: KeyRow): Promise<OwnKey | null> {
  return (await listKeys(sql, { accountId, playground: false, keyId }))[0] ?? null
}

/** Like listOwnKeys, but includes the playground's key, which is charged like the others. */
export function listChargedKeys(sql: AnySql, accountId: number): Promise<readonly OwnKey[]> {
  return listKeys(sql, { accountId, playground: true })
}

export type KeyName = Pick<OwnKey, 'keyId' | 'label' | 'last4'>

/** The names of the keys that listChargedKeys lists, without adding up what each of them has cost. */
export async function listKeyNames(sql: AnySql, accountId: number): Promise<readonly KeyName[]> {
  const rows = await sql.unsafe(NAMES, [String(accountId)])
  return rows.map(({ key_id: keyId, label, last4 }) => ({ keyId: Number(keyId), label, last4 }))
}

async function listKeys(
  sql: AnySql,
  { accountId, playground, keyId = null }: { accountId: number; playground: boolean; keyId?: number | null },
): Promise<readonly OwnKey[]> {
  const rows = await sql.unsafe(LIST, [String(accountId), String(playground), keyId === null ? null : String(keyId)])
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
    isPlayground: row.playground,
    rateHeld: row.rate_held,
    concurrencyHeld: row.concurrency_held,
    state: row.state,
    disabledAt: row.disabled_at,
    expiresAt: row.expires_at,
    rotations: row.rotations,
    replacedUntil: row.replaced_until,
    allowedModels: row.allowed_models === null ? null : (JSON.parse(row.allowed_models) as string[]),
    costTodayMicroVnd: microVnd(BigInt(row.today)),
    cost30DaysMicroVnd: microVnd(BigInt(row.days30)),
    costTotalMicroVnd: microVnd(BigInt(row.total)),
    limitMicroVnd: row.cap === null ? null : microVnd(BigInt(row.cap)),
    limitReset: row.limit_reset,
    spentMicroVnd: microVnd(BigInt(row.spent)),
    lastUsedDay: row.last_used,
  }))
}
