/**
 * Tests several gateway processes on one database: empty wallets, top-ups, revocations, shutdowns, lost machines, wrong clocks.
 */

import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createKey, revokeKey } from '../../src/accounts/keys.ts'
import { judge } from './support/check.ts'
import type { ClientCall } from './support/client.ts'
import { type Customer, VND, walletOf } from './support/customers.ts'
import type { GatewayProcess } from './support/gateways.ts'
import { eventually, sleep } from './support/wait.ts'
import { createWorld, settled, type World } from './support/world.ts'

const CLOCK = fileURLToPath(new URL('./support/shift-clock.mjs', import.meta.url))
/** An entry whose calls all cost the same: `PRICE`. */
const ENTRY = 'req/gpt-5.5'
const PRICE = 900n * VND
const DAY_MS = 86_400_000
/** The day in Vietnam, by the clock of Postgres. */
const TODAY = `(now() at time zone 'Asia/Ho_Chi_Minh')::date`

let world: World
let gateways: [GatewayProcess, GatewayProcess, GatewayProcess]
beforeAll(async () => {
  world = await createWorld({
    gateways: 3,
    environment: { LIMIT_LOST_AFTER_MS: '2000', LIMIT_DRAIN_NOTICE_MS: '300', LIMIT_DRAIN_IDLE_MS: '1000' },
    clientTimeoutMs: 90_000,
  })
  gateways = world.gateways as unknown as typeof gateways
})
afterAll(() => world.close())

/** After each test, checks that nothing is held and that every dong is where it should be. */
afterEach(async () => {
  await settled(world)
  const look = () =>
    judge({
      sql: world.sql,
      replies: world.oracle.replies,
      calls: world.client.calls,
      transfers: [],
      runs: new Map(world.gateways.map(gateway => [gateway.name, gateway.runs])),
    })
  const { findings } = await eventually(look, ({ clean }) => clean).catch(look)
  expect(findings).toEqual(Object.fromEntries(Object.keys(findings).map(name => [name, []])))
})

interface Plan {
  readonly entryId?: string
  readonly streamed?: boolean
  readonly apiKey?: string
}

function call(gateway: GatewayProcess, customer: Customer, plan: Plan = {}): Promise<ClientCall> {
  const { entryId = ENTRY, streamed = false, apiKey = customer.apiKey } = plan
  const { accountId } = customer
  const { secret, client } = world
  const { url, name } = gateway
  return client.call({ url, gateway: name, accountId, apiKey, entryId, format: 'chat_completions', streamed, secret })
}

/** Makes concurrent calls, distributed over all gateways; returns the number of replies per status. */
async function rush(customer: Customer, count: number): Promise<Record<number, number>> {
  const calls = await Promise.all(
    Array.from({ length: count }, (_, index) => call(gateways[index % gateways.length] as GatewayProcess, customer)),
  )
  return Object.fromEntries(
    [...Map.groupBy(calls, ({ status }) => status)].map(([status, same]) => [status, same.length]),
  )
}

async function charges(customer: Customer): Promise<bigint[]> {
  const rows = await world.sql.unsafe(
    `select charged_micro_vnd as charged from usage where account_id = $1::text::bigint and status = 200 order by seq`,
    [String(customer.accountId)],
  )
  return rows.map(row => BigInt(row.charged))
}

test.each<[string, bigint, { served: number; last: bigint }]>([
  ['10 VND for calls of 900: one is served, and pays what is left', 10n * VND, { served: 1, last: 10n * VND }],
  [
    '2,000 VND for calls of 900: three are served, the last pays the rest',
    2_000n * VND,
    { served: 3, last: 200n * VND },
  ],
  ['exactly the price: one is served and paid in full', PRICE, { served: 1, last: PRICE }],
  [
    'a micro-dong less than the price: one is served, and a micro-dong stays uncollected',
    PRICE - 1n,
    { served: 1, last: PRICE - 1n },
  ],
])('1,000 parallel calls over three processes on %s', async (_name, credit, { served, last }) => {
  const customer = await world.customers.create(world.sql, credit)
  expect(await rush(customer, 1_000)).toEqual({ 200: served, 402: 1_000 - served })
  expect((await charges(customer)).at(-1)).toBe(last)
  expect(await walletOf(world.sql, customer.accountId)).toEqual({ balance: 0n, held: 0n })
})

