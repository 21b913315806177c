/** Maintenance: while it is on, gateways take no new calls; calls in flight finish. */

import type { AnySql } from '../lib/database.ts'
import { announce } from './channel.ts'

export interface Maintenance {
  readonly enabled: boolean
  /** How long refused clients are told to wait. */
  readonly retryAfterSeconds: number
}

export const RETRY_AFTER_SECONDS_MAX = 86_400

const READ = 'select enabled, retry_after_seconds from maintenance'
const WRITE = `update maintenance set enabled = $1::text::boolean, changed_at = now(),
    retry_after_seconds = coalesce($2::text::integer, retry_after_seconds)
  returning enabled, retry_after_seconds`

interface Row {
  readonly enabled: boolean
  readonly retry_after_seconds: number
}

export async function readMaintenance(sql: AnySql): Promise<Maintenance> {
  return maintenanceOf((await sql.unsafe(READ))[0] as unknown as Row)
}

/** Switches maintenance on or off and notifies every gateway at once. Null leaves `retryAfterSeconds` unchanged. */
export async function setMaintenance(
  sql: AnySql,
  { enabled, retryAfterSeconds }: { enabled: boolean; retryAfterSeconds: number | null },
): Promise<Maintenance> {
  const seconds = retryAfterSeconds === null ? null : String(retryAfterSeconds)
  const rows = await sql.unsafe(WRITE, [String(enabled), seconds])
  await announce(sql, 'maintenance')
  return maintenanceOf(rows[0] as unknown as Row)
}

function maintenanceOf(row: Row): Maintenance {
  return { enabled: row.enabled, retryAfterSeconds: row.retry_after_seconds }
}
