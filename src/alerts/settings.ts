/** Which alerts an account wants by email, and what it considers a low balance. */

import type { AnySql } from '../lib/database.ts'
import { ALERT_KINDS, ALL_KINDS, type AlertKind } from './kinds.ts'

export interface AlertSettings {
  /** The kinds of alerts to send by email. */
  readonly mail: ReadonlySet<AlertKind>
  /** Balance that counts as low, in whole dong; null: the default. */
  readonly lowVnd: number | null
}

/** Largest balance that may count as low, in whole dong. */
export const LOW_VND_MAX = 1_000_000_000

const READ = 'select mail, low_vnd from alert_settings where account_id = $1::text::bigint'
const WRITE = `insert into alert_settings (account_id, mail, low_vnd)
  values ($1::text::bigint, $2::text::jsonb, $3::text::bigint)
  on conflict (account_id) do update set mail = excluded.mail, low_vnd = excluded.low_vnd, changed_at = now()`
const SWITCH_OFF = `insert into alert_settings as s (account_id, mail)
  select account_id, jsonb_build_object($2::text, false) from account where account_id = $1::text::bigint
  on conflict (account_id) do update set mail = s.mail || excluded.mail, changed_at = now()`

export async function readAlertSettings(sql: AnySql, accountId: number): Promise<AlertSettings> {
  const row = (await sql.unsafe(READ, [String(accountId)]))[0]
  const chosen: Readonly<Record<string, boolean>> = row?.mail ?? {}
  const mail = ALL_KINDS.filter(kind => {
    const { mail: applies } = ALERT_KINDS[kind]
    return applies === 'always' || (chosen[kind] ?? applies === 'on')
  })
  return { mail: new Set(mail), lowVnd: row?.low_vnd == null ? null : Number(row.low_vnd) }
}

/**
 * Saves the settings. Emails that cannot be switched off stay on. Throws RangeError unless `lowVnd` is null or from 1 to
 * LOW_VND_MAX.
 */
export async function writeAlertSettings(
  sql: AnySql,
  accountId: number,
  { mail, lowVnd }: AlertSettings,
): Promise<void> {
  if (lowVnd !== null && !(Number.isSafeInteger(lowVnd) && lowVnd >= 1 && lowVnd <= LOW_VND_MAX)) {
    throw new RangeError(`a low balance must be a whole number of dong from 1 to ${LOW_VND_MAX}`)
  }
  const chosen = ALL_KINDS.flatMap(kind => {
    const { mail: applies } = ALERT_KINDS[kind]
    return applies === 'always' || mail.has(kind) === (applies === 'on') ? [] : [[kind, mail.has(kind)]]
  })
  const low = lowVnd === null ? null : String(lowVnd)
  await sql.unsafe(WRITE, [String(accountId), JSON.stringify(Object.fromEntries(chosen)), low])
}

/** Switches off emails of this kind, from the next alert on. */
export async function switchMailOff(sql: AnySql, accountId: number, kind: AlertKind): Promise<void> {
  await sql.unsafe(SWITCH_OFF, [String(accountId), kind])
}
