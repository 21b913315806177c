import { afterAll, afterEach, expect, test } from 'vitest'
import { createTestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  createCustomer,
  eventually,
  expectCleanAudit,
  holdRequest,
  patient,
  settlement,
  startLedger,
  usageOf,
  walletOf,
} from './world.ts'

const database = await createTestDatabase()
afterEach(() => expectCleanAudit(database.sql))
afterAll(() => database.drop())

test('settlements above the limit in memory wait in the spool and are charged when there is room', async () => {
  const customer = await createCustomer(database.sql, 1_000n * CALL_MICRO_VND)
  const ledger = await startLedger(database.url, { limits: { settlementsMax: 10, settleWaitMs: 50, batchMax: 4 } })
  const calls = Array.from({ length: 120 }, () => settlement(customer))
  const outcomes = (await Promise.all(calls.map(finished => ledger.settle(finished)))).map(answer => answer.outcome)
  expect(outcomes).toContain('spooled')
  await eventually(
    async () => usageOf(database.sql, customer),
    rows => rows.length === 120,
  )
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 880n * CALL_MICRO_VND, held: 0n })
  await ledger.close()
})

test('calls above the limit of waiting calls are turned away at once', async () => {
  const customer = await createCustomer(database.sql, CALL_MICRO_VND)
  const ledger = await startLedger(database.url, { limits: { waitersMax: 2 } })
  const first = holdRequest(customer)
  await ledger.admit(first, patient)
  const waiting = [1, 2].map(() => ledger.admit(holdRequest(customer), patient))
  await eventually(
    async () => ledger.metrics().waiting,
    waiters => waiters === 2,
  )
  expect(await ledger.admit(holdRequest(customer), patient)).toEqual({ outcome: 'waited' })
  await ledger.settle(settlement(customer, { callId: first.callId }))
  expect(await Promise.all(waiting)).toEqual([{ outcome: 'empty' }, { outcome: 'empty' }])
  await ledger.close()
})

test('holds above the limit of holds waiting for Postgres are refused as unavailable', async () => {
  const customer = await createCustomer(database.sql, 100n * CALL_MICRO_VND)
  const ledger = await startLedger(database.url, { limits: { holdsMax: 3 } })
  const answers = await Promise.allSettled(
    Array.from({ length: 5 }, () => ledger.admit(holdRequest(customer), patient)),
  )
  expect(answers.map(answer => (answer.status === 'rejected' ? answer.reason.code : answer.value.outcome))).toEqual([
    'admitted',
    'admitted',
    'admitted',
    'ledger_unavailable',
    'ledger_unavailable',
  ])
  await ledger.close()
})

test('close turns waiting calls away and leaves no hold behind', async () => {
  const customer = await createCustomer(database.sql, CALL_MICRO_VND)
  const ledger = await startLedger(database.url)
  const first = holdRequest(customer)
  await ledger.admit(first, patient)
  const waiting = ledger.admit(holdRequest(customer), patient)
  await eventually(
    async () => ledger.metrics().waiting,
    waiters => waiters === 1,
  )
  await Promise.all([expect(waiting).rejects.toMatchObject({ code: 'draining' }), ledger.close()])
  // The first call was never settled; the next process frees its hold.
  const next = await startLedger(database.url)
  expect(await walletOf(database.sql, customer)).toEqual({ balance: CALL_MICRO_VND, held: 0n })
  await next.close()
})
