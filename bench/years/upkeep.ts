/** What runs in the background or by hand: housekeeping, audit, backup, restore, migration, retirement. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { countKeys } from '../../src/accounts/key-count.ts'
import { PEOPLE_LIMITS } from '../../src/accounts/limits.ts'
import { sweepPeople } from '../../src/accounts/sweep.ts'
import type { PeopleServices } from '../../src/accounts/types.ts'
import { findAlerts, findSlowAlerts, sweepAlerts } from '../../src/alerts/run.ts'
import { createAlerts } from '../../src/alerts/services.ts'
import type { AlertServices } from '../../src/alerts/types.ts'
import { audit } from '../../src/audit/audit.ts'
import { readBackup } from '../../src/ledger/backup/read.ts'
import { writeBackup } from '../../src/ledger/backup/write.ts'
import { sumDays } from '../../src/ledger/day-totals.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { retireUsage } from '../../src/ledger/retire.ts'
import { rollUpCalls } from '../../src/ledger/roll-up.ts'
import { rollUpAccounts } from '../../src/ledger/roll-up-accounts.ts'
import { openDatabase, type Sql } from '../../src/lib/database.ts'
import { fillYear } from './rows.ts'
import { type Database, secondsOf, type World } from './world.ts'

const AUDIT_TIMEOUT_MS = 3 * 3_600_000

/** Each task once more after it has caught up, as every some seconds or every hour; in seconds. */
export async function measureUpkeep({ sql }: Database): Promise<ReadonlyMap<string, number>> {
  const alerts = createAlerts({ sql, catalogue: { items: [] }, nowMs: Date.now } as unknown as AlertServices)
  const people = { sql, limits: PEOPLE_LIMITS } as unknown as PeopleServices
  const tasks: Readonly<Record<string, () => Promise<unknown>>> = {
    'keys of a day counted': async () => {
      while ((await countKeys(sql)) > 0);
    },
    'expired people data': () => sweepPeople(people),
    'found alerts': () => findAlerts(alerts),
    'found daily alerts': async () => {
      await findSlowAlerts(alerts)
      await sweepAlerts(alerts)
    },
    'rolled up calls': () => rollUpCalls(sql),
    'rolled up accounts': () => rollUpAccounts(sql),
    'summed days': () => sumDays(sql),
  }
  const seconds = new Map<string, number>()
  for (const [name, task] of Object.entries(tasks)) {
    if (name !== 'keys of a day counted') await task()
    seconds.set(name, await secondsOf(task))
  }
  return seconds
}

/** Everything, with nothing proven before. Throws when the books do not balance. */
export async function auditAll({ sql }: Database): Promise<number> {
  return secondsOf(async () => {
    const { clean, differences } = await audit(sql, { timeoutMs: AUDIT_TIMEOUT_MS })
    if (!clean) throw new Error(`the audit found ${JSON.stringify(differences)}`)
  })
}

export interface BackedUp {
  readonly backupSeconds: number
  readonly megabytes: number
  readonly restoreSeconds: number
}

export async function backUpAndRestore({ sql, name }: Database, { folder, add }: World): Promise<BackedUp> {
  const path = join(folder, `${name}.gz`)
  const backupSeconds = await secondsOf(() => writeBackup(sql, path, new Date()))
  const restored = await add(`${name}_restored`)
  await migrate(restored.sql)
  const restoreSeconds = await secondsOf(() => readBackup(restored.sql, path))
  return { backupSeconds, megabytes: statSync(path).size / 2 ** 20, restoreSeconds }
}

export interface Migrated {
  readonly migrations: number
  readonly seconds: number
  /** Longest that a statement of a call waited meanwhile, in ms. */
  readonly waitMs: number
}

/** The schema as it was before the first reports, with as many rows; every migration since then. */
export async function migrateOld(world: World): Promise<Migrated> {
  const old = await world.add('old')
  await migrate(old.sql, { upTo: FIRST_SCHEMA })
  const filling = openDatabase({
    url: old.url,
    name: 'bench',
    connectionsMax: 1,
    statementTimeoutMs: AUDIT_TIMEOUT_MS,
    connectTimeoutMs: 60_000,
  })
  await fillYear(filling, old.size, old.url)
  await filling.unsafe('vacuum analyze')
  await filling.end()
  const calls = openDatabase({ url: old.url, name: 'bench', connectionsMax: 4 })
  const running = new AbortController()
  const waits = CALL_STATEMENTS.map(statement => longestWait(calls, statement, running.signal))
  let applied: readonly string[] = []
  const seconds = await secondsOf(async () => {
    applied = await migrate(old.sql)
  })
  running.abort()
  const waitMs = Math.max(...(await Promise.all(waits)))
  await calls.end()
  return { migrations: applied.length, seconds, waitMs }
}

const FIRST_SCHEMA = 3
/** What calls take locks for. */
const CALL_STATEMENTS = [
  'select from api_key where account_id = 1 limit 1',
  'update wallet set seq = seq where account_id = 7',
  'delete from hold where account_id = 7',
  `update usage_daily set calls = calls where account_id = 7 and day = current_date`,
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

export interface Retired {
  readonly rows: number
  readonly seconds: number
  readonly logMegabytes: number
  readonly sizeBefore: number
  /** After a vacuum; the files of a table shrink only at their end. */
  readonly sizeAfter: number
}

/** The oldest month, as a nightly timer does it after a year. */
export async function retireMonth({ sql }: Database): Promise<Retired> {
  const sizeBefore = await megabytesOf(sql)
  const [before] = await sql.unsafe('select pg_current_wal_lsn()::text as lsn')
  let rows = 0
  const seconds = await secondsOf(async () => {
    rows = (await retireUsage(sql, { olderThanDays: 335 })).rows
  })
  const [log] = await sql.unsafe(
    'select pg_wal_lsn_diff(pg_current_wal_lsn(), $1::text::pg_lsn)::bigint::text as bytes',
    [before?.lsn],
  )
  await sql.unsafe('vacuum usage')
  return { rows, seconds, logMegabytes: Number(log?.bytes) / 2 ** 20, sizeBefore, sizeAfter: await megabytesOf(sql) }
}

async function megabytesOf(sql: Sql): Promise<number> {
  const [row] = await sql.unsafe(`select pg_total_relation_size('usage')::text as bytes`)
  return Number(row?.bytes) / 2 ** 20
}
