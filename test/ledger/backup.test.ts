import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createKey, showKey } from '../../src/accounts/keys.ts'
import { readTables } from '../../src/ledger/backup/file.ts'
import { readBackup } from '../../src/ledger/backup/read.ts'
import { writeBackup } from '../../src/ledger/backup/write.ts'
import { openDatabase, type Sql } from '../../src/lib/database.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  type Customer,
  call,
  createCustomer,
  expectCleanAudit,
  holdRequest,
  patient,
  secrets,
  settlement,
  startLedger,
  type TestLedger,
  usageOf,
  walletOf,
} from './world.ts'

const source = await createTestDatabase()
const folder = mkdtempSync(join(tmpdir(), 'gateway-backup-'))
const path = join(folder, 'backup')
let customer: Customer
let ledger: TestLedger
let odd: { keyId: number; key: string }

const ODD_TEXT = 'tab\there \\. back\\slash \r\n\u2028 “Nguyễn” 🔑'

async function contents(sql: Sql): Promise<Readonly<Record<string, readonly string[]>>> {
  const rows: Record<string, readonly string[]> = {}
  for (const { table } of await readTables(sql)) {
    rows[table] = (await sql.unsafe(`select x::text as row from "${table}" x order by 1`)).map(found => found.row)
  }
  return rows
}

beforeAll(async () => {
  // Heartbeats and sweeps must not change rows while databases are compared.
  ledger = await startLedger(source.url, { limits: { heartbeatMs: 3_600_000, sweepMs: 3_600_000 } })
  customer = await createCustomer(source.sql, 100_000_000n)
  for (let turn = 0; turn < 20; turn++) await call(ledger, customer)
  odd = await createKey(source.sql, secrets, { accountId: customer.accountId })
  await source.sql.unsafe('update api_key set label = $2 where key_id = $1::text::bigint', [
    String(odd.keyId),
    ODD_TEXT,
  ])
  await ledger.admit(holdRequest(customer), patient)
  await writeBackup(source.sql, path, new Date())
})
afterAll(async () => {
  await ledger.close()
  await source.drop()
  rmSync(folder, { recursive: true, force: true })
})

test('a restored database has every row, continues where the original was, and passes the audit', async () => {
  const target = await createTestDatabase()
  try {
    const rows = await readBackup(target.sql, path)
    expect(rows).toMatchObject({ account: 1, usage: 20, credit: 1, hold: 1, api_key: 2 })
    const expected = await contents(source.sql)
    expect(await contents(target.sql)).toEqual(expected)
    expect(expected.api_key?.join()).toContain('Nguyễn')
    expect(await showKey(target.sql, secrets, { ...customer, keyId: odd.keyId })).toEqual({
      outcome: 'revealed',
      key: odd.key,
    })
    const later = await startLedger(target.url)
    const balance = (await walletOf(target.sql, customer)).balance
    const { settled } = await call(later, customer)
    expect(settled).toMatchObject({ outcome: 'settled', balanceAfterMicroVnd: balance - 1_680_000n })
    const second = await createCustomer(target.sql, 5n)
    expect(second.accountId).toBeGreaterThan(customer.accountId)
    await expectCleanAudit(target.sql)
    await later.close()
  } finally {
    await target.drop()
  }
})

test('after a restore no hold is freed before its process has replayed its spool, whoever starts first and however late', async () => {
  const database = await createTestDatabase()
  const target = await createTestDatabase()
  const spoolDir = mkdtempSync(join(tmpdir(), 'gateway-restored-'))
  try {
    const person = await createCustomer(database.sql, 100_000_000n)
    const kept = { spoolRetentionMs: 0, heartbeatMs: 3_600_000 }
    const before = await startLedger(database.url, { name: 'charger', spoolDir, limits: kept })
    const [held, unknown, never] = [holdRequest(person), holdRequest(person), holdRequest(person)]
    for (const request of [held, never]) await before.admit(request, patient)
    const file = join(spoolDir, 'backup.gz')
    await writeBackup(database.sql, file, new Date())
    await before.admit(unknown, patient)
    for (const { callId } of [held, unknown]) await before.settle(settlement(person, { callId }))
    await before.close()
    await readBackup(target.sql, file)
    await target.sql.unsafe(`update gateway_instance set last_seen = now() - interval '1 day'`)
    // The first process is on another host and cannot read the spool folder.
    const first = await startLedger(target.url, { limits: { restartGraceMs: 0 } })
    const after = await startLedger(target.url, { name: 'charger', spoolDir, limits: kept })
    const rows = (await usageOf(target.sql, person)).map(row => [row.call_id, row.status, row.charged_micro_vnd])
    expect(new Set(rows)).toEqual(
      new Set([
        [held.callId, 200, '1680000'],
        [unknown.callId, 200, '1680000'],
        [never.callId, 599, '0'],
      ]),
    )
    await expectCleanAudit(target.sql)
    await Promise.all([first.close(), after.close()])
  } finally {
    await Promise.all([database.drop(), target.drop()])
    rmSync(spoolDir, { recursive: true, force: true })
  }
})

test('only its owner can read the backup file, and an unfinished one is not left behind', async () => {
  expect(statSync(path).mode & 0o777).toBe(0o600)
  await expect(writeBackup(source.sql, join(folder, 'none', 'backup'), new Date())).rejects.toThrow('ENOENT')
})

const text = () => gunzipSync(readFileSync(path)).toString()
test.each([
  ['cut off', () => readFileSync(path).subarray(0, -200), 'is damaged'],
  ['cut at a line', () => gzipSync(text().split('\n').slice(0, -2).join('\n').concat('\n')), 'is truncated'],
  ['with an altered amount', () => gzipSync(text().replace('98320000', '99320000')), 'is damaged'],
  ['with a row missing', () => gzipSync(text().replace(/\n.*98320000.*/, '')), 'is damaged'],
  ['of another schema', () => gzipSync(text().replace(/"1":"[0-9a-f]{4}/, '"1":"0000')), 'differs in migration 1'],
  ['of something else', () => gzipSync('{"format":"other"}\n'), 'is not a backup of this gateway'],
  ['not compressed', () => Buffer.from('hello'), 'is damaged or not a backup'],
] as const)('a file %s is refused, and nothing is changed', async (_, make, message) => {
  const target = await createTestDatabase()
  try {
    const before = await contents(target.sql)
    const file = join(folder, 'other')
    writeFileSync(file, make())
    await expect(readBackup(target.sql, file)).rejects.toThrow(message)
    expect(await contents(target.sql)).toEqual(before)
  } finally {
    await target.drop()
  }
})

test('a backup is only restored into an empty database without a running gateway', async () => {
  await expect(readBackup(source.sql, path)).rejects.toThrow(/is running on this database|is not empty/)
  const target = await createTestDatabase()
  try {
    const running = openDatabase({ url: target.url, name: 'gateway', connectionsMax: 1 })
    await running`select 1`
    await expect(readBackup(target.sql, path)).rejects.toThrow('A gateway is running on this database')
    await running.end()
    await createCustomer(target.sql, 0n)
    await expect(readBackup(target.sql, path)).rejects.toThrow('is not empty (table account)')
    await expect(readBackup(target.sql, join(folder, 'missing'))).rejects.toThrow('is not empty')
  } finally {
    await target.drop()
  }
})
