import { afterAll, afterEach, expect, test } from 'vitest'
import { readLine, writeSettlement } from '../../src/ledger/spool-line.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { microVnd } from '../../src/lib/money.ts'
import { createTestDatabase } from '../support/postgres.ts'
import {
  CALL_MICRO_VND,
  type Customer,
  call,
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

const ATTEMPT = { credential: 'orchard#1', model: 'm', startedMs: 0, endedMs: 1, outcome: 'ok' }
const database = await createTestDatabase()
const here = await startLedger(database.url)
const there = await startLedger(database.url)
afterEach(() => expectCleanAudit(database.sql))
afterAll(async () => {
  await Promise.all([here.close(), there.close()])
  await database.drop()
})

test('charges the cost, answers with the balance and writes every column of the usage row', async () => {
  const customer = await createCustomer(database.sql, 10_000_000n)
  const request = holdRequest(customer, { holdMinMicroVnd: microVnd(9_000_000n), requestedName: 'mapped' })
  await here.admit(request, patient)
  const openedAt = new Date(Date.now() - 3_600_123)
  const finished = settlement(customer, {
    callId: request.callId,
    requestedName: 'mapped',
    cachedInputTokens: 400,
    reasoningTokens: 20,
    streamed: true,
    estimated: true,
    extrasVnd: 3,
    costMicroVnd: microVnd(CALL_MICRO_VND + 3_000_000n),
    cacheWriteTokens: 30,
    upstreamCostMicroVnd: microVnd(98_765_432_109n),
    attempts: [
      { credential: 'orchard#2', model: 'a "b" \\ {c}'.replaceAll(' ', '_'), startedMs: 1, endedMs: 30, outcome: 'ok' },
    ],
    errorCode: 'insufficient_balance',
    requestId: 'run-7/step:3',
    tag: 'nightly',
    status: 499,
    openedAt,
  })
  const expected = { outcome: 'settled', chargedMicroVnd: 4_680_000n, balanceAfterMicroVnd: 5_320_000n }
  const [held] = await database.sql.unsafe('select opened_at from hold where call_id = $1::text::uuid', [
    request.callId,
  ])
  expect(await here.settle(finished)).toEqual(expected)
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 5_320_000n, held: 0n })
  expect(await usageOf(database.sql, customer)).toEqual([
    {
      account_id: String(customer.accountId),
      seq: '2',
      call_id: request.callId,
      key_id: String(customer.keyId),
      entry_id: 'model-a',
      requested_name: 'mapped',
      endpoint: 1,
      status: 499,
      input_tokens: '1000',
      output_tokens: '120',
      cached_input_tokens: '400',
      reasoning_tokens: '20',
      images: 0,
      price_vnd: '1500',
      price_per: 1,
      extras_vnd: '3',
      cache_write_tokens: '30',
      upstream_cost_micro_vnd: '98765432109',
      attempts: finished.attempts,
      error_code: 'insufficient_balance',
      tag: 'nightly',
      cost_micro_vnd: '4680000',
      charged_micro_vnd: '4680000',
      balance_after_micro_vnd: '5320000',
      first_byte_ms: 12,
      latency_ms: 34,
      streamed: true,
      catalogue_id: null,
      estimated: true,
      opened_at: held?.opened_at,
      closed_at: expect.any(Date),
    },
  ])
  expect(await database.sql`select call_id, account_id, request_id from client_request`).toMatchObject([
    { call_id: request.callId, account_id: String(customer.accountId), request_id: 'run-7/step:3' },
  ])
})

test('what a call cost the operator is summed by day if it is known, and affects no charge', async () => {
  const customer = await createCustomer(database.sql, 10_000_000n)
  const costs = [microVnd(7_000_000_000n), microVnd(0n), null, undefined, microVnd(5n)]
  for (const upstreamCostMicroVnd of costs) {
    const finished = settlement(customer, upstreamCostMicroVnd === undefined ? {} : { upstreamCostMicroVnd })
    expect(await here.settle(finished)).toMatchObject({ outcome: 'settled', chargedMicroVnd: CALL_MICRO_VND })
  }
  const written = (await usageOf(database.sql, customer)).map(row => row.upstream_cost_micro_vnd)
  expect(written).toEqual(['7000000000', '0', null, null, '5'])
  const daily = await database.sql`
    select sum(upstream_cost_micro_vnd)::text as cost, sum(upstream_cost_calls)::text as costed, sum(calls)::text as calls
      from usage_daily where account_id = ${customer.accountId}`
  expect(daily).toMatchObject([{ cost: '7000000005', costed: '3', calls: '5' }])
})

