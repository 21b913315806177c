/**
 * Migrates a database with the numbered files in migrations/, which are never edited once merged. A number may be
 * skipped and filled in later, because branches pick theirs before they merge.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { faultCode, type Sql, type TransactionSql } from '../lib/database.ts'

const FOLDER = new URL('./migrations/', import.meta.url)
/** Advisory lock (7, 0); the numbers from 1 belong to the gateway instances. */
const LOCK = 'select pg_advisory_xact_lock(7, 0)'

/** A change waiting for a lock blocks every call behind it, so it gives up after this time. */
const LOCK_TIMEOUT = "set local lock_timeout = '5s'"
const LOCK_NOT_AVAILABLE = '55P03'

/** Another transaction is in the way; nothing was changed. */
export class MigrationBusyError extends Error {}

interface Migration {
  readonly number: number
  readonly name: string
  readonly text: string
  readonly digest: string
}

/**
 * Applies missing migrations, all or nothing, and returns their names. Several processes may call it at once: the
 * others wait and then find nothing to do. Throws when an applied file has been edited, and MigrationBusyError.
 */
export async function migrate(sql: Sql): Promise<readonly string[]> {
  const files = readMigrations()
  return sql.begin(async transaction => {
    await transaction.unsafe(LOCK)
    await transaction.unsafe(LOCK_TIMEOUT)
    await transaction.unsafe(`create table if not exists migration (
      number integer primary key, name text not null, digest text not null, applied_at timestamptz not null default now())`)
    const applied = new Map<number, string>()
    for (const row of await transaction.unsafe('select number, digest from migration')) {
      applied.set(row.number, row.digest)
    }
    const missing = files.filter(file => !applied.has(file.number))
    const edited = files.find(file => applied.has(file.number) && applied.get(file.number) !== file.digest)
    if (edited !== undefined) {
      throw new Error(
        `migration ${edited.name} was edited after it was applied to this database; restore it and add a new file`,
      )
    }
    for (const file of missing) {
      await apply(transaction, file)
      const row = [String(file.number), file.name, file.digest]
      await transaction.unsafe('insert into migration (number, name, digest) values ($1::text::integer, $2, $3)', row)
    }
    return missing.map(file => file.name)
  })
}

async function apply(sql: TransactionSql, { name, text }: Migration): Promise<void> {
  try {
    await sql.unsafe(text)
  } catch (error) {
    if (faultCode(error) !== LOCK_NOT_AVAILABLE) throw error
    throw new MigrationBusyError(
      `migration ${name} gave up waiting for a long transaction on the database; start again when that has ended`,
      { cause: error },
    )
  }
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
