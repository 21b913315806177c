import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/lib/database.ts'
import { faultText } from '../../src/lib/fault-text.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  createCustomer,
  expectCleanAudit,
  settlement,
  startLedger,
  usageOf,
  walletOf,
} from './world.ts'

const primary = await createTestDatabase()
const spoolDir = mkdtempSync(join(tmpdir(), 'gateway-failover-'))
afterAll(async () => {
  rmSync(spoolDir, { recursive: true, force: true })
  await primary.drop()
})

test('after a failover that lost settlements, the spool restores each of them once', async () => {
  const customer = await createCustomer(primary.sql, 100n * CALL_MICRO_VND)
  const [kept, lost] = [settlement(customer), settlement(customer)]
  const settleHere = async (finished: typeof kept): Promise<void> => {
    const ledger = await startLedger(primary.url, { name: 'failover', spoolDir })
    expect(await ledger.settle(finished)).toMatchObject({ outcome: 'settled' })
    await ledger.close()
  }
  await settleHere(kept)
  const name = new URL(primary.url).pathname.slice(1)
  const elsewhere = (database: string): string => primary.url.replace(/\/[^/]*$/, `/${database}`)
  const admin = openDatabase({ url: elsewhere('gateway'), name: 'test admin', connectionsMax: 1 })
  // A copy without the last settlement, as a lagging asynchronous standby would be. Postgres copies a database only while nobody
  // uses it.
  await primary.sql.end({ timeout: 1 })
  await admin.unsafe(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`)
  await admin.unsafe(`create database ${name}_standby template ${name}`)
  await settleHere(lost)
  writeFileSync(join(spoolDir, 'failover', 'timeline'), '00000000')
  const standby = await startLedger(elsewhere(`${name}_standby`), { name: 'failover', spoolDir })
  const sql = openDatabase({ url: elsewhere(`${name}_standby`), name: 'test', connectionsMax: 1 })
  expect((await usageOf(sql, customer)).map(row => row.call_id)).toEqual([kept.callId, lost.callId])
  expect(await walletOf(sql, customer)).toEqual({ balance: 98n * CALL_MICRO_VND, held: 0n })
  await expectCleanAudit(sql)
  await Promise.all([standby.close(), sql.end({ timeout: 1 })])
  await admin.unsafe(`drop database ${name}_standby with (force)`)
  await admin.end({ timeout: 1 })
})

test('a process whose database becomes another one reports that at each heartbeat, and the log may say so', async () => {
  const other = await createTestDatabase()
  const ledger = await startLedger(other.url, { limits: { heartbeatMs: 20 } })
  const faults = () => ledger.events.filter(({ code }) => code === 'background_failed')
  await ledger.settle(settlement(await createCustomer(other.sql, CALL_MICRO_VND)))
  expect(faults()).toEqual([])
  await other.sql`update database_identity set database_id = gen_random_uuid()`
  await expect.poll(() => faults().length, { timeout: 60_000 }).toBeGreaterThan(5)
  expect(faults()[0]?.message).toBe('heartbeat failed')
  expect(faultText(faults()[0]?.cause)).toContain('DATABASE_URL now leads to a different database; restart the gateway')
  await ledger.close()
  await other.drop()
})