test('an impossible operator cost or detail of a call is refused before it reaches the journal', async () => {
  const customer = await createCustomer(database.sql, 10_000_000n)
  const wrong = [
    { upstreamCostMicroVnd: microVnd(-1n) },
    { upstreamCostMicroVnd: microVnd(10n ** 15n + 1n) },
    { cacheWriteTokens: -1 },
    { attempts: Array.from({ length: 21 }, () => ATTEMPT) },
    { attempts: [{ ...ATTEMPT, model: 'two words' }] },
    { attempts: [{ ...ATTEMPT, endedMs: -1 }] },
    { errorCode: 'x'.repeat(101) },
    { requestId: 'a\nb' },
  ]
  for (const change of wrong)
    await expect(here.settle(settlement(customer, change))).rejects.toThrow(
      /upstreamCost|cacheWrite|attempt|errorCode|requestId/,
    )
})

test('a cost that is not the price times the units and the extras is refused', async () => {
  const customer = await createCustomer(database.sql, 10_000_000n)
  const wrong = [{ extrasVnd: 1 }, { extrasVnd: -1, costMicroVnd: microVnd(CALL_MICRO_VND - 1_000_000n) }]
  for (const change of wrong) await expect(here.settle(settlement(customer, change))).rejects.toThrow(/extras/)
  // So high a cost can be a price times units, but no call can cost it.
  const absurd = { pricePer: 'request', priceVnd: 1_000_000_000, extrasVnd: 1 } as const
  await expect(
    here.settle(settlement(customer, { ...absurd, costMicroVnd: microVnd(10n ** 15n + 10n ** 6n) })),
  ).rejects.toThrow('out of bounds')
  await expect(
    database.sql.unsafe(`insert into usage select * from jsonb_populate_record(
      (select row(usage.*)::usage from usage limit 1), '{"seq": 99, "call_id": "${settlement(customer).callId}", "extras_vnd": 2}')`),
  ).rejects.toThrow(/usage_cost_is_price_times_units_and_extras/)
})

test.each([-91, 91])(
  'a gateway whose clock is %i days away settles all the same, and the rows have the time of Postgres',
  async days => {
    const customer = await createCustomer(database.sql, 10_000_000n)
    const openedAt = new Date(Date.now() + days * 86_400_000)
    const request = holdRequest(customer)
    await here.admit(request, patient)
    const refused = { costMicroVnd: microVnd(0n), inputTokens: 0, outputTokens: 0, status: 400, latencyMs: 60_000 }
    expect(await here.settle(settlement(customer, { callId: request.callId, openedAt }))).toMatchObject({
      outcome: 'settled',
      chargedMicroVnd: CALL_MICRO_VND,
    })
    expect(await here.settle(settlement(customer, { ...refused, openedAt }))).toMatchObject({ outcome: 'settled' })
    const times = await database.sql.unsafe(
      `select extract(epoch from closed_at - opened_at)::double precision as seconds, closed_at > now() - interval '1 minute' as now
       from usage where account_id = $1::text::bigint order by seq`,
      [String(customer.accountId)],
    )
    expect(times).toEqual([
      { seconds: expect.any(Number), now: true },
      { seconds: 60, now: true },
    ])
    expect(times[0]?.seconds).toBeGreaterThanOrEqual(0)
    expect(times[0]?.seconds).toBeLessThan(30)
  },
)

