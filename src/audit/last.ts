/** What the last audit found, for those who did not run it. */

import type { AnySql } from '../lib/database.ts'
import type { AuditReport } from './audit.ts'

export interface LastAudit {
  readonly at: Date
  /** Rules that were broken, with their counts; empty: it was clean. */
  readonly broken: Readonly<Record<string, number>>
}

const WRITE = `insert into audit_result (differences) values ($1::text::jsonb)
  on conflict (one) do update set audited_at = now(), differences = excluded.differences`
const READ = 'select audited_at, differences::text as differences from audit_result'

export async function recordAudit(sql: AnySql, { differences }: Pick<AuditReport, 'differences'>): Promise<void> {
  await sql.unsafe(WRITE, [JSON.stringify(differences)])
}

/** Null when there was none yet. */
export async function readLastAudit(sql: AnySql): Promise<LastAudit | null> {
  const [row] = await sql.unsafe(READ)
  if (row === undefined) return null
  const differences = JSON.parse(row.differences) as Readonly<Record<string, number>>
  return {
    at: row.audited_at,
    broken: Object.fromEntries(Object.entries(differences).filter(([, count]) => count > 0)),
  }
}
