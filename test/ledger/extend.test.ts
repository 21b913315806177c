import { afterAll, afterEach, expect, test } from 'vitest'
import { extendHolds } from '../../src/ledger/extend.ts'
import { releaseHolds, settleCalls } from '../../src/ledger/settle.ts'
import type { AnySql, StatementPool } from '../../src/lib/database.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { microVnd } from '../../src/lib/money.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  type Customer,
  createCustomer,
  eventually,
  expectCleanAudit,
  holdRequest,
  patient,
  settlement,
  startLedger,
  type TestLedger,
  walletOf,
} from './world.ts'

const database = await createTestDatabase()
const here = await startLedger(database.url)
const there = await startLedger(database.url)
afterEach(() => expectCleanAudit(database.sql))
afterAll(async () => {
  await Promise.all([here.close(), there.close()])
  await database.drop()
})

async function held(ledger: TestLedger, customer: Customer): Promise<string> {
  const request = holdRequest(customer)
  expect(await ledger.admit(request, patient)).toMatchObject({ outcome: 'admitted' })
  return request.callId
}

function grow(ledger: TestLedger, customer: Customer, callId: string, want: bigint, signal = patient.signal) {
  return ledger.extend({ accountId: customer.accountId, callId, wantMicroVnd: microVnd(want) }, { signal })
}

test('a hold grows as requested while the wallet has the money, and all of it is given back', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const callId = await held(here, customer)
  expect(await grow(here, customer, callId, 4n * CALL_MICRO_VND)).toEqual({ heldMicroVnd: 4n * CALL_MICRO_VND })
  expect((await walletOf(database.sql, customer)).held).toBe(4n * CALL_MICRO_VND)
  // Asking for less than is already held changes nothing.
  expect(await grow(there, customer, callId, 1n)).toEqual({ heldMicroVnd: 4n * CALL_MICRO_VND })
  await here.settle(settlement(customer, { callId }))
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 9n * CALL_MICRO_VND, held: 0n })
})

test('calls that race for the rest of the money share it, and none gets more than there is', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const calls = [await held(here, customer), await held(there, customer), await held(here, customer)]
  const answers = await Promise.all(
    calls.map((callId, index) => grow(index === 1 ? there : here, customer, callId, 5n * CALL_MICRO_VND)),
  )
  const amounts = answers.map(answer => answer?.heldMicroVnd as bigint)
  expect(amounts.reduce((sum, amount) => sum + amount, 0n)).toBe(10n * CALL_MICRO_VND)
  expect(Math.max(...amounts.map(Number))).toBe(Number(5n * CALL_MICRO_VND))
  expect((await walletOf(database.sql, customer)).held).toBe(10n * CALL_MICRO_VND)
  // The money that a finished call gives back goes to the next call that asks for some.
  await here.settle(settlement(customer, { callId: calls[0] as string, costMicroVnd: microVnd(0n), status: 500 }))
  expect(await grow(here, customer, calls[2] as string, 20n * CALL_MICRO_VND)).toEqual({
    heldMicroVnd: 10n * CALL_MICRO_VND - (amounts[1] as bigint),
  })
})

test('a request that is sent again grows the hold once', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const callId = await held(here, customer)
  const twice = [grow(here, customer, callId, 3n * CALL_MICRO_VND), grow(there, customer, callId, 3n * CALL_MICRO_VND)]
  expect(await Promise.all(twice)).toEqual(Array(2).fill({ heldMicroVnd: 3n * CALL_MICRO_VND }))
  expect((await walletOf(database.sql, customer)).held).toBe(3n * CALL_MICRO_VND)
})

test('a call that lost its hold in a crash may spend at most what is free in the wallet; nothing is held', async () => {
  const customer = await createCustomer(database.sql, 5n * CALL_MICRO_VND)
  await held(here, customer)
  const lost = uuidv7()
  expect(await grow(here, customer, lost, 3n * CALL_MICRO_VND)).toEqual({ heldMicroVnd: 3n * CALL_MICRO_VND })
  expect(await grow(here, customer, lost, 9n * CALL_MICRO_VND)).toEqual({ heldMicroVnd: 4n * CALL_MICRO_VND })
  expect((await walletOf(database.sql, customer)).held).toBe(CALL_MICRO_VND)
  expect(here.metrics().counts.extensions.lost).toBe(2)
})