test.each([
  ['account', (other: Customer) => ({ accountId: other.accountId })],
  ['account and key', (other: Customer) => ({ accountId: other.accountId, keyId: other.keyId })],
  ['key', (other: Customer) => ({ keyId: other.keyId })],
  ['price', () => ({ priceVnd: 150, costMicroVnd: microVnd(168_000n) })],
  ['unit of the price', () => ({ pricePer: 'request' as const, costMicroVnd: microVnd(1_500_000_000n) })],
])('a settlement that names another %s than the hold charges nobody, and says so', async (_name, change) => {
  const [customer, other] = [
    await createCustomer(database.sql, 10_000_000_000n),
    await createCustomer(database.sql, 10_000_000_000n),
  ]
  const request = holdRequest(customer)
  await here.admit(request, patient)
  const before = here.events.length
  const answer = await here.settle(settlement(customer, { callId: request.callId, ...change(other) }))
  expect(answer).toMatchObject({ outcome: 'spooled', chargedMicroVnd: null })
  expect(here.events.slice(before)).toMatchObject([{ level: 'error', code: 'settlement_refused' }])
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 10_000_000_000n, held: CALL_MICRO_VND })
  expect(await walletOf(database.sql, other)).toEqual({ balance: 10_000_000_000n, held: 0n })
  expect([...(await usageOf(database.sql, customer)), ...(await usageOf(database.sql, other))]).toEqual([])
  // The hold still exists, so the correct settlement succeeds.
  await there.settle(settlement(customer, { callId: request.callId }))
  expect((await walletOf(database.sql, customer)).balance).toBe(10_000_000_000n - CALL_MICRO_VND)
})

test('a settled call is not charged to another account, and one whose hold is lost is charged', async () => {
  const [customer, other] = [
    await createCustomer(database.sql, 10_000_000n),
    await createCustomer(database.sql, 10_000_000n),
  ]
  const { callId } = holdRequest(customer)
  await here.settle(settlement(customer, { callId }))
  expect(await there.settle(settlement(other, { callId }))).toMatchObject({ outcome: 'spooled' })
  expect((await walletOf(database.sql, customer)).balance).toBe(10_000_000n - CALL_MICRO_VND)
  expect((await walletOf(database.sql, other)).balance).toBe(10_000_000n)
})

test('a hold whose gateway wrote no price is settled at the price of the settlement', async () => {
  const customer = await createCustomer(database.sql, 10_000_000n)
  const request = holdRequest(customer)
  await here.admit(request, patient)
  await database.sql.unsafe('update hold set price_vnd = null, price_per = null where call_id = $1::text::uuid', [
    request.callId,
  ])
  expect(await here.settle(settlement(customer, { callId: request.callId }))).toMatchObject({ outcome: 'settled' })
})

test('charges the full price per request and per image', async () => {
  const customer = await createCustomer(database.sql, 10_000_000_000n)
  const request = { priceVnd: 230, pricePer: 'request', costMicroVnd: microVnd(230_000_000n) } as const
  const images = {
    endpoint: 3,
    priceVnd: 650,
    pricePer: 'image',
    images: 3,
    costMicroVnd: microVnd(1_950_000_000n),
  } as const
  expect(await here.settle(settlement(customer, request))).toMatchObject({ chargedMicroVnd: 230_000_000n })
  expect(await here.settle(settlement(customer, images))).toMatchObject({ chargedMicroVnd: 1_950_000_000n })
})

test('a settlement that is sent again, here or by another process, charges once and answers the same', async () => {
  const customer = await createCustomer(database.sql, 100_000_000n)
  const request = holdRequest(customer)
  await here.admit(request, patient)
  const finished = settlement(customer, { callId: request.callId })
  const answers = await Promise.all([
    here.settle(finished),
    here.settle(finished),
    there.settle(finished),
    there.settle(finished),
  ])
  answers.push(await here.settle(finished), await there.settle(finished))
  const once = { outcome: 'settled', chargedMicroVnd: CALL_MICRO_VND, balanceAfterMicroVnd: 98_320_000n }
  expect(answers).toEqual(Array.from({ length: 6 }, () => once))
  expect(await usageOf(database.sql, customer)).toHaveLength(1)
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 98_320_000n, held: 0n })
})

