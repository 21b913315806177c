/** Measures what runs in the background or by hand: housekeeping, audit, backup, restore, retirement. */

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { updateKeyTotals } from '../../src/accounts/key-count.ts'
import { PEOPLE_LIMITS } from '../../src/accounts/limits.ts'
import { sweepPeople } from '../../src/accounts/sweep.ts'
import type { PeopleServices } from '../../src/accounts/types.ts'
import { findAlerts, findSlowAlerts, sweepAlerts } from '../../src/alerts/run.ts'
import { createAlerts } from '../../src/alerts/services.ts'
import type { AlertServices } from '../../src/alerts/types.ts'
import { audit } from '../../src/audit/audit.ts'
import type { AuditMode } from '../../src/ledger/audit-statement.ts'
import { readBackup } from '../../src/ledger/backup/read.ts'
import { writeBackup } from '../../src/ledger/backup/write.ts'
import { sumDays } from '../../src/ledger/day-totals.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { retireUsage } from '../../src/ledger/retire.ts'
import { rollUpCalls } from '../../src/ledger/roll-up.ts'
import { rollUpAccounts } from '../../src/ledger/roll-up-accounts.ts'
import type { Sql } from '../../src/lib/database.ts'
import { type Database, measure, type Took, type World } from './world.ts'

const AUDIT_TIMEOUT_MS = 3 * 3_600_000

/**
 * Runs each task once to catch up, then measures the next run, which is what housekeeping repeats every few seconds or hours.
 * Only `updateKeyTotals` is measured on its first run, because it has one day to count; a second run would find nothing.
 */
export async function measureUpkeep({ sql }: Database, world: World): Promise<ReadonlyMap<string, Took>> {
  const alerts = createAlerts({ sql, catalogue: { items: [] }, nowMs: Date.now } as unknown as AlertServices)
  const people = { sql, limits: PEOPLE_LIMITS } as unknown as PeopleServices
  const tasks: Readonly<Record<string, () => Promise<unknown>>> = {
    'keys of a day counted': () => updateKeyTotals(sql),
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
  const took = new Map<string, Took>()
  for (const [name, task] of Object.entries(tasks)) {
    if (name !== 'keys of a day counted') await task()
    took.set(name, await measure(world, task))
  }
  return took
}

/** Audits the books; throws if they do not balance. */
export async function auditBooks({ sql }: Database, world: World, mode: AuditMode): Promise<Took> {
  return measure(world, async () => {
    const { clean, differences } = await audit(sql, { mode, timeoutMs: AUDIT_TIMEOUT_MS })
    if (!clean) throw new Error(`the audit found differences: ${JSON.stringify(differences)}`)
  })
}

export interface BackedUp {
  readonly backup: Took
  readonly megabytes: number
  readonly restore: Took
}

export async function backUpAndRestore({ sql, name }: Database, world: World): Promise<BackedUp> {
  const { folder, add } = world
  const path = join(folder, `${name}.gz`)
  const backup = await measure(world, () => writeBackup(sql, path, new Date()))
  const restored = await add(`${name}_restored`)
  await migrate(restored.sql)
  const restore = await measure(world, () => readBackup(restored.sql, path))
  return { backup, megabytes: statSync(path).size / 2 ** 20, restore }
}

export interface Retired {
  readonly rows: number
  readonly took: Took
  readonly vacuum: Took
  readonly logMegabytes: number
  readonly sizeBefore: number
  /** Size in MB after a vacuum, which can only truncate empty pages at the end of a file. */
  readonly sizeAfter: number
}

/** Retires the oldest month of usage rows: deletes them and keeps their sums. */
export async function retireMonth({ sql }: Database, world: World): Promise<Retired> {
  const sizeBefore = await megabytesOf(sql)
  const [before] = await sql.unsafe('select pg_current_wal_lsn()::text as lsn')
  let rows = 0
  const took = await measure(world, async () => {
    rows = (await retireUsage(sql, { olderThanDays: 335 })).rows
  })
  const [log] = await sql.unsafe(
    'select pg_wal_lsn_diff(pg_current_wal_lsn(), $1::text::pg_lsn)::bigint::text as bytes',
    [before?.lsn],
  )
  const vacuum = await measure(world, () => sql.unsafe('vacuum usage'))
  return {
    rows,
    took,
    vacuum,
    logMegabytes: Number(log?.bytes) / 2 ** 20,
    sizeBefore,
    sizeAfter: await megabytesOf(sql),
  }
}

/** Size of the table `usage`, with its indexes. */
async function megabytesOf(sql: Sql): Promise<number> {
  const [row] = await sql.unsafe(`select pg_total_relation_size('usage')::text as bytes`)
  return Number(row?.bytes) / 2 ** 20
}
