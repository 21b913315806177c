/** Writes a backup: one consistent snapshot of every table, taken while gateways keep running. */

import { createHash } from 'node:crypto'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Sql, TransactionSql } from '../../lib/database.ts'
import { END_OF_TABLE, FORMAT, readMigrationDigests, readTables } from './file.ts'

const NEWLINE = 10
const BLOCK_BYTES = 65_536

/**
 * Writes a backup to `path` and resolves with the number of rows per table. The file appears complete or not at all, and only
 * its owner can read it. Memory use does not grow with the database.
 */
export async function writeBackup(sql: Sql, path: string, now: Date): Promise<Readonly<Record<string, number>>> {
  const partial = `${path}.partial`
  const rows: Record<string, number> = {}
  try {
    await sql.begin('isolation level repeatable read read only', async transaction => {
      await transaction.unsafe('set local statement_timeout = 0')
      await pipeline(lines(transaction, rows, now), createGzip(), createWriteStream(partial, { mode: 0o600 }))
    })
    await syncFile(partial)
    renameSync(partial, path)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
  return rows
}

async function* lines(sql: TransactionSql, rows: Record<string, number>, now: Date): AsyncGenerator<Buffer> {
  const sha256 = createHash('sha256')
  const hashed = (chunk: Buffer): Buffer => {
    sha256.update(chunk)
    return chunk
  }
  const json = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`)
  yield hashed(json({ format: FORMAT, madeAt: now.toISOString(), migrations: await readMigrationDigests(sql) }))
  for (const header of await readTables(sql)) {
    yield hashed(json(header))
    let count = 0
    const rowsOut = await sql.unsafe(`copy "${header.table}" (${header.columns.join(',')}) to stdout`).readable()
    for await (const block of inBlocks(rowsOut as AsyncIterable<Buffer>)) {
      for (let end = block.indexOf(NEWLINE); end !== -1; end = block.indexOf(NEWLINE, end + 1)) count++
      yield hashed(block)
    }
    rows[header.table] = count
    yield hashed(Buffer.from(`${END_OF_TABLE}\n`))
  }
  yield json({ rows, sha256: sha256.digest('hex') })
}

/** Joins rows, which arrive one by one, into blocks, because passing a single row to gzip costs more than compressing it. */
async function* inBlocks(rows: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let block: Buffer[] = []
  let bytes = 0
  for await (const row of rows) {
    block.push(row)
    bytes += row.length
    if (bytes < BLOCK_BYTES) continue
    yield Buffer.concat(block, bytes)
    block = []
    bytes = 0
  }
  if (bytes > 0) yield Buffer.concat(block, bytes)
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
