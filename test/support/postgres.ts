/** One database per test file, on the one embedded Postgres of the run. */

import { inject } from 'vitest'
import { startEmbeddedPostgres } from '../../src/app/embedded-postgres.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { openDatabase, type Sql } from '../../src/lib/database.ts'

export interface TestDatabase {
  readonly url: string
  readonly sql: Sql
  /** Closes the connections and drops the database. */
  drop(): Promise<void>
}

let databases = 0

/**
 * A migrated database of its own; `migrated: false` leaves it empty. The server stays up until the run ends: this
 * process uses it as long as it lives.
 */
export async function createTestDatabase({ migrated = true }: { migrated?: boolean } = {}): Promise<TestDatabase> {
  const server = await startEmbeddedPostgres({ dataDir: inject('postgresDir'), durable: false })
  const name = `test_${process.pid}_${++databases}`
  const admin = openDatabase({ url: server.url, name: 'test admin', connectionsMax: 1 })
  await admin.unsafe(`create database ${name}`)
  const url = server.url.replace(/\/[^/]*$/, `/${name}`)
  const sql = openDatabase({ url, name: 'test', connectionsMax: 8 })
  if (migrated) await migrate(sql)
  return {
    url,
    sql,
    async drop() {
      await sql.end({ timeout: 5 })
      await admin.unsafe(`drop database ${name} with (force)`)
      await admin.end({ timeout: 5 })
    },
  }
}
