/**
 * A backup is gzipped text. It begins with a JSON line, the header. Each table has a JSON line, its rows in COPY's text format
 * and a line `\.`. The last line, also JSON, has the number of rows of each table and the SHA-256 of all lines before it.
 */

import type { AnySql } from '../../lib/database.ts'

export const FORMAT = 'gateway-backup/1'
/** COPY escapes backslashes, so no row can look like this. */
export const END_OF_TABLE = '\\.'

export interface BackupHeader {
  readonly format: string
  readonly madeAt: string
  /** Digests of the migrations that built the schema, keyed by migration number. */
  readonly migrations: Readonly<Record<string, string>>
}

export interface TableHeader {
  readonly table: string
  readonly columns: readonly string[]
}

export interface BackupTrailer {
  readonly rows: Readonly<Record<string, number>>
  readonly sha256: string
}

/** Thrown if a file is not a backup, is damaged, or does not fit this database. The message says what to do. */
export class BackupError extends Error {}

/**
 * Every table worth backing up. Left out: `migration`, which a restore fills itself; unlogged tables, which a crash empties
 * anyway; `spool_set_aside`, about files on local disks; `database_timeline`, about this database's failovers and restores; and
 * `audit_point`, where incremental audits continue, because a restored ledger is audited in full.
 */
const TABLES = `select c.relname as table, array_to_string(array_agg(quote_ident(a.attname) order by a.attnum), ',') as columns
  from pg_class c join pg_attribute a on a.attrelid = c.oid
 where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' and c.relpersistence = 'p'
   and c.relname not in ('migration', 'spool_set_aside', 'audit_point', 'database_timeline')
   and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
 group by 1 order by 1`

export async function readTables(sql: AnySql): Promise<readonly TableHeader[]> {
  const rows = await sql.unsafe(TABLES)
  return rows.map(row => ({ table: row.table, columns: row.columns.split(',') }))
}

export async function readMigrationDigests(sql: AnySql): Promise<BackupHeader['migrations']> {
  const rows = await sql.unsafe('select number, digest from migration order by number')
  return Object.fromEntries(rows.map(row => [String(row.number), row.digest]))
}
