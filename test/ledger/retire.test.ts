import { afterAll, expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { countUsage, exportUsageCsv } from '../../src/ledger/reports/csv.ts'
import { readUsageRows } from '../../src/ledger/reports/rows.ts'
import { RETIRE_DAYS_MIN, retireUsage } from '../../src/ledger/retire.ts'
import { openDatabase, type Sql } from '../../src/lib/database.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  addMoney,
  CALL_MICRO_VND,
  type Customer,
  call,
  createCustomer,
  eventually,
  expectCleanAudit,
  settlement,
  startLedger,
  usageOf,
  walletOf,
} from './world.ts'

const database = await createTestDatabase()
const { sql } = database
const ledger = await startLedger(database.url)
afterAll(async () => {
  await ledger.close()
  await database.drop()
})

/** Moves the times of the calls up to `seq` back by `days`, with triggers disabled. */
async function age({ accountId }: Customer, seq: number, days: number, of: Sql = sql): Promise<void> {
  await of.begin(async transaction => {
    await transaction.unsafe('set local session_replication_role = replica')
    await transaction.unsafe(
      `update usage set opened_at = opened_at - make_interval(days => $3::text::integer),
         closed_at = closed_at - make_interval(days => $3::text::integer)
        where account_id = $1::text::bigint and seq <= $2::text::bigint`,
      [String(accountId), String(seq), String(days)],
    )
  })
}

/**
 * A customer with credits at seq 1, 2, 7 and 11, and calls at 3 to 6, 8 to 10 and 12 to 14. In the second and third rounds, the
 * money does not suffice for the fourth call.
 */
async function history(): Promise<Customer> {
  const customer = await createCustomer(sql, CALL_MICRO_VND)
  for (let turn = 0; turn < 3; turn++) {
    await addMoney(sql, customer.accountId, 3n * CALL_MICRO_VND)
    for (let calls = 0; calls < 4; calls++) await call(ledger, customer)
  }
  return customer
}

test('rows are retired in batches, up to the first that is too young; all sums stay, and the journal continues', async () => {
  const customer = await history()
  const other = await createCustomer(sql, 10n * CALL_MICRO_VND)
  await call(ledger, other)
  const before = { ...(await audit(sql)), wallet: await walletOf(sql, customer) }
  await age(customer, 10, 100)

  expect(await retireUsage(sql, { olderThanDays: 99, batchRows: 3 })).toEqual({ rows: 7, accounts: 1 })
  expect((await usageOf(sql, customer)).map(row => row.seq)).toEqual(['12', '13', '14'])
  expect(await usageOf(sql, other)).toHaveLength(1)
  expect({ ...(await audit(sql)), wallet: await walletOf(sql, customer) }).toEqual(before)
  expect(before.clean).toBe(true)

  await addMoney(sql, customer.accountId, 5n * CALL_MICRO_VND)
  await call(ledger, customer)
  await age(customer, 16, 200)
  expect(await retireUsage(sql, { olderThanDays: 120 })).toEqual({ rows: 4, accounts: 1 })
  expect(await usageOf(sql, customer)).toEqual([])
  await expectCleanAudit(sql)
  await call(ledger, customer)
  await expectCleanAudit(sql)
  expect(await retireUsage(sql, { olderThanDays: 120 })).toEqual({ rows: 0, accounts: 0 })
})

test('many small accounts are retired in one transaction, and a large one gets transactions of its own', async () => {
  const small = [await history(), await history(), await history()]
  const large = await history()
  for (const customer of small) await age(customer, 3, 100)
  await age(large, 14, 100)
  const before = await audit(sql)

  expect(await retireUsage(sql, { olderThanDays: 99, batchRows: 12 })).toEqual({ rows: 13, accounts: 4 })
  const seqs = async (customer: Customer) => (await usageOf(sql, customer)).map(row => row.seq)
  for (const customer of small) expect(await seqs(customer)).toEqual(['4', '5', '6', '8', '9', '10', '12', '13', '14'])
  expect(await seqs(large)).toEqual([])
  expect(await audit(sql)).toEqual(before)
  expect(before.clean).toBe(true)
  const [transactions] = await sql.unsafe(
    'select count(distinct xmin::text)::integer as count from usage_retired where account_id = any(string_to_array($1, $2)::bigint[])',
    [small.map(customer => customer.accountId).join(','), ','],
  )
  expect(transactions?.count).toBe(1)
})

