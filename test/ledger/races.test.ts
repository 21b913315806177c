import { afterAll, afterEach, expect, test } from 'vitest'
import type { RunningLedger } from '../../src/ledger/ledger.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  type Customer,
  call,
  createCustomer,
  expectCleanAudit,
  startLedger,
  usageOf,
  walletOf,
} from './world.ts'

const database = await createTestDatabase()
const processes = await Promise.all([startLedger(database.url), startLedger(database.url), startLedger(database.url)])
afterEach(() => expectCleanAudit(database.sql))
afterAll(async () => {
  await Promise.all(processes.map(ledger => ledger.close()))
  await database.drop()
})

const VND = 1_000_000n

/** Makes 1,000 calls at once, spread over processes that share only the database. */
async function rush(
  ledgers: readonly RunningLedger[],
  customer: Customer,
  want: bigint,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  await Promise.all(
    Array.from({ length: 1_000 }, async (_, index) => {
      const { held, settled } = await call(ledgers[index % ledgers.length]!, customer, { want })
      const outcome = settled?.outcome ?? held.outcome
      counts[outcome] = (counts[outcome] ?? 0) + 1
    }),
  )
  return counts
}

test('1,000 parallel calls of 1.68 VND on 10 VND: six are served, the balance ends at exactly 0', async () => {
  const customer = await createCustomer(database.sql, 10n * VND)
  expect(await rush(processes, customer, CALL_MICRO_VND)).toEqual({ settled: 6, empty: 994 })
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 0n, held: 0n })
  const charged = (await usageOf(database.sql, customer)).map(row => row.charged_micro_vnd)
  expect(charged).toEqual(['1680000', '1680000', '1680000', '1680000', '1680000', '1600000'])
})

test('1,000 parallel calls of 1.68 VND on 2,000 VND, each holding three times its cost: all are served', async () => {
  const customer = await createCustomer(database.sql, 2_000n * VND)
  expect(await rush(processes, customer, 3n * CALL_MICRO_VND)).toEqual({ settled: 1_000 })
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 320n * VND, held: 0n })
})

test('1,000 parallel calls on a balance of exactly one call’s price: one is served and fully paid', async () => {
  const customer = await createCustomer(database.sql, CALL_MICRO_VND)
  expect(await rush(processes, customer, CALL_MICRO_VND)).toEqual({ settled: 1, empty: 999 })
  const rows = await usageOf(database.sql, customer)
  expect(rows.map(row => [row.charged_micro_vnd, row.balance_after_micro_vnd])).toEqual([['1680000', '0']])
})

test('1,000 parallel calls on a balance one µVND below the price: one is served, and one µVND stays uncollected', async () => {
  const customer = await createCustomer(database.sql, CALL_MICRO_VND - 1n)
  expect(await rush(processes, customer, CALL_MICRO_VND)).toEqual({ settled: 1, empty: 999 })
  const rows = await usageOf(database.sql, customer)
  expect(rows.map(row => [row.cost_micro_vnd, row.charged_micro_vnd])).toEqual([['1680000', '1679999']])
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 0n, held: 0n })
})

test('many wallets at once: each pays for its own calls only', async () => {
  const customers = await Promise.all(Array.from({ length: 20 }, () => createCustomer(database.sql, 100n * VND)))
  await Promise.all(
    customers.flatMap(customer =>
      processes.flatMap(ledger => Array.from({ length: 10 }, () => call(ledger, customer))),
    ),
  )
  for (const customer of customers) {
    expect(await walletOf(database.sql, customer)).toEqual({ balance: 100n * VND - 30n * CALL_MICRO_VND, held: 0n })
  }
})
