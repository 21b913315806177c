/**
 * Upgrades databases of earlier versions while calls are served. For each version, `upgrades/` contains a dump of rows and the
 * SQL statements of its gateway, recorded by running that version's own code (`upgrades/make.ts`).
 */

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { migrate } from '../../src/ledger/migrate.ts'
import { openDatabase, type Sql } from '../../src/lib/database.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { loadRows } from './upgrades/rows.ts'
import { CALL_MICRO_VND, call, eventually, expectCleanAudit, startLedger } from './world.ts'

const FOLDER = new URL('./upgrades/', import.meta.url)
const MIGRATIONS = new URL('../../src/ledger/migrations/', import.meta.url)
const VERSIONS = readdirSync(FOLDER)
  .filter(name => name.endsWith('.sql'))
  .map(name => name.slice(0, -4))

interface Statement {
  readonly text: string
  readonly parameters: readonly string[]
}

/** Makes one call after another, as a gateway of that version would, until it is stopped. */
function serveAsBefore(sql: Sql, version: string) {
  const statements = JSON.parse(readFileSync(new URL(`${version}-statements.json`, FOLDER), 'utf8')) as Record<
    'hold' | 'settle',
    Statement
  >
  const callIds: string[] = []
  let stopped = false
  const serve = async (): Promise<void> => {
    const [instance] =
      await sql`insert into gateway_instance (name) values ('before') returning instance_id::text as id`
    while (!stopped) {
      const callId = uuidv7()
      const send = async ({ text, parameters }: Statement) => {
        const [now, id] = [new Date().toISOString(), instance?.id]
        const filled = parameters.map(value =>
          value
            .replaceAll('CALL', callId)
            .replaceAll('OPENED_AT', now)
            .replace(/^INSTANCE$/, id),
        )
        await sql.unsafe(text, filled, { prepare: true })
      }
      await send(statements.hold)
      await send(statements.settle)
      callIds.push(callId)
    }
  }
  const done = serve()
  return {
    callIds,
    served: (more: number) => {
      const upTo = callIds.length + more
      return Promise.race([
        done,
        eventually(
          async () => callIds.length,
          count => count >= upTo,
        ),
      ])
    },
    stop: () => {
      stopped = true
      return done
    },
  }
}

/** Counts the sessions that wait for an exclusive lock on a table of this database. */
const WAITING = `select count(*)::integer as count from pg_locks join pg_database d on d.oid = pg_locks.database
  where d.datname = current_database() and locktype = 'relation' and not granted and mode = 'AccessExclusiveLock'`

test.each(VERSIONS)(
  'a database of version %s migrates while its gateways serve calls and a long read is under way, and this version continues',
  async version => {
    const database = await createTestDatabase({ migrated: false })
    const { sql, url } = database
    const before = openDatabase({ url, name: 'before', connectionsMax: 1 })
    const reader = openDatabase({ url, name: 'reader', connectionsMax: 1 })
    try {
      await migrate(sql, { upTo: Number(version) })
      await loadRows(sql, readFileSync(new URL(`${version}.sql`, FOLDER), 'utf8'))
      const old = serveAsBefore(before, version)
      await old.served(3)

      // No migration can alter the table until the reader is done.
      await reader.unsafe('begin')
      await reader.unsafe('select count(*) from usage')
      let isMigrated = false
      const migrating = migrate(sql, { lockTimeoutMs: 100, pauseMs: 100, triesMax: 1_000 }).then(() => {
        isMigrated = true
      })
      await eventually(
        async () => isMigrated || (await sql.unsafe(WAITING))[0]?.count > 0,
        isSeen => isSeen,
      )
      await old.served(3)
      await reader.unsafe('commit')
      await migrating
      await old.served(3)

      const ledger = await startLedger(url)
      const [key] =
        await sql`select account_id::integer as account, key_id::integer as key, key_hash as hash from api_key where key_id = 2`
      const ids = { accountId: key?.account, keyId: key?.key }
      const customer = { ...ids, key: '', keyHash: key?.hash, access: { ...ids, keysVersion: 0 } }
      for (let turn = 0; turn < 3; turn++) {
        expect(await call(ledger, customer)).toMatchObject({
          held: { outcome: 'admitted' },
          settled: { outcome: 'settled', chargedMicroVnd: CALL_MICRO_VND },
        })
      }
      await old.served(3)
      await old.stop()
      await eventually(
        async () => (await sql`select from hold`).length,
        holds => holds === 0,
      )
      await ledger.close()
      const [billed] = await sql`select count(*)::integer as calls, sum(charged_micro_vnd)::text as charged from usage
        where call_id = any(${`{${old.callIds.join(',')}}`}::uuid[])`
      expect(billed).toEqual({
        calls: old.callIds.length,
        charged: String(BigInt(old.callIds.length) * CALL_MICRO_VND),
      })
      await expectCleanAudit(sql)
    } finally {
      await Promise.all([before.end({ timeout: 5 }), reader.end({ timeout: 5 })])
      await database.drop()
    }
  },
)

