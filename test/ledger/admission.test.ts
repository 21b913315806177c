import { afterAll, afterEach, expect, test } from 'vitest'
import { hashKey } from '../../src/accounts/key-secret.ts'
import { createKey, revokeKey } from '../../src/accounts/keys.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { microVnd } from '../../src/lib/money.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { Relay } from '../support/relay.ts'
import {
  addMoney,
  CALL_MICRO_VND,
  type Customer,
  call,
  createCustomer,
  eventually,
  expectCleanAudit,
  holdRequest,
  patient,
  secrets,
  settlement,
  startLedger,
  walletOf,
  withNewKey,
} from './world.ts'

const database = await createTestDatabase()
const here = await startLedger(database.url)
const there = await startLedger(database.url)
const hurried = await startLedger(database.url, { limits: { admissionWaitMs: 60, admissionRetryMs: 10 } })
afterEach(() => expectCleanAudit(database.sql))
afterAll(async () => {
  await Promise.all([here.close(), there.close(), hurried.close()])
  await database.drop()
})

test('admits a call with the hold that it wants while the balance allows it', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const answer = await here.admit(holdRequest(customer), patient)
  const { accountId, keyId } = customer
  const freeMicroVnd = 10n * CALL_MICRO_VND
  expect(answer).toEqual({ outcome: 'admitted', accountId, keyId, heldMicroVnd: CALL_MICRO_VND, freeMicroVnd })
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 10n * CALL_MICRO_VND, held: CALL_MICRO_VND })
})

test('a call that can use a larger hold gets one, of at most a sixteenth of the balance and never less than its minimum', async () => {
  const customer = await createCustomer(database.sql, 64n * CALL_MICRO_VND)
  const ask = async (holdMaxMicroVnd: bigint) => {
    const answer = await here.admit(holdRequest(customer, { holdMaxMicroVnd: microVnd(holdMaxMicroVnd) }), patient)
    return answer.outcome === 'admitted' ? [answer.heldMicroVnd, answer.freeMicroVnd] : answer.outcome
  }
  expect(await ask(2n * CALL_MICRO_VND)).toEqual([2n * CALL_MICRO_VND, 64n * CALL_MICRO_VND])
  expect(await ask(1_000n * CALL_MICRO_VND)).toEqual([4n * CALL_MICRO_VND, 62n * CALL_MICRO_VND])
  const poor = await createCustomer(database.sql, 2n * CALL_MICRO_VND)
  const least = holdRequest(poor, { holdMaxMicroVnd: microVnd(1_000n * CALL_MICRO_VND) })
  expect(await here.admit(least, patient)).toMatchObject({ heldMicroVnd: CALL_MICRO_VND })
})

test('sixteen calls that want the whole balance run side by side; the next one gets the rest, if that is enough', async () => {
  const ledger = await startLedger(database.url, { limits: { admissionWaitMs: 200, concurrency: 1 } })
  const customer = await createCustomer(database.sql, 64n * CALL_MICRO_VND)
  const all = { holdMaxMicroVnd: microVnd(1_000n * CALL_MICRO_VND) }
  const first = await here.admit(holdRequest(customer, { holdMinMicroVnd: microVnd(2n * CALL_MICRO_VND) }), patient)
  expect(first).toMatchObject({ heldMicroVnd: 2n * CALL_MICRO_VND })
  const answers = await Promise.all(Array.from({ length: 17 }, () => ledger.admit(holdRequest(customer, all), patient)))
  const held = answers.flatMap(answer => (answer.outcome === 'admitted' ? [answer.heldMicroVnd / CALL_MICRO_VND] : []))
  expect(held).toEqual([...Array(15).fill(4n), 2n])
  expect(answers.at(-1)).toEqual({ outcome: 'waited' })
  expect((await walletOf(database.sql, customer)).held).toBe(64n * CALL_MICRO_VND)
  await ledger.close()
})

test('cuts the hold to what is left when nothing else is held', async () => {
  const customer = await createCustomer(database.sql, 5n)
  expect(await here.admit(holdRequest(customer), patient)).toMatchObject({ outcome: 'admitted', heldMicroVnd: 5n })
})

