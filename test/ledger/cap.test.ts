import { afterAll, expect, test } from 'vitest'
import { updateKeyTotals } from '../../src/accounts/key-count.ts'
import { refundCall } from '../../src/ledger/refund.ts'
import { microVnd } from '../../src/lib/money.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { Relay } from '../support/relay.ts'
import {
  CALL_MICRO_VND,
  call,
  createCustomer,
  expectCleanAudit,
  holdRequest,
  patient,
  settlement,
  startLedger,
  usageOf,
  walletOf,
  withNewKey,
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

/** How many statements are waiting for a lock: those that place holds, and the changes of keys. */
const holdsWaiting = async () => (await waiting()).holds
const changesWaiting = async () => (await waiting()).changes
async function waiting(): Promise<{ holds: number; changes: number }> {
  const [row] = await sql`
    select count(*) filter (where application_name = 'gateway holds')::integer as holds,
           count(*) filter (where query like 'update api_key%')::integer as changes
      from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  return { holds: row?.holds, changes: row?.changes }
}

test('a key works until its settled calls reach its spend limit, and the account’s other keys keep working', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  const sibling = await withNewKey(sql, customer)
  await capAt(customer.keyId, 2n * CALL_MICRO_VND)
  for (const outcome of ['admitted', 'admitted', 'capped', 'capped']) {
    expect((await call(ledger, customer)).held.outcome).toBe(outcome)
  }
  expect((await call(ledger, sibling)).held.outcome).toBe('admitted')
  await capAt(customer.keyId, 3n * CALL_MICRO_VND)
  expect((await call(ledger, customer)).held.outcome).toBe('admitted')
  expect((await call(ledger, customer)).held.outcome).toBe('capped')
  await capAt(customer.keyId, null)
  expect((await call(ledger, customer)).held.outcome).toBe('admitted')
  await expectCleanAudit(sql)
})

test('a refund goes to the wallet: the refunded call still counts against the key’s limit', async () => {
  const customer = await createCustomer(sql, 10n * CALL_MICRO_VND)
  await capAt(customer.keyId, CALL_MICRO_VND)
  expect((await call(ledger, customer)).held.outcome).toBe('admitted')
  const [row] = await usageOf(sql, customer)
  const given = { callId: String(row?.call_id), accountId: customer.accountId, note: 'sorry' }
  expect(await sql.begin(transaction => refundCall(transaction, given))).toMatchObject({ outcome: 'refunded' })
  expect((await walletOf(sql, customer)).balance).toBe(10n * CALL_MICRO_VND)
  expect((await call(ledger, customer)).held).toMatchObject({ outcome: 'capped', spentMicroVnd: CALL_MICRO_VND })
  await expectCleanAudit(sql)
})

test('a hold that is sent again while its first statement still waits on the server is found, not refused', async () => {
  const relay = await Relay.start(Number(new URL(database.url).port))
  const relayed = new URL(database.url)
  relayed.port = String(relay.port)
  const other = await startLedger(relayed.href)
  try {
    const customer = await createCustomer(sql, 1_000_000_000n)
    await capAt(customer.keyId, 2n * CALL_MICRO_VND)
    // From its first call on, the process knows that the key has a limit.
    expect((await call(other, customer)).held.outcome).toBe('admitted')
    const { held } = await sql.begin(async transaction => {
      await transaction.unsafe(`select from wallet where account_id = ${customer.accountId} for update`)
      const held = other.admit(holdRequest(customer), patient)
      await expect.poll(holdsWaiting, { timeout: 20_000 }).toBe(1)
      relay.set('reset')
      relay.set('open')
      await expect.poll(holdsWaiting, { timeout: 20_000 }).toBe(2)
      return { held }
    })
    expect((await held).outcome).toBe('admitted')
    expect(await walletOf(sql, customer)).toMatchObject({ held: CALL_MICRO_VND })
  } finally {
    await other.close()
    await relay.close()
  }
})

test('a call is admitted if the limit of its key is removed while its hold waits for the wallet', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  await capAt(customer.keyId, 2n * CALL_MICRO_VND)
  expect((await call(ledger, customer)).held.outcome).toBe('admitted')
  const { removed, held } = await sql.begin(async transaction => {
    await transaction.unsafe(`select from wallet where account_id = ${customer.accountId} for update`)
    // Waits for the wallet before the hold does, so it is committed when the hold goes on.
    const removed = capAt(customer.keyId, null).execute()
    await expect.poll(changesWaiting, { timeout: 20_000 }).toBe(1)
    const held = ledger.admit(holdRequest(customer, { holdMinMicroVnd: microVnd(3n * CALL_MICRO_VND) }), patient)
    await expect.poll(holdsWaiting, { timeout: 20_000 }).toBe(1)
    return { removed, held }
  })
  await removed
  expect(await held).toMatchObject({ outcome: 'admitted', heldMicroVnd: 3n * CALL_MICRO_VND })
})

test('calls in flight use up the limit: of calls at once in two processes, only as many are admitted as it has room for', async () => {
  const other = await startLedger(database.url)
  try {
    for (const room of [1, 3]) {
      const customer = await createCustomer(sql, 1_000_000_000n)
      await capAt(customer.keyId, BigInt(room) * CALL_MICRO_VND)
      const requests = Array.from({ length: 40 }, () => holdRequest(customer))
      const held = await Promise.all(
        requests.map((request, turn) => (turn % 2 ? ledger : other).admit(request, patient)),
      )
      const admitted = requests.filter((_, index) => held[index]?.outcome === 'admitted')
      expect(admitted).toHaveLength(room)
      expect(held.filter(({ outcome }) => outcome === 'capped')).toHaveLength(40 - room)
      const limit = { limitMicroVnd: BigInt(room) * CALL_MICRO_VND, spentMicroVnd: 0n, reset: 'monthly' }
      expect(held.find(({ outcome }) => outcome === 'capped')).toMatchObject(limit)
      for (const { callId } of admitted) await ledger.settle(settlement(customer, { callId }))
      const later = await Promise.all(Array.from({ length: 20 }, () => call(other, customer)))
      expect(later.map(({ held: answer }) => answer)).toEqual(
        Array(20).fill({ outcome: 'capped', ...limit, spentMicroVnd: limit.limitMicroVnd, heldMicroVnd: 0n }),
      )
      expect(await usageOf(sql, customer)).toHaveLength(room)
    }
    await expectCleanAudit(sql)
  } finally {
    await other.close()
  }
})

test('the only call of a key gets what is left of its limit, and may cost no more than that', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  await capAt(customer.keyId, 100n)
  const want = { holdMinMicroVnd: microVnd(60n), holdMaxMicroVnd: microVnd(600n) }
  const first = holdRequest(customer, want)
  expect(await ledger.admit(first, patient)).toMatchObject({ heldMicroVnd: 60n, freeMicroVnd: 100n })
  expect(await ledger.admit(holdRequest(customer, want), patient)).toMatchObject({
    outcome: 'capped',
    heldMicroVnd: 60n,
  })
  await ledger.settle(settlement(customer, { callId: first.callId, costMicroVnd: microVnd(0n), status: 502 }))
  const large = holdRequest(customer, { holdMinMicroVnd: microVnd(500n) })
  expect(await ledger.admit(large, patient)).toMatchObject({ heldMicroVnd: 100n, freeMicroVnd: 100n })
  await ledger.settle(settlement(customer, { callId: large.callId, costMicroVnd: microVnd(0n), status: 502 }))
  await expectCleanAudit(sql)
})

test('the limits of two keys of one account are used up separately, even by calls that arrive together', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  const sibling = await withNewKey(sql, customer)
  for (const { keyId } of [customer, sibling]) await capAt(keyId, CALL_MICRO_VND)
  const held = await Promise.all(
    [customer, sibling, customer, sibling].map(key => ledger.admit(holdRequest(key), patient)),
  )
  expect(held.map(({ outcome }) => outcome)).toEqual(['admitted', 'admitted', 'capped', 'capped'])
  await expectCleanAudit(sql)
})

test.each([
  ['wallet', 1_600n, null],
  ['limit of a key', 1_000_000_000n, 1_600n],
] as const)('the last call gets the rest of a %s even if that is exactly its minimum', async (_what, credit, cap) => {
  const customer = await createCustomer(sql, credit)
  await capAt(customer.keyId, cap)
  const sizes = [...Array<[bigint, bigint]>(15).fill([1n, 1_000n]), [90n, 90n], [10n, 1_000n]] as const
  const held = await Promise.all(
    sizes.map(([least, most]) => {
      const want = { holdMinMicroVnd: microVnd(least), holdMaxMicroVnd: microVnd(most) }
      return ledger.admit(holdRequest(customer, want), patient)
    }),
  )
  const granted = [...Array<bigint>(15).fill(100n), 90n, 10n]
  expect(held).toMatchObject(granted.map(heldMicroVnd => ({ outcome: 'admitted', heldMicroVnd })))
  expect(held.at(-1)).toMatchObject({ freeMicroVnd: 10n })
  expect(await walletOf(sql, customer)).toMatchObject({ held: 1_600n })
})

test('a key that has spent its limit is refused while another key of the same wallet keeps working', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  const sibling = await withNewKey(sql, customer)
  await call(ledger, customer)
  await call(ledger, sibling)
  await capAt(customer.keyId, CALL_MICRO_VND)
  const calls = Array.from({ length: 10 }, (_, turn) => call(ledger, turn % 2 === 0 ? sibling : customer))
  const outcomes = (await Promise.all(calls)).map(({ held }) => held.outcome)
  expect(outcomes).toEqual(Array.from({ length: 10 }, (_, turn) => (turn % 2 === 0 ? 'admitted' : 'capped')))
  expect(await walletOf(sql, customer)).toEqual({ balance: 1_000_000_000n - 7n * CALL_MICRO_VND, held: 0n })
  await expectCleanAudit(sql)
})

test.each([
  ['daily', '0', '1'],
  [
    'weekly',
    `extract(isodow from now() at time zone 'Asia/Ho_Chi_Minh')::int - 1`,
    `extract(isodow from now() at time zone 'Asia/Ho_Chi_Minh')::int`,
  ],
  [
    'monthly',
    `extract(day from now() at time zone 'Asia/Ho_Chi_Minh')::int - 1`,
    `extract(day from now() at time zone 'Asia/Ho_Chi_Minh')::int`,
  ],
])('a %s limit counts what was spent since its period began in Vietnam', async (reset, within, before) => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  await call(ledger, customer)
  await capAt(customer.keyId, CALL_MICRO_VND)
  const key = [String(customer.keyId)]
  await sql.unsafe('update api_key set limit_reset = $2 where key_id = $1::text::bigint', [...key, reset])
  const spentDaysAgo = (days: string) =>
    sql.unsafe(
      `update usage_daily set day = (now() at time zone 'Asia/Ho_Chi_Minh')::date - (${days}) where key_id = $1::text::bigint`,
      key,
    )
  await spentDaysAgo(within)
  expect((await call(ledger, customer)).held).toMatchObject({ outcome: 'capped', reset })
  await spentDaysAgo(before)
  expect((await call(ledger, customer)).held.outcome).toBe('admitted')
})

test('a limit that never resets counts everything, before and after past days are summed up, which happens once', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  const key = [String(customer.keyId)]
  await capAt(customer.keyId, 3n * CALL_MICRO_VND)
  await sql.unsafe('update api_key set limit_reset = null where key_id = $1::text::bigint', key)
  const age = (days: number) =>
    sql.unsafe(`update usage_daily set day = day - $2::text::integer where key_id = $1::text::bigint`, [
      ...key,
      String(days),
    ])
  await call(ledger, customer)
  await age(400)
  await call(ledger, customer)
  await age(1)
  const counted = await Promise.all([updateKeyTotals(sql), updateKeyTotals(sql), updateKeyTotals(sql)])
  expect(counted.reduce((sum, keys) => sum + keys)).toBeGreaterThan(0)
  expect(await updateKeyTotals(sql)).toBe(0)
  const figures = 'select counted_micro_vnd::text as counted from api_key where key_id = $1::text::bigint'
  expect(await sql.unsafe(figures, key)).toMatchObject([{ counted: String(CALL_MICRO_VND) }])
  expect((await call(ledger, customer)).held.outcome).toBe('admitted')
  expect((await call(ledger, customer)).held).toMatchObject({
    outcome: 'capped',
    spentMicroVnd: 3n * CALL_MICRO_VND,
    reset: null,
  })
  await age(2)
  await sql.unsafe('update api_key set counted_before = counted_before - 2 where key_id = $1::text::bigint', key)
  expect(await updateKeyTotals(sql)).toBe(1)
  expect(await sql.unsafe(figures, key)).toMatchObject([{ counted: String(3n * CALL_MICRO_VND) }])
  expect((await call(ledger, customer)).held).toMatchObject({ outcome: 'capped', spentMicroVnd: 3n * CALL_MICRO_VND })
})

test('a call that repeats its request for a hold keeps its hold, even if the spend limit has been reached since', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  await capAt(customer.keyId, CALL_MICRO_VND)
  const request = holdRequest(customer)
  const first = await ledger.admit(request, patient)
  await call(ledger, customer)
  expect(await ledger.admit(request, patient)).toEqual({ ...first, freeMicroVnd: CALL_MICRO_VND })
  expect((await call(ledger, customer)).held.outcome).toBe('capped')
})

test.each([
  ['blocked', 'suspended_at = now()'],
  ['disabled', 'disabled_at = now()'],
  ['expired', `expires_at = now()`],
  ['revoked', 'revoked_at = now(), encryption_id = null, encryption_iv = null, ciphertext = null'],
])('a %s key is refused at its next call, and says so', async (state, change) => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  expect((await call(ledger, customer)).held.outcome).toBe('admitted')
  await sql.unsafe(`update api_key set ${change} where key_id = $1::text::bigint`, [String(customer.keyId)])
  expect((await call(ledger, customer)).held).toEqual({ outcome: 'refused_key', state })
})

test('a key that is restricted to some models and families can call those and no others', async () => {
  const customer = await createCustomer(sql, 1_000_000_000n)
  const bind = (models: string | null) =>
    sql.unsafe('update api_key set allowed_models = $2::text::text[] where key_id = $1::text::bigint', [
      String(customer.keyId),
      models,
    ])
  const outcome = async (entryId: string, family: string) =>
    (await ledger.admit(holdRequest(customer, { entryId, family }), patient)).outcome
  await bind('{model-a,family-b/*}')
  expect(await outcome('model-a', 'family-a')).toBe('admitted')
  expect(await outcome('model-z', 'family-b')).toBe('admitted')
  expect(await outcome('model-z', 'family-a')).toBe('refused_model')
  expect(await outcome('model', 'family')).toBe('refused_model')
  await bind(null)
  expect(await outcome('model-z', 'family-a')).toBe('admitted')
})
