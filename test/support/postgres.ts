/** Creates one database per test file on the run's embedded Postgres, by copying a template that is migrated once. */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
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

interface Server {
  /** Connection URL of the database with this name. */
  urlOf(name: string): string
  readonly admin: Sql
  /** Name of the migrated template, to which nothing connects. */
  readonly template: string
}

/** Long, because a busy machine may take seconds to start a server process. */
const CONNECT_TIMEOUT_MS = 60_000

/** The embedded Postgres; null until this process has connected to it. It runs until the test run ends. */
let server: Promise<Server> | null = null
let databases = 0

/** Creates a separate, migrated database for the calling test; `migrated: false` leaves it empty. */
export async function createTestDatabase({ migrated = true }: { migrated?: boolean } = {}): Promise<TestDatabase> {
  server ??= joinServer()
  const { urlOf, admin, template } = await server
  const name = `test_${process.pid}_${++databases}`
  // Copying the files takes half the time of Postgres's default strategy, which writes every page to the WAL.
  await admin.unsafe(`create database ${name} template ${migrated ? template : 'template1'} strategy file_copy`)
  const url = urlOf(name)
  const sql = openDatabase({ url, name: 'test', connectionsMax: 8, connectTimeoutMs: CONNECT_TIMEOUT_MS })
  // Gives the copy an identity of its own. All other rows may be the same in every copy.
  if (migrated) await sql.unsafe('update database_identity set database_id = gen_random_uuid()')
  return {
    url,
    sql,
    async drop() {
      await sql.end({ timeout: 5 })
      await admin.unsafe(`drop database ${name} with (force)`)
    },
  }
}

async function joinServer(): Promise<Server> {
  // Connections for four workers with several gateways each.
  const settings = { max_connections: '400' }
  const { url } = await startEmbeddedPostgres({ dataDir: inject('postgresDir'), durable: false, settings })
  const urlOf = (name: string) => url.replace(/\/[^/]*$/, `/${name}`)
  const admin = openDatabase({ url, name: 'test admin', connectionsMax: 1, connectTimeoutMs: CONNECT_TIMEOUT_MS })
  const template = `migrated_${digestOfMigrations()}`
  // Two processes may get here at once. The second waits, and finds the template that the first has created.
  await admin.unsafe(`select pg_advisory_lock(hashtext('${template}'))`)
  const found = await admin`select 1 from pg_database where datname = ${template}`
  if (found.length === 0) {
    await admin.unsafe(`drop database if exists ${template}_unfinished with (force)`)
    await admin.unsafe(`create database ${template}_unfinished`)
    const sql = openDatabase({ url: urlOf(`${template}_unfinished`), name: 'test template', connectionsMax: 1 })
    await migrate(sql)
    await sql.end({ timeout: 5 })
    await shortenSignIn(admin, url)
    await admin.unsafe(`alter database ${template}_unfinished rename to ${template}`)
  }
  await admin.unsafe(`select pg_advisory_unlock(hashtext('${template}'))`)
  return { urlOf, admin, template }
}

/**
 * Stores the password with one round of hashing. The usual thousands of rounds would double the time to connect, and protect
 * nothing here.
 */
async function shortenSignIn(admin: Sql, url: string): Promise<void> {
  await admin.unsafe('set scram_iterations = 1')
  await admin.unsafe(`alter role current_user password '${decodeURIComponent(new URL(url).password)}'`)
}

function digestOfMigrations(): string {
  const folder = new URL('../../src/ledger/migrations/', import.meta.url)
  const hash = createHash('sha256')
  for (const name of readdirSync(folder).sort()) hash.update(readFileSync(new URL(name, folder)))
  return hash.digest('hex').slice(0, 16)
}