test('a batch in which some calls were settled before settles the others', async () => {
  const customer = await createCustomer(database.sql, 100_000_000n)
  const calls = Array.from({ length: 40 }, () => settlement(customer))
  await Promise.all(calls.filter((_, index) => index % 3 === 0).map(finished => there.settle(finished)))
  const answers = await Promise.all(calls.map(finished => here.settle(finished)))
  expect(answers.every(answer => answer.outcome === 'settled')).toBe(true)
  expect((await walletOf(database.sql, customer)).balance).toBe(100_000_000n - 40n * CALL_MICRO_VND)
})

test('a call that never had a hold gets its usage row, uncharged', async () => {
  const customer = await createCustomer(database.sql, 0n)
  const refused = settlement(customer, {
    costMicroVnd: microVnd(0n),
    status: 402,
    inputTokens: 0,
    outputTokens: 0,
    firstByteMs: null,
  })
  expect(await here.settle(refused)).toEqual({ outcome: 'settled', chargedMicroVnd: 0n, balanceAfterMicroVnd: 0n })
  expect(await usageOf(database.sql, customer)).toMatchObject([{ status: 402, charged_micro_vnd: '0' }])
})

test('an uncharged call gives all of its hold back', async () => {
  const customer = await createCustomer(database.sql, 5_000_000n)
  const request = holdRequest(customer)
  await here.admit(request, patient)
  await here.settle(settlement(customer, { callId: request.callId, costMicroVnd: microVnd(0n), status: 502 }))
  expect(await walletOf(database.sql, customer)).toEqual({ balance: 5_000_000n, held: 0n })
})

test('a cost above the balance takes the balance to exactly 0 and records what was not collected', async () => {
  const customer = await createCustomer(database.sql, 1_000_000n)
  const { settled } = await call(here, customer)
  expect(settled).toEqual({ outcome: 'settled', chargedMicroVnd: 1_000_000n, balanceAfterMicroVnd: 0n })
})

test('the roll-up’s days are Vietnam’s, and errors are counted separately', async () => {
  const customer = await createCustomer(database.sql, 100_000_000n)
  await Promise.all(
    [200, 200, 502].map(status =>
      here.settle(settlement(customer, { status, costMicroVnd: microVnd(status === 502 ? 0n : CALL_MICRO_VND) })),
    ),
  )
  await here.settle(settlement(customer, { status: 400, costMicroVnd: microVnd(0n) }))
  const rows = await database.sql.unsafe(
    `select calls, errors, input_tokens, charged_micro_vnd, day = (now() at time zone 'Asia/Ho_Chi_Minh')::date as today
       from usage_daily where account_id = $1::text::bigint`,
    [String(customer.accountId)],
  )
  expect(rows).toEqual([{ calls: '4', errors: '2', input_tokens: '4000', charged_micro_vnd: '3360000', today: true }])
})

test.each([
  ['tokens below 0', { inputTokens: -1 }],
  ['a fraction of a token', { outputTokens: 1.5 }],
  ['tokens beyond any model', { inputTokens: 1e300 }],
  ['a cost that is not price times units', { costMicroVnd: microVnd(1n) }],
  ['an invalid call id', { callId: 'call' }],
  ['an impossible time', { openedAt: new Date(Number.NaN) }],
])('refuses a settlement with %s, and the calls next to it settle', async (_, change) => {
  const customer = await createCustomer(database.sql, 10_000_000n)
  const bad = here.settle(settlement(customer, change))
  const good = here.settle(settlement(customer))
  await expect(bad).rejects.toThrow()
  expect(await good).toMatchObject({ outcome: 'settled' })
})

test('a settlement that Postgres refuses is set aside loudly, and the rest of its batch settles', async () => {
  const customer = await createCustomer(database.sql, 10_000_000n)
  const nobody = { accountId: 999_999, keyId: 1 }
  const before = here.events.length
  const answers = await Promise.all([
    here.settle(settlement(customer)),
    here.settle(settlement(nobody)),
    // This endpoint number passes `checkSettlement` but does not fit the column, a smallint.
    here.settle(settlement(customer, { endpoint: 40_000 as 1 })),
    here.settle(settlement(customer)),
  ])
  expect(answers.map(answer => answer.outcome)).toEqual(['settled', 'spooled', 'spooled', 'settled'])
  expect(here.events.slice(before).filter(event => event.code === 'settlement_refused')).toHaveLength(2)
  expect(await usageOf(database.sql, customer)).toHaveLength(2)
})