/**
 * The tables that each migration scans or rewrites in full while it blocks other statements. Do not add tables that grow with
 * accounts or calls. Instead, migrations can add columns whose default is constant or missing, constraints that are
 * `not valid`, and indexes on new tables; housekeeping can fill in existing rows.
 */
const READ_WHOLE: Readonly<Record<string, readonly string[]>> = {
  // The hold table only has rows for calls in flight.
  '0008-hold-price.sql': ['hold'],
  // The following tables have one row per person, key or transfer; a million rows take a second or two.
  '0016-operator-roles.sql': ['account'],
  '0019-payer.sql': ['bank_txn'],
  '0022-change-of-email.sql': ['email_token'],
  '0023-key-limits.sql': ['api_key'],
  '0026-alerts.sql': ['api_key'],
  '0028-playground.sql': ['api_key'],
  // This migration creates an index: people who register have to wait, but calls do not.
  '0036-accounts-by-time.sql': ['account'],
  // This migration creates indexes: only people who register or top up wait, about a second per million rows.
  '0037-desk-indexes.sql': ['account', 'topup_order'],
  // Only housekeeping writes the daily sums; top-ups wait about a second per million credits.
  '0038-best-customers.sql': ['account_daily', 'credit'],
  // This migration creates indexes: only people who register and incoming transfers wait, a second or two per million rows.
  '0039-search-indexes.sql': ['account', 'bank_txn'],
  // Only people who register wait, a few seconds per million accounts.
  '0040-addresses-in-memos.sql': ['account'],
  // This migration creates indexes: only people who create keys wait, about a second per million keys. Calls only read keys.
  '0042-find-keys.sql': ['api_key'],
}

const FILES = `select relname as name, pg_relation_filenode(oid)::text as file from pg_class
  where relnamespace = current_schema()::regnamespace and relkind = 'r'`
const SCANNED = `select relname as name, seq_scan::integer as scans from pg_stat_xact_user_tables where schemaname = current_schema()`
const LOCKED = `select distinct c.relname as name from pg_locks l join pg_class c on c.oid = l.relation
  where l.pid = pg_backend_pid() and l.locktype = 'relation' and c.relkind = 'r'
    and l.mode not in ('AccessShareLock', 'RowShareLock', 'RowExclusiveLock')`

test('no migration reads or rewrites a whole table while it blocks calls, except those that are named here', async () => {
  const database = await createTestDatabase({ migrated: false })
  const found: Record<string, string[]> = {}
  try {
    const [first] = VERSIONS as [string]
    await migrate(database.sql, { upTo: Number(first) })
    await loadRows(database.sql, readFileSync(new URL(`${first}.sql`, FOLDER), 'utf8'))
    for (const name of readdirSync(MIGRATIONS).sort()) {
      if (name.slice(0, 4) <= first) continue
      await database.sql.begin(async transaction => {
        // The counts may include scans by the previous transaction, so compare them before and after the migration.
        const scans = async () => new Map((await transaction.unsafe(SCANNED)).map(row => [row.name, row.scans]))
        const before = await scans()
        const files = new Map((await transaction.unsafe(FILES)).map(row => [row.name, row.file]))
        await transaction.unsafe(readFileSync(new URL(name, MIGRATIONS), 'utf8'))
        const after = await scans()
        const locked = (await transaction.unsafe(LOCKED)).map(row => row.name as string)
        const now = new Map((await transaction.unsafe(FILES)).map(row => [row.name, row.file]))
        const whole = locked.filter(
          table =>
            files.has(table) &&
            now.has(table) &&
            (after.get(table) !== before.get(table) || now.get(table) !== files.get(table)),
        )
        if (whole.length > 0) found[name] = whole.sort()
      })
    }
    expect(found).toEqual(READ_WHOLE)
  } finally {
    await database.drop()
  }
})
