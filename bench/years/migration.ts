/** Measures every migration of an old database that has a year of calls, and how long calls wait for it. */

import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '../../src/ledger/migrate.ts'
import { openDatabase, type Sql } from '../../src/lib/database.ts'
import { fillYear } from './rows.ts'
import { type Database, measure, type Took, type World } from './world.ts'

const FIRST_SCHEMA = 3
const FOLDER = new URL('../../src/ledger/migrations/', import.meta.url)
const TIMEOUT_MS = 3 * 3_600_000

export interface Migrated {
  readonly name: string
  readonly took: Took
  /** Longest wait of a call's statement while the migration ran, in ms. */
  readonly waitMs: number
  /** Tables that existed before and that others could not write, or not even read, during the migration. */
  readonly locked: readonly string[]
}

/** Creates the schema as it was after migration FIRST_SCHEMA, fills it with a year, then runs every later migration. */
export async function migrateOld(world: World): Promise<readonly Migrated[]> {
  const old = await world.add('old')
  await migrate(old.sql, { upTo: FIRST_SCHEMA })
  await fill(old)
  const migrations: Migrated[] = []
  const open = (name: string, connectionsMax: number): Sql => openDatabase({ url: old.url, name, connectionsMax })
  const calls = open('bench calls', CALL_STATEMENTS.length)
  const watch = open('bench watch', 1)
  const migrating = openDatabase({ url: old.url, name: MIGRATING, connectionsMax: 1, statementTimeoutMs: TIMEOUT_MS })
  for (const name of readdirSync(FOLDER).sort()) {
    const number = Number.parseInt(name, 10)
    if (!(number > FIRST_SCHEMA)) continue
    const running = new AbortController()
    const locked = new Set<string>()
    const waits = CALL_STATEMENTS.map(statement => longestWait(calls, statement, running.signal))
    const watching = collectLocks(watch, locked, running.signal)
    const took = await measure(world, () => migrate(migrating, { upTo: number }))
    running.abort()
    await watching
    migrations.push({ name, took, waitMs: Math.max(...(await Promise.all(waits))), locked: [...locked].sort() })
  }
  await Promise.all([calls, watch, migrating].map(sql => sql.end()))
  return migrations
}

async function fill({ url, size }: Database): Promise<void> {
  const filling = openDatabase({
    url,
    name: 'bench',
    connectionsMax: 1,
    statementTimeoutMs: TIMEOUT_MS,
    connectTimeoutMs: 60_000,
  })
  await fillYear(filling, size, url)
  await filling.unsafe('vacuum analyze')
  await filling.end()
}

/** Statements that take the same locks as calls do. */
const CALL_STATEMENTS = [
  'select from api_key where account_id = 1 limit 1',
  'update wallet set seq = seq where account_id = 7',
  'delete from hold where account_id = 7',
  'update usage_daily set calls = calls where account_id = 7 and day = current_date',
  'insert into usage select * from usage where account_id = 7 and seq < 0',
]

async function longestWait(sql: Sql, statement: string, signal: AbortSignal): Promise<number> {
  let longest = 0
  while (!signal.aborted) {
    const started = performance.now()
    await sql.unsafe(statement)
    longest = Math.max(longest, performance.now() - started)
    await sleep(5)
  }
  return longest
}

const MIGRATING = 'bench migrating'
/** Only finds tables that others can see, so not those that the migration has just created. */
const LOCKED = `select c.relname || case l.mode when 'AccessExclusiveLock' then '' else ' (writes)' end as name
  from pg_locks l join pg_class c on c.oid = l.relation join pg_stat_activity a using (pid)
 where a.application_name = $1 and l.granted and c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
   and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`

async function collectLocks(sql: Sql, locked: Set<string>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const { name } of await sql.unsafe(LOCKED, [MIGRATING])) locked.add(name)
    await sleep(5)
  }
}
