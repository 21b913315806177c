import { afterAll, expect, test } from 'vitest'
import { hashKey } from '../../src/accounts/key-secret.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  call,
  createCustomer,
  expectCleanAudit,
  holdRequest,
  patient,
  secrets,
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

const capAt = (keyId: number, microVnd: bigint | null) =>
  sql.unsafe('update api_key set monthly_cap_micro_vnd = $2::text::bigint where key_id = $1::text::bigint', [
    String(keyId),
    microVnd === null ? null : String(microVnd),
  ])

test('a key works until its settled calls reach its cap, and other keys of the account go on', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  const other = await createKey(sql, secrets, { accountId: customer.accountId })
  await capAt(customer.keyId, 2n * CALL_MICRO_VND)
  for (const outcome of ['admitted', 'admitted', 'capped', 'capped']) {
    expect((await call(ledger, customer)).held.outcome).toBe(outcome)
  }
  const sibling = { ...customer, keyId: other.keyId, keyHash: hashKey(secrets, other.key).hash }
  expect((await call(ledger, sibling)).held.outcome).toBe('admitted')
  await capAt(customer.keyId, 3n * CALL_MICRO_VND)
  expect((await call(ledger, customer)).held.outcome).toBe('admitted')
  expect((await call(ledger, customer)).held.outcome).toBe('capped')
  await capAt(customer.keyId, null)
  expect((await call(ledger, customer)).held.outcome).toBe('admitted')
  await expectCleanAudit(sql)
})

test('a cap is passed by no more than the calls in flight when it is reached', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  await capAt(customer.keyId, CALL_MICRO_VND)
  const requests = Array.from({ length: 5 }, () => holdRequest(customer))
  const held = await Promise.all(requests.map(request => ledger.admit(request, patient)))
  expect(held.map(answer => answer.outcome)).toEqual(Array(5).fill('admitted'))
  for (const { callId } of requests) await ledger.settle(settlement(customer, { callId }))
  const later = await Promise.all(Array.from({ length: 20 }, () => call(ledger, customer)))
  expect(new Set(later.map(({ held: { outcome } }) => outcome))).toEqual(new Set(['capped']))
  expect(await usageOf(sql, customer)).toHaveLength(5)
})

test('calls of a spent key get nothing beside those of another key of the same wallet', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  const other = await createKey(sql, secrets, { accountId: customer.accountId })
  const sibling = { ...customer, keyId: other.keyId, keyHash: hashKey(secrets, other.key).hash }
  await call(ledger, customer)
  await call(ledger, sibling)
  await capAt(customer.keyId, CALL_MICRO_VND)
  const calls = Array.from({ length: 10 }, (_, turn) => call(ledger, turn % 2 === 0 ? sibling : customer))
  const outcomes = (await Promise.all(calls)).map(({ held }) => held.outcome)
  expect(outcomes).toEqual(Array.from({ length: 10 }, (_, turn) => (turn % 2 === 0 ? 'admitted' : 'capped')))
  expect(await walletOf(sql, customer)).toEqual({ balance: 1_000_000_000n - 7n * CALL_MICRO_VND, held: 0n })
  await expectCleanAudit(sql)
})

test('what was spent last month does not count', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  await call(ledger, customer)
  await capAt(customer.keyId, CALL_MICRO_VND)
  expect((await call(ledger, customer)).held.outcome).toBe('capped')
  const month = `date_trunc('month', now() at time zone 'Asia/Ho_Chi_Minh')::date`
  const move = `update usage_daily set day = ${month} - $2::text::integer where key_id = $1::text::bigint`
  await sql.unsafe(move, [String(customer.keyId), '0'])
  expect((await call(ledger, customer)).held.outcome).toBe('capped')
  await sql.unsafe(move, [String(customer.keyId), '1'])
  expect((await call(ledger, customer)).held.outcome).toBe('admitted')
})

test('a call that has its hold keeps it when the cap is reached before it asks again', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  await capAt(customer.keyId, CALL_MICRO_VND)
  const request = holdRequest(customer)
  const first = await ledger.admit(request, patient)
  await call(ledger, customer)
  expect(await ledger.admit(request, patient)).toEqual({ ...first, freeMicroVnd: CALL_MICRO_VND })
  expect((await call(ledger, customer)).held.outcome).toBe('capped')
})

test('a key of a blocked account is refused like a revoked one', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  await sql.unsafe('update api_key set suspended_at = now() where key_id = $1::text::bigint', [String(customer.keyId)])
  expect((await call(ledger, customer)).held.outcome).toBe('refused_key')
})