test('a batch does not read the deleted rows of the batches before it, which an older snapshot keeps in the index', async () => {
  // A database and a connection of its own: other sessions report what they have read whenever they have been idle for a while.
  const database = await createTestDatabase()
  const ledger = await startLedger(database.url)
  // Makes Postgres plan as for a large table, reading rows from the index in the order of the journal.
  const session = { enable_sort: 'off', enable_seqscan: 'off', enable_bitmapscan: 'off' }
  const own = openDatabase({ url: database.url, name: 'retire', connectionsMax: 1, session })
  const customer = await createCustomer(own, 60n * CALL_MICRO_VND)
  for (let calls = 0; calls < 60; calls++) await call(ledger, customer)
  await ledger.close()
  await age(customer, 100, 100, own)
  const older = await database.sql.reserve()
  await older.unsafe('begin isolation level repeatable read')
  await older.unsafe('select from usage limit 1')
  const readEntries = async (): Promise<number> => {
    await own.unsafe('select pg_stat_force_next_flush()')
    const [row] = await own.unsafe(
      `select sum(idx_tup_read)::integer as read from pg_stat_user_indexes where relname = 'usage'`,
    )
    return row?.read
  }
  await own.unsafe('analyze usage')
  const before = await readEntries()
  expect(await retireUsage(own, { olderThanDays: 99, batchRows: 3 })).toMatchObject({ rows: 60 })
  // A few reads per row, to find, sum and delete it, but not one for each later batch too.
  expect((await readEntries()) - before).toBeLessThan(5 * 60)
  await older.unsafe('commit')
  older.release()
  await expectCleanAudit(own)
  await own.end({ timeout: 5 })
  await database.drop()
})

test('pages and exports begin after the retired rows', async () => {
  const customer = await history()
  await age(customer, 10, 100)
  await retireUsage(sql, { olderThanDays: 99 })
  const page = await readUsageRows(sql, { accountId: customer.accountId, filter: {}, limit: 10 })
  expect(page.rows.map(row => row.seq)).toEqual([14, 13, 12])
  expect(page.nextBeforeSeq).toBeNull()
  const csv = await Array.fromAsync(exportUsageCsv(sql, { ...customer, filter: {}, keyLabels: new Map() }))
  expect(
    csv
      .join('')
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map(line => line.split(',')[0]),
  ).toEqual(['12', '13', '14'])
  expect(await countUsage(sql, { ...customer, filter: {} })).toBe(3)
})

test('a young row keeps all rows after it from being retired, whatever their times', async () => {
  const customer = await history()
  await age(customer, 16, 100)
  await age(customer, 3, -100)
  expect(await retireUsage(sql, { olderThanDays: 99 })).toEqual({ rows: 0, accounts: 0 })
  await expectCleanAudit(sql)
})

test('a call whose row was retired is refused if it is settled again, and stays in the spool', async () => {
  const customer = await history()
  const [old] = await usageOf(sql, customer)
  await age(customer, 16, 100)
  await retireUsage(sql, { olderThanDays: 99 })
  await addMoney(sql, customer.accountId, 5n * CALL_MICRO_VND)
  const balance = (await walletOf(sql, customer)).balance
  const openedAt = new Date(Date.now() - 100 * 86_400_000)
  await ledger.settle(settlement(customer, { callId: String(old?.call_id), openedAt }))
  await eventually(
    async () => ledger.events.filter(event => event.code === 'settlement_refused').length,
    refused => refused === 1,
  )
  expect((await walletOf(sql, customer)).balance).toBe(balance)
  await expectCleanAudit(sql)
})

test.each([
  ['a row that was not retired', 'delete from usage where seq > 0'],
  ['the retired amount', 'update usage set charged_micro_vnd = 0'],
  ['the whole table', 'truncate usage'],
])('%s cannot be changed by hand', async (_, statement) => {
  await history()
  await expect(sql.unsafe(statement)).rejects.toThrow('append-only')
  await expectCleanAudit(sql)
})

test.each([
  ['retired', 'charged_micro_vnd = charged_micro_vnd + 1'],
  ['retired', 'balance_after_micro_vnd = balance_after_micro_vnd + 1'],
  ['retired', 'calls = calls + 1'],
  ['daily', 'input_tokens = input_tokens + 1'],
  ['seq', 'upto_seq = upto_seq - 1'],
] as const)('the audit finds a forged sum: %s, %s', async (difference, forgery) => {
  const customer = await history()
  await age(customer, 10, 100)
  await retireUsage(sql, { olderThanDays: 99 })
  const rollback = new Error('rolled back')
  const forged = sql.begin(async transaction => {
    await transaction.unsafe(`update usage_retired set ${forgery}`)
    expect((await audit(transaction)).differences[difference]).toBeGreaterThan(0)
    throw rollback
  })
  await expect(forged).rejects.toBe(rollback)
  await expectCleanAudit(sql)
})

test('refuses to retire rows so young that their calls could still be settled again', async () => {
  await expect(retireUsage(sql, { olderThanDays: RETIRE_DAYS_MIN - 1 })).rejects.toThrow('92 days at the earliest')
})
