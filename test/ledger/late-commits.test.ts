/**
 * A settlement has the time at which its statement began, but is seen only once it has been committed. While a disk stalls, or a
 * synchronous standby does not answer, that takes minutes, and no statement timeout applies.
 */

import { afterAll, expect, test } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { credit } from '../../src/ledger/credit.ts'
import { sumDays } from '../../src/ledger/day-totals.ts'
import { addFigures, readBusiness } from '../../src/ledger/reports/business.ts'
import { addDays, dayOf } from '../../src/ledger/reports/days.ts'
import { readIncome } from '../../src/ledger/reports/operators.ts'
import { rollUpCalls } from '../../src/ledger/roll-up.ts'
import { rollUpAccounts } from '../../src/ledger/roll-up-accounts.ts'
import { settleCalls } from '../../src/ledger/settle.ts'
import { openDatabase, type TransactionSql } from '../../src/lib/database.ts'
import { microVnd } from '../../src/lib/money.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { CALL_MICRO_VND, createCustomer, poolOf, settlement } from './world.ts'

const database = await createTestDatabase()
const { sql } = database
afterAll(() => database.drop())

const customer = await createCustomer(sql, 10n * CALL_MICRO_VND)
/** As if today were over, and the usual time to wait for transactions had passed. */
const AT_ONCE = { lagSeconds: 0, creditLagSeconds: 0 }
const TODAY_IS_OVER = { lagSeconds: -86_400, creditLagSeconds: -86_400 }

async function sumAll(): Promise<void> {
  await rollUpCalls(sql, AT_ONCE)
  await rollUpAccounts(sql, AT_ONCE)
  await sumDays(sql, TODAY_IS_OVER)
}

async function figures() {
  const [sums] = await sql`select (select sum(calls)::int from call_hourly) as by_hour,
    (select sum(calls)::int from usage_hourly) as by_account, (select sum(calls)::int from entry_daily) as by_entry_and_day,
    (select sum(calls)::int from account_daily) as by_account_and_day,
    (select sum(credits)::int from credit_daily where kind = 1) as top_ups`
  return sums
}

test('calls and credits are summed once, however long they take to be committed', async () => {
  const topUp = { accountId: customer.accountId, amountMicroVnd: microVnd(5_000_000n), kind: 'bank_topup' } as const
  const change = async (transaction: TransactionSql, reference: string) => {
    await settleCalls(poolOf(transaction), [settlement(customer)])
    await credit(transaction, { ...topUp, reference })
  }
  await sql.begin(transaction => change(transaction, 'bank_txn:1'))
  await sql.begin(async transaction => {
    await change(transaction, 'bank_txn:2')
    await sumAll()
  })
  await sumAll()
  expect(await figures()).toEqual({ by_hour: 2, by_account: 2, by_entry_and_day: 2, by_account_and_day: 2, top_ups: 2 })
  const today = dayOf(new Date())
  const period = { from: addDays(today, -1), to: addDays(today, 1) }
  const sums = addFigures('', await readBusiness(sql, { ...period, by: 'day' }))
  expect(sums).toMatchObject({ calls: 2, revenueMicroVnd: 2n * CALL_MICRO_VND })
  const income = (await readIncome(sql, period)).filter(({ kind }) => kind === 'bank_topup')
  expect(income).toMatchObject([{ credits: 2, amountMicroVnd: 10_000_000n }])
})

test('an incremental audit finds no difference in a settlement that was committed long after its day', async () => {
  await sql.unsafe(`create schema future; create function future.now() returns timestamptz language sql stable
    as $$ select pg_catalog.now() + interval '2 days' $$`)
  const inTwoDays = openDatabase({
    url: database.url,
    name: 'future',
    connectionsMax: 1,
    session: { search_path: 'future, pg_catalog, public' },
  })
  const incremental = { mode: 'incremental', timeoutMs: 60_000 } as const
  const auditThen = () => audit(inTwoDays, incremental)
  try {
    expect(await audit(sql, incremental)).toMatchObject({ mode: 'full', ledger: { clean: true } })
    await settleCalls(poolOf(sql), [settlement(customer)])
    await sql.begin(async transaction => {
      await settleCalls(poolOf(transaction), [settlement(customer)])
      expect(await auditThen()).toMatchObject({ mode: 'incremental', ledger: { clean: true } })
    })
    expect(await auditThen()).toMatchObject({ mode: 'incremental', ledger: { differences: { daily: 0 }, clean: true } })
  } finally {
    await inTwoDays.end()
  }
})
