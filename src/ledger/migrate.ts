/**
 * Applies the numbered files in migrations/, which are never edited once merged. A number may be skipped and filled in later,
 * because branches pick their numbers before they merge.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { faultCode, type Sql } from '../lib/database.ts'

const FOLDER = new URL('./migrations/', import.meta.url)
/** Advisory lock (7, 0); the locks (7, 1) and up belong to gateway processes. */
const LOCK = 'select pg_advisory_xact_lock(7, 0)'
const PATIENCE = `select set_config('lock_timeout', $1, true)`
const TABLE = `create table if not exists migration (
  number integer primary key, name text not null, digest text not null, applied_at timestamptz not null default now())`
const APPLIED = 'select number, digest from migration'
const ADD = 'insert into migration (number, name, digest) values ($1::text::integer, $2, $3)'
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Thrown if a migration did not get a lock because other transactions held it for too long. All earlier migrations have been
 * applied.
 */
export class MigrationBusyError extends Error {}

interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  readonly digest: string
}

export interface MigrateOptions {
  /** Number of the last migration to apply. */
  readonly upTo?: number
  /**
   * Longest time that a migration waits for a lock, in ms. Calls that need the same table queue behind the migration, so it
   * then gives up to let them continue, and is tried again later.
   */
  readonly lockTimeoutMs?: number
  readonly pauseMs?: number
  readonly triesMax?: number
}

/**
 * Applies pending migrations in order and returns the names of those that this process applied. Each runs in its own
 * transaction, so that its locks are released before the next one begins. Several processes may call this at once; it returns
 * when no migration is pending. Rejects with MigrationBusyError, or with an Error if an applied file has been edited.
 */
export async function migrate(sql: Sql, options: MigrateOptions = {}): Promise<readonly string[]> {
  const { upTo = Number.POSITIVE_INFINITY } = options
  const files = readMigrations().filter(({ number }) => number <= upTo)
  const applied: string[] = []
  for (;;) {
    const name = await applyPatiently(sql, files, options)
    if (name === null) return applied
    applied.push(name)
  }
}

async function applyPatiently(
  sql: Sql,
  files: readonly Migration[],
  { lockTimeoutMs = 1_000, pauseMs = 1_000, triesMax = 10 }: MigrateOptions,
): Promise<string | null> {
  for (let tries = 1; ; tries++) {
    const blocked = await applyNext(sql, files, lockTimeoutMs).catch((error: unknown) => {
      if (error instanceof BlockedError) return error
      throw error
    })
    if (!(blocked instanceof BlockedError)) return blocked
    if (tries >= triesMax) {
      throw new MigrationBusyError(
        `migration ${blocked.message} gave up waiting for a long transaction on the database; start again when that has ended`,
        { cause: blocked.cause },
      )
    }
    await sleep(pauseMs)
  }
}

/** Thrown if a migration could not get a lock in time; the message is the migration's name. */
class BlockedError extends Error {}

/** Applies the next pending migration and returns its name; null if none is pending. */
async function applyNext(sql: Sql, files: readonly Migration[], lockTimeoutMs: number): Promise<string | null> {
  return sql.begin(async transaction => {
    await transaction.unsafe(LOCK)
    await transaction.unsafe(TABLE)
    const applied = new Map<number, string>()
    for (const row of await transaction.unsafe(APPLIED)) applied.set(row.number, row.digest)
    const edited = files.find(file => applied.has(file.number) && applied.get(file.number) !== file.digest)
    if (edited !== undefined) {
      throw new Error(
        `migration ${edited.name} was edited after it was applied to this database; restore it and add a new file`,
      )
    }
    const next = files.find(file => !applied.has(file.number))
    if (next === undefined) return null
    await transaction.unsafe(PATIENCE, [String(lockTimeoutMs)])
    try {
      await transaction.unsafe(next.text)
    } catch (cause) {
      throw faultCode(cause) === LOCK_NOT_AVAILABLE ? new BlockedError(next.name, { cause }) : cause
    }
    await transaction.unsafe(ADD, [String(next.number), next.name, next.digest])
    return next.name
  })
}

function readMigrations(): readonly Migration[] {
  const names = readdirSync(FOLDER).filter(name => name.endsWith('.sql'))
  const files = names.sort().map(name => {
    const number = Number(/^(\d{4})-/.exec(name)?.[1])
    if (!(number > 0)) throw new Error(`migrations/${name}: expected a name that begins with four digits and a hyphen`)
    const text = readFileSync(new URL(name, FOLDER), 'utf8')
    return { number, name, text, digest: createHash('sha256').update(text).digest('hex') }
  })
  const twin = files.find((file, index) => file.number === files[index - 1]?.number)
  if (twin !== undefined) throw new Error(`migrations/${twin.name}: another file has this number; take the next one`)
  return files
}