test('after a race of extensions, holds and settlements for one wallet, no held money is left behind', async () => {
  const customer = await createCustomer(database.sql, 40n * CALL_MICRO_VND)
  const stream = async (ledger: TestLedger): Promise<void> => {
    const request = holdRequest(customer)
    const answer = await ledger.admit(request, patient)
    if (answer.outcome !== 'admitted') return
    for (let step = 2n; step < 6n; step++) await grow(ledger, customer, request.callId, step * (CALL_MICRO_VND / 2n))
    // The call is settled while its last extension is still under way.
    const late = grow(ledger, customer, request.callId, 9n * CALL_MICRO_VND)
    await ledger.settle(settlement(customer, { callId: request.callId }))
    await late
  }
  await Promise.all(Array.from({ length: 30 }, (_, index) => stream(index % 2 === 0 ? here : there)))
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 10n * CALL_MICRO_VND, held: 0n })
})

test.each([
  ['settled', settleCalls],
  ['freed', releaseHolds],
] as const)('a call is %s while its hold grows: all of the hold is given back', async (_how, free) => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const callId = await held(here, customer)
  const ended = settlement(customer, { callId })
  const { accountId } = customer
  let freed: Promise<unknown> | undefined
  await database.sql.begin(async transaction => {
    await extendHolds(poolOf(transaction), [{ accountId, callId, wantMicroVnd: microVnd(4n * CALL_MICRO_VND) }])
    freed = free(poolOf(database.sql), [ended])
    const blocked = `select count(*)::integer as n from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
    await eventually(
      async () => (await database.sql.unsafe(blocked))[0]?.n,
      count => count === 1,
    )
  })
  await freed
  const { balance, held: left } = await walletOf(database.sql, customer)
  expect([balance, left]).toEqual([(free === settleCalls ? 9n : 10n) * CALL_MICRO_VND, 0n])
})

/** A pool that runs the ledger's statements on the test's own connection. */
function poolOf(sql: AnySql): StatementPool {
  const query = async (statement: string, parameters: readonly (string | null)[]) =>
    await sql.unsafe(statement, [...parameters], { prepare: true })
  return { query } as unknown as StatementPool
}

test('holds that grew are freed to the last µVND when their process is gone', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const gone = await startLedger(database.url, { name: 'gone' })
  for (let call = 0; call < 3; call++) await grow(gone, customer, await held(gone, customer), 2n * CALL_MICRO_VND + 1n)
  expect((await walletOf(database.sql, customer)).held).toBe(6n * CALL_MICRO_VND + 3n)
  await gone.close()
  await (await startLedger(database.url, { name: 'gone' })).close()
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 10n * CALL_MICRO_VND, held: 0n })
})

test('an extension waits while Postgres is not responding, and is dropped when its call ends', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const ledger = await startLedger(database.url, { limits: { statementTimeoutMs: 1_000 } })
  const [waiting, dropped] = [await held(ledger, customer), await held(ledger, customer)]
  const over = new AbortController()
  let answers: Promise<unknown>[] = []
  await database.sql.begin(async transaction => {
    await transaction.unsafe(`select 1 from wallet where account_id = ${customer.accountId} for update`)
    answers = [
      grow(ledger, customer, waiting, 3n * CALL_MICRO_VND),
      grow(ledger, customer, dropped, 3n * CALL_MICRO_VND, over.signal),
    ]
    await eventually(
      async () => ledger.events.some(event => event.code === 'database_unavailable'),
      seen => seen,
    )
    over.abort()
    expect(await answers[1]).toBeNull()
  })
  expect(await answers[0]).toEqual({ heldMicroVnd: 3n * CALL_MICRO_VND })
  expect((await walletOf(database.sql, customer)).held).toBe(4n * CALL_MICRO_VND)
  for (const callId of [waiting, dropped]) await ledger.settle(settlement(customer, { callId }))
  await ledger.close()
})
