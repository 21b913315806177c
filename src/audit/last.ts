/** Stores the result of the last audit, for readers that did not run it and as the starting point of the next audit. */

import type { AnySql } from '../lib/database.ts'

export interface LastAudit {
  readonly at: Date
  /** When the whole journal was last read; null if the version that stored this result did not record it. */
  readonly fullAt: Date | null
  /** Number of differences by rule. */
  readonly differences: Readonly<Record<string, number>>
  /** Number of differences by broken rule; empty if the audit was clean. */
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
 * Reads when the last full audit ran and for which rules and database its result is valid, and the current identity and history
 * of the database. Each failover, recovery or restore begins a new history; it is `unseen` until a gateway records it. Gateways
 * do so before they free any holds.
 */
const READ_FULL = `select extract(epoch from now() - full_at)::double precision * 1000 as age_ms,
       coalesce(full_differences, '{}')::text as differences,
       full_basis ->> 'rules' as rules, full_basis ->> 'database' as database,
       (select database_id from database_identity) || ' ' || coalesce((select history from database_history), 'unseen') as now_database
  from (select) one left join audit_result on true`

/** What the result of a full audit is valid for. With other rules or in another database, a new full audit is due. */
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
  /** Age of the last full audit; null if there has been none. */
  readonly ageMs: number | null
  readonly sameRules: boolean
  readonly sameDatabase: boolean
  /** Number of differences by rule. */
  readonly differences: Readonly<Record<string, number>>
  /** The current rules and database, to be stored if this audit is a full one. */
  readonly basis: AuditBasis
}

export async function readLastFull(sql: AnySql, rules: string): Promise<LastFull> {
  const [row] = await sql.unsafe(READ_FULL)
  return {
    ageMs: row?.age_ms ?? null,
    sameRules: row?.rules === rules,
    sameDatabase: row?.database === row?.now_database,
    differences: JSON.parse(row?.differences ?? '{}'),
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
    differences,
    broken: Object.fromEntries(Object.entries(differences).filter(([, count]) => count > 0)),
  }
}
