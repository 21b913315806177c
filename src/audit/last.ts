/** The stored result of the last audit: for readers who did not run it, and as the starting point of the next one. */

import type { AnySql } from '../lib/database.ts'

export interface LastAudit {
  readonly at: Date
  /** When the whole journal was last read; null if the version that stored this result did not record it. */
  readonly fullAt: Date | null
  /** Broken rules with the number of differences; empty if the audit was clean. */
  readonly broken: Readonly<Record<string, number>>
}

const WRITE = `insert into audit_result as r (differences, full_at, full_differences, full_basis)
  values ($1::text::jsonb, case when $2::text is not null then now() end, case when $2::text is not null then $1::text::jsonb end,
          $2::text::jsonb)
  on conflict (one) do update set audited_at = now(), differences = excluded.differences,
         full_at = coalesce(excluded.full_at, r.full_at),
         full_differences = coalesce(excluded.full_differences, r.full_differences),
         full_basis = coalesce(excluded.full_basis, r.full_basis)
  returning full_at`
const READ = 'select audited_at, full_at, differences::text as differences from audit_result'
/**
 * Reads when the last full audit ran and what its proof depended on, and the database's current identity and history. Every
 * failover, recovery and restore begins a new history. Gateways store a new history before they free any holds.
 */
const READ_FULL = `select extract(epoch from now() - full_at)::double precision * 1000 as age_ms,
       coalesce((full_differences ->> 'orphan')::integer, 0) as orphans,
       full_basis ->> 'rules' as rules, full_basis ->> 'database' as database,
       (select database_id from database_identity) || ' ' || coalesce((select history from database_history), 'unseen') as now_database
  from (select) one left join audit_result on true`

/** What a full audit's proof depends on: it is worthless under other rules or in another database. */
export interface AuditBasis {
  readonly rules: string
  readonly database: string
}

/** Stores an audit's result; `full` is null for an incremental audit. Returns the time of the last full audit. */
export async function writeResult(
  sql: AnySql,
  { differences, full }: { readonly differences: Readonly<Record<string, number>>; readonly full: AuditBasis | null },
): Promise<Date> {
  const [row] = await sql.unsafe(WRITE, [JSON.stringify(differences), full === null ? null : JSON.stringify(full)])
  return row?.full_at
}

export interface LastFull {
  /** Age of the last full audit; null if there was none. */
  readonly ageMs: number | null
  readonly sameRules: boolean
  readonly sameDatabase: boolean
  readonly orphans: number
  /** The rules and the database as they are now, to be stored if this audit is a full one. */
  readonly basis: AuditBasis
}

export async function readLastFull(sql: AnySql, rules: string): Promise<LastFull> {
  const [row] = await sql.unsafe(READ_FULL)
  return {
    ageMs: row?.age_ms ?? null,
    sameRules: row?.rules === rules,
    sameDatabase: row?.database === row?.now_database,
    orphans: row?.orphans ?? 0,
    basis: { rules, database: row?.now_database },
  }
}

/** Reads the last audit's result; null if there has been no audit. */
export async function readLastAudit(sql: AnySql): Promise<LastAudit | null> {
  const [row] = await sql.unsafe(READ)
  if (row === undefined) return null
  const differences = JSON.parse(row.differences) as Readonly<Record<string, number>>
  return {
    at: row.audited_at,
    fullAt: row.full_at,
    broken: Object.fromEntries(Object.entries(differences).filter(([, count]) => count > 0)),
  }
}