/** Starts a call whose reply waits until the test calls `release`. */
async function holdOpen(gateway: GatewayProcess, customer: Customer, plan: Plan = {}) {
  const { promise: gate, resolve: release } = Promise.withResolvers<void>()
  world.oracle.gate = gate
  const before = world.oracle.open
  const open = call(gateway, customer, plan)
  await eventually(
    () => world.oracle.open,
    count => count > before,
  )
  world.oracle.gate = null
  return { open, release }
}

test('a call that waits in one process continues when another process receives the top-up, with the same key', async () => {
  const customer = await world.customers.create(world.sql, PRICE)
  const { open, release } = await holdOpen(gateways[0], customer)
  const waiting = call(gateways[1], customer)
  const transfer = await world.customers.transfer(world.sql, customer.accountId, 1_000)
  expect(await world.customers.notify(gateways[2].url, transfer)).toBe(200)
  // The open call still holds its money.
  expect(await waiting).toMatchObject({ status: 200, complete: true })
  release()
  expect(await open).toMatchObject({ status: 200 })
  expect(await walletOf(world.sql, customer.accountId)).toEqual({ balance: 100n * VND, held: 0n })
})

test('200 keys created at once leave ten, and a revoked one gets 401 at its next call in every process', async () => {
  const customer = await world.customers.create(world.sql, 1_000n * PRICE)
  const { accountId } = customer
  const making = Array.from({ length: 200 }, () => createKey(world.sql, world.customers.secrets, { accountId }))
  const made = (await Promise.allSettled(making)).flatMap(result =>
    result.status === 'fulfilled' ? [result.value] : [],
  )
  // Nine keys are new; the customer already had one.
  expect(made).toHaveLength(9)
  for (const { keyId, key: apiKey } of made.slice(0, 3)) {
    // Make every process cache the key.
    for (const gateway of gateways) expect((await call(gateway, customer, { apiKey })).status).toBe(200)
    await revokeKey(world.sql, { accountId, keyId })
    const after = await Promise.all(gateways.map(gateway => call(gateway, customer, { apiKey })))
    expect(after.map(({ status }) => status)).toEqual([401, 401, 401])
  }
  expect((await call(gateways[0], customer)).status).toBe(200)
})