test('counts a hold once, although the short statement was asked for it first', async () => {
  const ledger = await startLedger(database.url)
  const customer = await createCustomer(database.sql, 5n)
  expect((await ledger.admit(holdRequest(customer), patient)).outcome).toBe('admitted')
  const sum = ledger
    .metrics()
    .counts.holdBatches.calls.samples()
    .find(({ suffix }) => suffix === '_sum')
  expect(sum?.value).toBe(1)
  await ledger.close()
})

test('answers empty at once when the balance is 0', async () => {
  const customer = await createCustomer(database.sql, 0n)
  expect(await here.admit(holdRequest(customer), patient)).toEqual({ outcome: 'empty' })
})

test('answers waited, never empty, when money remains but stays held for the whole waiting time', async () => {
  const customer = await createCustomer(database.sql, CALL_MICRO_VND)
  await here.admit(holdRequest(customer), patient)
  expect(await hurried.admit(holdRequest(customer), patient)).toEqual({ outcome: 'waited' })
})

test('a waiting call continues when a call in another process settles', async () => {
  const customer = await createCustomer(database.sql, 2n * CALL_MICRO_VND)
  const first = holdRequest(customer, { holdMinMicroVnd: microVnd(2n * CALL_MICRO_VND) })
  await there.admit(first, patient)
  const waiting = here.admit(holdRequest(customer), patient)
  await eventually(
    async () => here.metrics().waiting,
    waiters => waiters === 1,
  )
  await there.settle(settlement(customer, { callId: first.callId }))
  expect(await waiting).toMatchObject({ outcome: 'admitted' })
})

test('a waiting call continues with the same key when money is credited', async () => {
  const customer = await createCustomer(database.sql, CALL_MICRO_VND)
  await there.admit(holdRequest(customer), patient)
  const waiting = here.admit(holdRequest(customer), patient)
  await eventually(
    async () => here.metrics().waiting,
    waiters => waiters === 1,
  )
  await addMoney(database.sql, customer.accountId, CALL_MICRO_VND)
  here.wake(customer.accountId)
  expect(await waiting).toMatchObject({ outcome: 'admitted' })
})

test.each([
  ['has a limit', () => null],
  ['has changed since this process read it', ({ access }: Customer) => ({ ...access, keysVersion: -1 })],
])('a waiting call whose key %s is not overtaken by the call behind it', async (_, accessOf) => {
  const ledger = await startLedger(database.url, { limits: { admissionRetryMs: 60_000 } })
  const customer = await createCustomer(database.sql, 160n * CALL_MICRO_VND)
  const amount = (calls: bigint) => microVnd(calls * CALL_MICRO_VND)
  await there.admit(holdRequest(customer, { holdMinMicroVnd: amount(150n) }), patient)
  const before = holdRequest(customer, { holdMinMicroVnd: amount(10n) })
  await ledger.admit(before, patient)
  const wants = [
    { holdMinMicroVnd: amount(1n) },
    { holdMinMicroVnd: amount(8n), access: accessOf(customer) },
    { holdMinMicroVnd: amount(1n), holdMaxMicroVnd: amount(9n) },
  ]
  const waiting = []
  for (const want of wants) {
    waiting.push(ledger.admit(holdRequest(customer, want), patient))
    await expect.poll(() => ledger.metrics().waiting, { timeout: 20_000 }).toBe(waiting.length)
  }
  await ledger.settle(settlement(customer, { callId: before.callId, costMicroVnd: microVnd(0n) }))
  const answers = await Promise.all(waiting)
  expect(answers).toMatchObject([1n, 8n, 1n].map(calls => ({ outcome: 'admitted', heldMicroVnd: amount(calls) })))
  await ledger.close()
})

test('waiting calls are turned away when the call before them spends the rest of the balance', async () => {
  const customer = await createCustomer(database.sql, CALL_MICRO_VND)
  const first = holdRequest(customer)
  await here.admit(first, patient)
  const waiting = Array.from({ length: 5 }, () => here.admit(holdRequest(customer), patient))
  await eventually(
    async () => here.metrics().waiting,
    waiters => waiters === 5,
  )
  await here.settle(settlement(customer, { callId: first.callId }))
  expect(await Promise.all(waiting)).toEqual(Array.from({ length: 5 }, () => ({ outcome: 'empty' })))
})