test('the journal cannot be changed or deleted', async () => {
  const customer = await createCustomer(database.sql, 10_000_000n)
  await here.settle(settlement(customer))
  for (const statement of [
    'update usage set charged_micro_vnd = 0',
    'delete from usage',
    'truncate usage',
    'update credit set amount_micro_vnd = 1',
    'delete from credit',
    'truncate credit',
  ]) {
    await expect(database.sql.unsafe(statement), statement).rejects.toThrow(/is append-only/)
  }
})

test('the schema refuses money left uncollected above 0, a cost that is not price times units, and a balance below 0', async () => {
  const customer = await createCustomer(database.sql, 10_000_000n)
  const insert = (cost: number, charged: number, after: number): Promise<unknown> =>
    database.sql.unsafe(`insert into usage values (${customer.accountId}, 50, gen_random_uuid(), 1, 'm', null, 1, 200, 10, 0, 0, 0, 0,
      7, 1, ${cost}, ${charged}, ${after}, null, 1, false, false, now(), now())`)
  await expect(insert(70, 60, 1)).rejects.toThrow('usage_uncollected_at_zero')
  await expect(insert(71, 71, 1)).rejects.toThrow('usage_cost_is_price_times_units')
  await expect(insert(70, 71, 1)).rejects.toThrow('usage_check')
  const overdraw = `update wallet set balance_micro_vnd = -1 where account_id = ${customer.accountId}`
  await expect(database.sql.unsafe(overdraw)).rejects.toThrow('wallet_balance_micro_vnd_check')
})

test('close waits for settlements that were accepted', async () => {
  const customer = await createCustomer(database.sql, 100_000_000n)
  const ledger = await startLedger(database.url)
  const answers = Array.from({ length: 30 }, () => ledger.settle(settlement(customer)))
  await ledger.close()
  expect((await Promise.all(answers)).every(answer => answer.outcome === 'settled')).toBe(true)
  expect(await usageOf(database.sql, customer)).toHaveLength(30)
  await expect(ledger.admit(holdRequest(customer), patient)).rejects.toMatchObject({ code: 'draining' })
  await eventually(
    async () => usageOf(database.sql, customer),
    rows => rows.length === 30,
  )
})

test('a row names the catalogue that admitted the call, also when another process settles it from the spool', async () => {
  const customer = await createCustomer(database.sql, 100n * CALL_MICRO_VND)
  const catalogueOf = async (callId: string) =>
    (
      await database.sql.unsafe(
        'select c.digest from usage u left join catalogue c using (catalogue_id) where u.call_id = $1::text::uuid',
        [callId],
      )
    )[0]?.digest
  const [old, fresh] = await Promise.all([
    startLedger(database.url, { catalogueDigest: 'digest-1' }),
    startLedger(database.url, { catalogueDigest: 'digest-2' }),
  ])
  const [first, second] = [settlement(customer), settlement(customer)]
  await Promise.all([old.settle(first), fresh.settle(second)])
  expect(await Promise.all([first, second].map(({ callId }) => catalogueOf(callId)))).toEqual(['digest-1', 'digest-2'])
  // Simulates a failover that lost the usage row: only the spool knows which catalogue admitted the call.
  const id = uuidv7()
  const line = writeSettlement({ ...settlement(customer), catalogueId: 1 }, id).trimEnd()
  const spooled = readLine(Buffer.from(line), id)
  if (spooled.kind !== 'settlement') throw new Error('the line was not read as a settlement')
  expect(spooled.settlement.catalogueId).toBe(1)
  await Promise.all([old.close(), fresh.close()])
  // A catalogue keeps its number across restarts.
  await (await startLedger(database.url, { catalogueDigest: 'digest-1' })).close()
  expect(await database.sql.unsafe('select count(*)::integer as count from catalogue')).toEqual([{ count: 2 }])
})
