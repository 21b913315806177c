import { afterAll, expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { credit } from '../../src/ledger/credit.ts'
import { microVnd } from '../../src/lib/money.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  addMoney,
  call,
  createCustomer,
  expectCleanAudit,
  holdRequest,
  patient,
  startLedger,
  walletOf,
} from './world.ts'

const database = await createTestDatabase()
const ledger = await startLedger(database.url)
const customer = await createCustomer(database.sql, 5_000_000n)
for (let turn = 0; turn < 4; turn++) await call(ledger, customer)
await addMoney(database.sql, customer.accountId, 50_000_000n)
await call(ledger, customer)
await ledger.admit(holdRequest(customer), patient)
afterAll(async () => {
  await ledger.close()
  await database.drop()
})

test('finds no difference in an honest ledger, and says what it holds', async () => {
  const report = await audit(database.sql)
  expect(report).toMatchObject({ clean: true, wallets: 1, openHolds: 1, calls: 4, uncollectedMicroVnd: 40_000n })
})

/** Each forgery is made with triggers disabled, as a forger with full rights would, and rolled back afterwards. */
test.each([
  ['balance', 'update wallet set balance_micro_vnd = balance_micro_vnd + 1'],
  ['seq', 'update wallet set seq = seq + 1'],
  ['held', 'update wallet set held_micro_vnd = held_micro_vnd + 1'],
  ['held', 'delete from hold'],
  ['chain', 'update usage set balance_after_micro_vnd = balance_after_micro_vnd + 1 where seq = 2'],
  ['charge', 'update usage set charged_micro_vnd = 1000000 where seq = 4'],
  ['seq', 'delete from usage where seq = 3'],
  ['balance', 'update credit set amount_micro_vnd = amount_micro_vnd + 1 where seq = 1'],
  ['daily', 'update usage_daily set input_tokens = input_tokens + 1'],
  ['daily', 'update usage_daily set upstream_cost_micro_vnd = upstream_cost_micro_vnd + 1'],
  ['daily', 'update usage_daily set upstream_cost_calls = upstream_cost_calls + 1'],
  ['orphan', 'update api_key set account_id = account_id + 1000'],
] as const)('finds a broken %s: %s', async (difference, forgery) => {
  const rollback = new Error('rolled back')
  const report = database.sql.begin(async transaction => {
    await transaction.unsafe('set local session_replication_role = replica')
    await transaction.unsafe(forgery)
    const found = await audit(transaction)
    expect(found.clean).toBe(false)
    expect(found.differences[difference]).toBeGreaterThan(0)
    throw rollback
  })
  await expect(report).rejects.toBe(rollback)
  await expectCleanAudit(database.sql)
})

test('a credit is booked once per kind and reference, however often and from wherever it is sent', async () => {
  const { accountId } = await createCustomer(database.sql, 0n)
  const request = { accountId, amountMicroVnd: microVnd(7n), kind: 'bank_topup', reference: 'txn 1' } as const
  // Opens all connections first, so that the twenty credits really race.
  await Promise.all(Array.from({ length: 8 }, () => database.sql.unsafe('select pg_sleep(0.05)')))
  const answers = await Promise.all(Array.from({ length: 20 }, () => credit(database.sql, request)))
  expect(answers.filter(answer => answer.outcome === 'credited')).toHaveLength(1)
  expect(new Set(answers.map(answer => answer.seq))).toEqual(new Set([1]))
  expect(await walletOf(database.sql, { accountId })).toEqual({ balance: 7n, held: 0n })
  await expect(credit(database.sql, { ...request, amountMicroVnd: microVnd(8n) })).rejects.toThrow('a different amount')
  expect(await credit(database.sql, { ...request, kind: 'refund' })).toMatchObject({ outcome: 'credited', seq: 2 })
})

test('an adjustment deducts at most the balance, and its account must exist', async () => {
  const { accountId } = await createCustomer(database.sql, 5n)
  const take = { accountId, amountMicroVnd: microVnd(-6n), kind: 'adjustment', reference: 'take' } as const
  await expect(credit(database.sql, take)).rejects.toThrow('has less than the amount')
  expect(await credit(database.sql, { ...take, amountMicroVnd: microVnd(-5n) })).toMatchObject({
    balanceAfterMicroVnd: 0n,
  })
  await expect(credit(database.sql, { ...take, accountId: 12_345 })).rejects.toThrow('there is no account 12345')
  for (const [amount, fault] of [
    [0n, 'cannot be 0'],
    [10n ** 18n + 1n, 'must not exceed'],
    [-(10n ** 18n) - 1n, 'must not exceed'],
  ] as const) {
    await expect(credit(database.sql, { ...take, amountMicroVnd: microVnd(amount) })).rejects.toThrow(fault)
  }
  await expect(credit(database.sql, { ...take, reference: '' })).rejects.toThrow('needs a reference')
})

test('a credit within a transaction that is rolled back leaves nothing', async () => {
  const { accountId } = await createCustomer(database.sql, 0n)
  const request = { accountId, amountMicroVnd: microVnd(7n), kind: 'refund', reference: 'call' } as const
  const undone = database.sql.begin(async transaction => {
    await credit(transaction, request)
    throw new Error('rolled back')
  })
  await expect(undone).rejects.toThrow('rolled back')
  expect(await credit(database.sql, request)).toMatchObject({ outcome: 'credited', seq: 1 })
})