test('SIGTERM under load: every accepted call completes, and the process exits with status 0', async () => {
  const customer = await world.customers.create(world.sql, 1_000_000n * PRICE)
  // Make calls slow, so that many are in flight at each signal and the next process has time to start.
  world.oracle.options = { ...world.oracle.options, pauseMsMax: 300 }
  let running = true
  const calls: ClientCall[] = []
  const loads = Array.from({ length: 12 }, async (_, index) => {
    while (running) {
      const gateway = gateways[index % 3] as GatewayProcess
      if (!gateway.ready) await sleep(20)
      else calls.push(await call(gateway, customer, { streamed: calls.length % 2 === 0 }))
    }
  })
  for (const gateway of gateways) {
    const before = calls.filter(done => done.gateway === gateway.name && done.complete).length
    await eventually(
      () => calls.filter(done => done.gateway === gateway.name && done.complete).length,
      count => count > before + 5,
    )
    expect(await gateway.signal('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(await gateway.start()).toBe(true)
  }
  running = false
  await Promise.all(loads)
  world.oracle.options = { ...world.oracle.options, pauseMsMax: 0 }
  // A connection may be closed before its call is accepted, which leaves no trace. Every accepted call must complete.
  expect(calls.filter(({ status, complete }) => status !== 0 && status !== 503 && !complete)).toEqual([])
  const rows = await world.sql.unsafe(
    `select status, count(*)::integer as n, bool_and(charged_micro_vnd > 0) as charged from usage
      where account_id = $1::text::bigint group by status`,
    [String(customer.accountId)],
  )
  expect(rows).toEqual([{ status: 200, n: calls.filter(({ complete }) => complete).length, charged: true }])
})

test('a machine that is lost for good: another process releases its holds, uncharged, when its lease expires', async () => {
  const lost = await world.add('lost')
  expect(await lost.start()).toBe(true)
  const customer = await world.customers.create(world.sql, 10n * PRICE)
  // Open the calls one after the other: `holdOpen` cannot tell apart two calls that start at the same time.
  const held = [await holdOpen(lost, customer), await holdOpen(lost, customer)]
  expect((await walletOf(world.sql, customer.accountId)).held).toBe(2n * PRICE)
  await lost.signal('SIGKILL')
  rmSync(lost.dataDir, { recursive: true })
  for (const { release } of held) release()
  await settled(world)
  expect(await walletOf(world.sql, customer.accountId)).toEqual({ balance: 10n * PRICE, held: 0n })
  const rows = await world.sql.unsafe('select status, charged_micro_vnd as charged from usage where account_id = $1', [
    String(customer.accountId),
  ])
  expect(rows.map(({ status, charged }) => [status, charged])).toEqual([
    [599, '0'],
    [599, '0'],
  ])
})

test('clocks that are off by a day or an hour, or that jump: charges, days, rate limits and sweeps follow the database', async () => {
  const shifted = await Promise.all(
    [DAY_MS, -DAY_MS, 3_600_000].map(async (shift, index) => {
      const gateway = await world.add(`shifted${index}`, {
        NODE_OPTIONS: `--import=${CLOCK}`,
        CLOCK_SHIFT_MS: String(shift),
      })
      expect(await gateway.start()).toBe(true)
      return gateway
    }),
  )
  const customer = await world.customers.create(world.sql, 1_000n * PRICE)
  const [firstDay] = await world.sql.unsafe(`select (${TODAY})::text as today`)
  // A living process keeps its holds, however wrong its own clock or that of another process is.
  const { open, release } = await holdOpen(shifted[0] as GatewayProcess, customer)
  for (let turn = 0; turn < 4; turn++) {
    const answers = await Promise.all([...shifted, gateways[0]].map(gateway => call(gateway, customer)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    for (const gateway of shifted) gateway.poke('SIGUSR2')
  }
  expect((await walletOf(world.sql, customer.accountId)).held).toBe(PRICE)
  release()
  expect((await open).status).toBe(200)
  // The test may run over midnight.
  const [days] = await world.sql.unsafe(
    `select bool_and(day between $2::text::date and (${TODAY})) as today, sum(calls)::integer as calls
       from usage_daily where account_id = $1::text::bigint`,
    [String(customer.accountId), firstDay?.today],
  )
  expect(days).toEqual({ today: true, calls: 17 })
  // All processes share one limit per minute, counted by the clock of the database.
  await world.sql.unsafe('update api_key set rate_limit_per_minute = 5 where key_id = $1', [String(customer.keyId)])
  await world.sql.unsafe(`select pg_notify('gateway_operations', 'keys')`)
  const fresh = { ...customer, ...(await limitedKey(customer)) }
  const limited = await Promise.all(
    Array.from({ length: 20 }, (_, index) => call(shifted[index % 3] as GatewayProcess, fresh)),
  )
  expect(limited.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(5)
  expect(limited.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(15)
  await Promise.all(shifted.map(gateway => gateway.signal('SIGTERM')))
})

/** Creates a key that no process has seen yet, with a limit of 5 calls per minute. */
async function limitedKey({ accountId }: Customer): Promise<{ keyId: number; apiKey: string }> {
  const { keyId, key: apiKey } = await createKey(world.sql, world.customers.secrets, { accountId })
  await world.sql.unsafe('update api_key set rate_limit_per_minute = 5 where key_id = $1', [String(keyId)])
  return { keyId, apiKey }
}
