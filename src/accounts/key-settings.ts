/**
 * The settings that owners choose for a key: its name, expiry, spending limit, rate limits and allowed models. Changes take
 * effect with the next call, in every process.
 */

import type { AnySql } from '../lib/database.ts'
import { vndToMicro } from '../lib/money.ts'
import type { Period } from '../lib/period.ts'
import { CONCURRENCY_HELD, CONCURRENCY_MAX, isCallsPerMinute, RATE_HELD } from './key-rate.ts'
import type { KeyRow } from './key-secret.ts'
import { cleanLabel, LOCKED_ACCOUNT } from './keys.ts'

/** Highest spending limit, in whole dong. */
export const KEY_CAP_VND_MAX = 1_000_000_000
/** Maximum number of entries and families that a key may be restricted to. */
export const ALLOWED_MODELS_MAX = 100

export interface KeySettings {
  readonly label: string
  /** Spending limit in whole dong, from 1 to KEY_CAP_VND_MAX; null: the key has no limit of its own. */
  readonly limitVnd: number | null
  /** How often the spending limit resets; null: never. */
  readonly limitReset: Period | null
  /** Null: the key never expires. */
  readonly expiresAt: Date | null
  /** Models that the key may call, as entry ids and `family/*`; null: all. */
  readonly allowedModels: readonly string[] | null
  /** At least 1, or null for the catalogue's limit. Not stored while an operator has set this key's calls per minute. */
  readonly callsPerMinute: number | null
  /** At least 1, or null for the catalogue's limit. Not stored while an operator has set this key's calls in flight. */
  readonly callsInFlight: number | null
}

export type KeyLimits = Omit<KeySettings, 'label'>

const CHANGE = `update api_key k set label = $3, monthly_cap_micro_vnd = $4::text::bigint, limit_reset = $5,
    expires_at = $6::text::timestamptz,
    allowed_models = (select array_agg(name order by place) from json_array_elements_text($7::text::json) with ordinality as given(name, place)),
    rate_limit_per_minute = case when ${RATE_HELD} then k.rate_limit_per_minute else $8::text::integer end,
    concurrency_max = case when ${CONCURRENCY_HELD} then k.concurrency_max else $9::text::integer end
  where account_id = ${LOCKED_ACCOUNT} and key_id = $2::text::bigint and revoked_at is null returning key_id`
const SET_CAP = `update api_key set monthly_cap_micro_vnd = $3::text::bigint
  where account_id = ${LOCKED_ACCOUNT} and key_id = $2::text::bigint and revoked_at is null returning key_id`
const PAUSE = `update api_key set disabled_at = case when $3 = 'on' then coalesce(disabled_at, now()) end
  where account_id = ${LOCKED_ACCOUNT} and key_id = $2::text::bigint and revoked_at is null returning key_id`

/**
 * Changes all settings of a key at once. False if the account has no such active key. Throws RangeError for a number out of
 * bounds. The caller must then call `announce(sql, 'keys')`, so that all processes reload the key's limits.
 */
export async function changeKey(sql: AnySql, { accountId, keyId }: KeyRow, settings: KeySettings): Promise<boolean> {
  const { limitVnd, limitReset, expiresAt, allowedModels, callsPerMinute, callsInFlight } = settings
  if (callsPerMinute !== null && !isCallsPerMinute(callsPerMinute))
    throw new RangeError('callsPerMinute is out of bounds')
  if (callsInFlight !== null && !isCallsInFlight(callsInFlight)) throw new RangeError('callsInFlight is out of bounds')
  if (allowedModels !== null && (allowedModels.length === 0 || allowedModels.length > ALLOWED_MODELS_MAX)) {
    throw new RangeError(`a key may be restricted to 1 to ${ALLOWED_MODELS_MAX} models`)
  }
  const rows = await sql.unsafe(CHANGE, [
    String(accountId),
    String(keyId),
    cleanLabel(settings.label),
    capText(limitVnd),
    limitReset,
    expiresAt?.toISOString() ?? null,
    JSON.stringify(allowedModels ?? []),
    callsPerMinute === null ? null : String(callsPerMinute),
    callsInFlight === null ? null : String(callsInFlight),
  ])
  return rows.length > 0
}

function isCallsInFlight(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1 && value <= CONCURRENCY_MAX
}

/**
 * Changes only the spending limit, in whole dong; null removes it. False if the account has no such active key. Throws RangeError
 * unless the limit is a whole number from 1 to KEY_CAP_VND_MAX.
 */
export async function setKeyCap(
  sql: AnySql,
  { accountId, keyId, capVnd }: KeyRow & { readonly capVnd: number | null },
): Promise<boolean> {
  return (await sql.unsafe(SET_CAP, [String(accountId), String(keyId), capText(capVnd)])).length > 0
}

function capText(capVnd: number | null): string | null {
  if (capVnd === null) return null
  if (!(Number.isSafeInteger(capVnd) && capVnd >= 1 && capVnd <= KEY_CAP_VND_MAX)) {
    throw new RangeError(`a limit is a whole number of dong from 1 to ${KEY_CAP_VND_MAX}`)
  }
  return String(vndToMicro(capVnd))
}

/** Pauses a key, so that its calls are refused, or resumes it. False if the account has no such active key. */
export async function pauseKey(sql: AnySql, { accountId, keyId }: KeyRow, paused: boolean): Promise<boolean> {
  return (await sql.unsafe(PAUSE, [String(accountId), String(keyId), paused ? 'on' : 'off'])).length > 0
}