test('a call that comes after a top-up is not turned away by the answer to an earlier statement', async () => {
  const relay = await Relay.start(Number(new URL(database.url).port))
  const relayed = new URL(database.url)
  relayed.port = String(relay.port)
  // Between settlement and top-up, a retry would rightly find the wallet empty.
  const ledger = await startLedger(relayed.href, { limits: { admissionRetryMs: 60_000 } })
  const balanceOf = async () => (await walletOf(database.sql, customer)).balance
  const customer = await createCustomer(database.sql, CALL_MICRO_VND)
  try {
    const first = holdRequest(customer)
    await ledger.admit(first, patient)
    const before = ledger.admit(holdRequest(customer), patient)
    await expect.poll(() => ledger.metrics().waiting, { timeout: 20_000 }).toBe(1)
    const { settled } = await database.sql.begin(async transaction => {
      await transaction.unsafe(`select from wallet where account_id = ${customer.accountId} for update`)
      const settled = ledger.settle(settlement(customer, { callId: first.callId }))
      const waiting = async () =>
        (
          await database.sql`select from pg_stat_activity where datname = current_database()
             and application_name = 'gateway settles' and wait_event_type = 'Lock'`
        ).length
      await expect.poll(waiting, { timeout: 20_000 }).toBe(1)
      relay.set('silent')
      return { settled }
    })
    await expect.poll(balanceOf, { timeout: 20_000 }).toBe(0n)
    await addMoney(database.sql, customer.accountId, 10n * CALL_MICRO_VND)
    const after = ledger.admit(holdRequest(customer), patient)
    relay.set('open')
    await settled
    expect(await Promise.all([before, after])).toMatchObject([{ outcome: 'admitted' }, { outcome: 'admitted' }])
  } finally {
    relay.set('open')
    await ledger.close()
    await relay.close()
  }
})

test('serves the calls of a wallet in the order in which they came', async () => {
  const customer = await createCustomer(database.sql, CALL_MICRO_VND * 3n)
  const first = holdRequest(customer, { holdMinMicroVnd: microVnd(3n * CALL_MICRO_VND) })
  await here.admit(first, patient)
  const order: number[] = []
  const queue = Array.from({ length: 6 }, async (_, index) => {
    // The second call in the queue wants a large hold, which the calls behind it must not overtake.
    const want = index === 1 ? 2n * CALL_MICRO_VND : CALL_MICRO_VND / 4n
    const request = holdRequest(customer, { holdMinMicroVnd: microVnd(want) })
    await here.admit(request, patient)
    order.push(index)
    await here.settle(settlement(customer, { callId: request.callId, costMicroVnd: microVnd(0n), status: 500 }))
  })
  await eventually(
    async () => here.metrics().waiting,
    waiters => waiters === 6,
  )
  await here.settle(settlement(customer, { callId: first.callId, costMicroVnd: microVnd(0n), status: 500 }))
  await Promise.all(queue)
  expect(order).toEqual([0, 1, 2, 3, 4, 5])
})

test('a small call does not overtake a large one that came first and does not fit', async () => {
  const ledger = await startLedger(database.url, { limits: { concurrency: 1, batchMax: 1 } })
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const ask = (calls: bigint): Promise<unknown> =>
    ledger.admit(holdRequest(customer, { holdMinMicroVnd: microVnd(calls * CALL_MICRO_VND) }), patient)
  const first = holdRequest(customer, { holdMinMicroVnd: microVnd(8n * CALL_MICRO_VND) })
  await ledger.admit(first, patient)
  const order: string[] = []
  const large = ask(5n).then(() => order.push('large'))
  const small = ask(2n).then(() => order.push('small'))
  await eventually(
    async () => ledger.metrics().waiting,
    waiters => waiters === 2,
  )
  await ledger.settle(settlement(customer, { callId: first.callId }))
  await Promise.all([large, small])
  expect(order).toEqual(['large', 'small'])
  await ledger.close()
})

