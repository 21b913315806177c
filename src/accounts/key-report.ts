/** Reads the report behind `GET /v1/key`: a key's allowed models, limits and cost so far, and the account's balance. */

import type { AnySql } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import type { Period } from '../lib/period.ts'
import type { KeyRow } from './key-secret.ts'

export interface KeyReport {
  readonly label: string
  readonly last4: string
  readonly expiresAt: Date | null
  /** Models that the key may call, as entry ids and `family/*`; null: all. */
  readonly allowedModels: readonly string[] | null
  /** Calls per minute; 0: no limit; null: the catalogue's default. */
  readonly rateLimitPerMinute: number | null
  /** Calls in flight; 0: no limit; null: the catalogue's default. */
  readonly concurrencyMax: number | null
  /** Null: the key has no limit of its own. */
  readonly limitMicroVnd: MicroVnd | null
  /** Null: the limit never resets. */
  readonly limitReset: Period | null
  /** Charged in the current day, week and month (Vietnam time), and in total. */
  readonly charged: Readonly<Record<Period | 'ever', MicroVnd>>
  readonly balanceMicroVnd: MicroVnd
  /** Money set aside for calls in flight with any of the account's keys. */
  readonly heldMicroVnd: MicroVnd
}

const REPORT = `
select k.label, k.last4, k.expires_at, array_to_json(k.allowed_models)::text as allowed_models, k.rate_limit_per_minute,
       k.concurrency_max, k.monthly_cap_micro_vnd::text as spend_limit, k.limit_reset, w.balance_micro_vnd::text as balance,
       w.held_micro_vnd::text as held, charged.daily, charged.weekly, charged.monthly,
       (k.counted_micro_vnd + charged.since_counted)::text as ever
  from api_key k join wallet w on w.account_id = k.account_id
 cross join lateral (
   select coalesce(sum(charged_micro_vnd) filter (where day >= limit_began('daily')), 0)::text as daily,
          coalesce(sum(charged_micro_vnd) filter (where day >= limit_began('weekly')), 0)::text as weekly,
          coalesce(sum(charged_micro_vnd) filter (where day >= limit_began('monthly')), 0)::text as monthly,
          coalesce(sum(charged_micro_vnd) filter (where day >= coalesce(k.counted_before, '-infinity')), 0) as since_counted
     from usage_daily daily
    where daily.account_id = k.account_id and daily.key_id = k.key_id
      and day >= least(limit_began('weekly'), limit_began('monthly'), coalesce(k.counted_before, '-infinity'))) charged
 where k.account_id = $1::text::bigint and k.key_id = $2::text::bigint`

/** Null if there is no such key. */
export async function readKeyReport(sql: AnySql, { accountId, keyId }: KeyRow): Promise<KeyReport | null> {
  const [row] = await sql.unsafe(REPORT, [String(accountId), String(keyId)])
  if (row === undefined) return null
  const money = (text: string): MicroVnd => microVnd(BigInt(text))
  return {
    label: row.label,
    last4: row.last4,
    expiresAt: row.expires_at,
    allowedModels: row.allowed_models === null ? null : (JSON.parse(row.allowed_models) as string[]),
    rateLimitPerMinute: row.rate_limit_per_minute,
    concurrencyMax: row.concurrency_max,
    limitMicroVnd: row.spend_limit === null ? null : money(row.spend_limit),
    limitReset: row.limit_reset,
    charged: { daily: money(row.daily), weekly: money(row.weekly), monthly: money(row.monthly), ever: money(row.ever) },
    balanceMicroVnd: money(row.balance),
    heldMicroVnd: money(row.held),
  }
}
