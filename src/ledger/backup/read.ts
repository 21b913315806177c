/** Restores a backup into an empty database, all or nothing. */

import { createHash, type Hash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import type { Writable } from 'node:stream'
import { finished, pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type { Sql, TransactionSql } from '../../lib/database.ts'
import {
  BackupError,
  type BackupHeader,
  type BackupTrailer,
  FORMAT,
  readMigrationDigests,
  readTables,
  type TableHeader,
} from './file.ts'
import { END_LINE, LineReader } from './line-reader.ts'

/** Tables that migrations or an idle gateway fill before any account exists. A restore empties them first. */
const OF_THE_DATABASE: ReadonlySet<string> = new Set([
  'alert_scan',
  'audit_result',
  'bank_pull',
  'call_roll_up',
  'catalogue',
  'database_identity',
  'gateway_instance',
  'housekeeping',
  'maintenance',
  'process_status',
  'secret_fingerprint',
  'throttle',
  'upstream_out',
  'usage_roll_up',
])
const BLOCK_BYTES = 65_536
const NEWLINE = 10

const RUNNING = `select count(*)::integer as count from pg_stat_activity
  where datname = current_database() and application_name like 'gateway%' and application_name <> 'gateway-admin'`
const IDENTITY = `select a.attname as column from pg_attribute a
  where a.attrelid = to_regclass($1) and a.attidentity <> '' and not a.attisdropped`

/**
 * Restores a backup and resolves with the number of rows per table. Rejects with BackupError if a gateway is running, the
 * database is not empty, or the file is missing, damaged or of another version. On any failure, the database is left unchanged.
 */
export async function readBackup(sql: Sql, path: string): Promise<Readonly<Record<string, number>>> {
  return sql.begin(async transaction => {
    await transaction.unsafe('set local statement_timeout = 0')
    await refuseUse(transaction)
    let rows: Readonly<Record<string, number>>
    try {
      rows = await pipeline(createReadStream(path), createGunzip({ chunkSize: BLOCK_BYTES }), chunks =>
        load(transaction, new LineReader(chunks)),
      )
    } catch (error) {
      throw asBackupError(error, path)
    }
    for (const table of Object.keys(rows)) await moveIdentity(transaction, table)
    return rows
  })
}

async function refuseUse(sql: TransactionSql): Promise<void> {
  const tables = await readTables(sql)
  await sql.unsafe(`lock table ${tables.map(({ table }) => `"${table}"`).join(', ')} in access exclusive mode`)
  if ((await sql.unsafe(RUNNING))[0]?.count > 0)
    throw new BackupError('A gateway is running on this database; stop it first.')
  // Begin a new history in the restored database. Gateways then resend the settlements that it is missing.
  await sql.unsafe('delete from database_timeline')
  for (const { table } of tables) {
    if (OF_THE_DATABASE.has(table)) await sql.unsafe(`delete from "${table}"`)
    else if ((await sql.unsafe(`select from "${table}" limit 1`)).length > 0) {
      throw new BackupError(`The database is not empty (table ${table}); restore into a new one.`)
    }
  }
}

async function load(sql: TransactionSql, lines: LineReader): Promise<Readonly<Record<string, number>>> {
  const tables = new Map((await readTables(sql)).map(header => [header.table, header.columns.join(',')]))
  const sha256 = createHash('sha256')
  const rows: Record<string, number> = {}
  const header = await lines.line()
  sha256.update(header)
  await checkHeader(sql, JSON.parse(header.toString()) as BackupHeader)
  for (;;) {
    const line = await lines.line()
    const part = JSON.parse(line.toString()) as TableHeader & BackupTrailer
    if (part.table === undefined) {
      checkTrailer(part, { rows, sha256: sha256.digest('hex') })
      return rows
    }
    sha256.update(line)
    if (tables.get(part.table) !== part.columns.join(',')) {
      throw new BackupError(
        `Table ${part.table} differs from this database's; restore with the version that made the backup.`,
      )
    }
    const copy = `copy "${part.table}" (${part.columns.join(',')}) from stdin`
    rows[part.table] = await fill(await sql.unsafe(copy).writable(), lines, sha256)
  }
}

async function fill(table: Writable, lines: LineReader, sha256: Hash): Promise<number> {
  const done = finished(table)
  done.catch(() => {})
  let count = 0
  for await (const rows of lines.rows()) {
    sha256.update(rows)
    for (let end = rows.indexOf(NEWLINE); end !== -1; end = rows.indexOf(NEWLINE, end + 1)) count++
    if (!table.write(rows)) await Promise.race([once(table, 'drain'), done])
  }
  sha256.update(END_LINE)
  table.end()
  await done
  return count
}

async function checkHeader(sql: TransactionSql, header: BackupHeader): Promise<void> {
  if (header.format !== FORMAT) throw new BackupError(`The file is not a backup of this gateway (${FORMAT}).`)
  const here = await readMigrationDigests(sql)
  const numbers = new Set([...Object.keys(here), ...Object.keys(header.migrations)])
  const other = [...numbers].find(number => here[number] !== header.migrations[number])
  if (other === undefined) return
  throw new BackupError(
    `The backup's schema differs in migration ${other}; restore with the version that made it, then start the newer one.`,
  )
}

function checkTrailer(stated: BackupTrailer, found: BackupTrailer): void {
  const sameRows =
    JSON.stringify(Object.entries(stated.rows).sort()) === JSON.stringify(Object.entries(found.rows).sort())
  if (!sameRows || stated.sha256 !== found.sha256) throw new BackupError('The file is damaged; use another copy.')
}

async function moveIdentity(sql: TransactionSql, table: string): Promise<void> {
  for (const { column } of await sql.unsafe(IDENTITY, [table])) {
    await sql.unsafe(`select setval(pg_get_serial_sequence('${table}', '${column}'), max(${column})) from "${table}"`)
  }
}

const DAMAGED: ReadonlySet<string> = new Set(['Z_DATA_ERROR', 'Z_BUF_ERROR'])

function asBackupError(error: unknown, path: string): unknown {
  if (error instanceof BackupError || !(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT') return new BackupError(`There is no file ${path}.`)
  if (error instanceof SyntaxError || DAMAGED.has(code)) return new BackupError(`${path} is damaged or not a backup.`)
  return error
}