test('a call whose client leaves while it waits is not admitted and holds nothing', async () => {
  const customer = await createCustomer(database.sql, CALL_MICRO_VND)
  const first = holdRequest(customer)
  await here.admit(first, patient)
  const client = new AbortController()
  const waiting = here.admit(holdRequest(customer), { signal: client.signal })
  await eventually(
    async () => here.metrics().waiting,
    waiters => waiters === 1,
  )
  client.abort(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  await here.settle(settlement(customer, { callId: first.callId, costMicroVnd: microVnd(0n), status: 500 }))
  expect(await walletOf(database.sql, customer)).toEqual({ balance: CALL_MICRO_VND, held: 0n })
  expect(here.metrics().waiting).toBe(0)
})

test('the same call id never holds twice', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  const request = holdRequest(customer)
  const answers = await Promise.all([
    here.admit(request, patient),
    there.admit(request, patient),
    here.admit(request, patient),
  ])
  const { accountId, keyId } = customer
  const answer = { outcome: 'admitted', accountId, keyId, heldMicroVnd: CALL_MICRO_VND }
  expect(answers).toMatchObject([answer, answer, answer])
  expect((await walletOf(database.sql, customer)).held).toBe(CALL_MICRO_VND)
})

test('an unknown key is refused, and so is a revoked one at its next call in any process', async () => {
  const customer = await createCustomer(database.sql, 10n * CALL_MICRO_VND)
  expect(await there.admit(holdRequest(customer, { keyHash: Buffer.alloc(32) }), patient)).toEqual({
    outcome: 'refused_key',
    state: 'unknown',
  })
  expect(await there.admit(holdRequest(customer), patient)).toMatchObject({ outcome: 'admitted' })
  await revokeKey(database.sql, customer)
  expect(await there.admit(holdRequest(customer), patient)).toEqual({ outcome: 'refused_key', state: 'revoked' })
  expect(await here.admit(holdRequest(customer), patient)).toEqual({ outcome: 'refused_key', state: 'revoked' })
})

test('a key that is revoked while its call waits is refused when its turn comes', async () => {
  const customer = await createCustomer(database.sql, CALL_MICRO_VND)
  const other = await createKey(database.sql, secrets, { accountId: customer.accountId })
  const first = holdRequest(customer)
  await here.admit(first, patient)
  const waiting = here.admit(holdRequest(customer, { keyHash: hashKey(secrets, other.key).hash }), patient)
  await eventually(
    async () => here.metrics().waiting,
    waiters => waiters === 1,
  )
  await revokeKey(database.sql, { accountId: customer.accountId, keyId: other.keyId })
  await here.settle(settlement(customer, { callId: first.callId, costMicroVnd: microVnd(0n), status: 500 }))
  expect(await waiting).toEqual({ outcome: 'refused_key', state: 'revoked' })
})

test('two keys of one account share one wallet and one queue', async () => {
  const customer = await createCustomer(database.sql, 2n * CALL_MICRO_VND)
  const twin = await withNewKey(database.sql, customer)
  const calls = [call(here, customer), call(here, twin), call(there, twin), call(there, customer)]
  const outcomes = (await Promise.all(calls)).map(({ held }) => held.outcome)
  expect(outcomes.sort()).toEqual(['admitted', 'admitted', 'empty', 'empty'])
})

test('an impossible hold fails only its own call', async () => {
  const customer = await createCustomer(database.sql, CALL_MICRO_VND)
  for (const change of [
    { holdMinMicroVnd: microVnd(0n) },
    { holdMinMicroVnd: microVnd(10n ** 15n + 1n) },
    { holdMinMicroVnd: microVnd(2n), holdMaxMicroVnd: microVnd(1n) },
    { holdMaxMicroVnd: microVnd(10n ** 15n + 1n) },
  ]) {
    await expect(here.admit(holdRequest(customer, change), patient)).rejects.toThrow(/hold(Min|Max)MicroVnd/)
  }
  await expect(here.admit(holdRequest(customer, { callId: 'x' }), patient)).rejects.toThrow('callId')
  const odd = holdRequest(customer, { callId: uuidv7(), requestedName: `\0'"\\{}\ud800,NULL` })
  expect(await here.admit(odd, patient)).toMatchObject({ outcome: 'admitted' })
  const rows = await database.sql.unsafe('select requested_name from hold where call_id = $1::text::uuid', [odd.callId])
  expect(rows[0]?.requested_name).toBe(`'"\\{}\ufffd,NULL`)
})
