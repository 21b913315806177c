/** Every kind of database outage: admitted calls finish, new ones are refused in time, and nothing is lost. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Relay } from '../support/relay.ts'
import { judge } from './support/check.ts'
import { type Customer, type Transfer, VND } from './support/customers.ts'
import type { GatewayProcess } from './support/gateways.ts'
import { eventually } from './support/wait.ts'
import { createWorld, settled, type World } from './support/world.ts'

/** The setting LIMIT_DATABASE_WAIT_MS. Without this limit, a call would wait for minutes. */
const WAIT_MS = 2_000
/** How much later than `WAIT_MS` a reply may arrive, because the machine may be busy. */
const LATE_MS = 20_000

let world: World
let relay: Relay
let customer: Customer
const transfers: (Transfer & { acknowledged: boolean })[] = []

beforeAll(async () => {
  world = await createWorld({
    gateways: 2,
    relayed: true,
    environment: { LIMIT_DATABASE_WAIT_MS: String(WAIT_MS) },
  })
  relay = world.relay as Relay
  customer = await world.customers.create(world.sql, 1_000_000n * VND)
})
afterAll(() => world.close())

function call(gateway: GatewayProcess, streamed: boolean) {
  const plan = { url: gateway.url, gateway: gateway.name, ...customer, entryId: 'gpt-5.5', secret: world.secret }
  return world.client.call({ ...plan, format: 'chat_completions', streamed })
}

async function expectNothingLost(): Promise<void> {
  await settled(world)
  const look = () =>
    judge({
      sql: world.sql,
      replies: world.oracle.replies,
      calls: world.client.calls,
      transfers,
      runs: new Map(world.gateways.map(gateway => [gateway.name, gateway.runs])),
    })
  // The row of a refused call may be written shortly after the last hold is gone.
  const verdict = await eventually(look, ({ clean }) => clean).catch(look)
  expect(verdict.findings).toEqual(Object.fromEntries(Object.keys(verdict.findings).map(name => [name, []])))
}

const OUTAGES: readonly [name: string, begin: () => void | Promise<void>, end: () => void | Promise<void>][] = [
  ['Postgres paused', () => world.cluster.pause(), () => world.cluster.resume()],
  ['the network silent', () => relay.set('silent'), () => relay.set('open')],
  ['the network resetting every connection', () => relay.set('reset'), () => relay.set('open')],
  ['Postgres stopped', () => world.cluster.stop(), () => world.cluster.start()],
]

test.each(OUTAGES)(
  '%s: calls in flight finish, new ones get 503 in time, and everything is charged afterwards',
  async (_name, begin, end) => {
    // Make each gateway cache the key, and keep calls in flight.
    await Promise.all(world.gateways.map(gateway => call(gateway, false)))
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    world.oracle.gate = gate
    const inFlight = world.gateways.flatMap(gateway => [true, false, true].map(streamed => call(gateway, streamed)))
    await eventually(
      () => world.oracle.open,
      count => count === inFlight.length,
    )
    const transfer = { ...(await world.customers.transfer(world.sql, customer.accountId, 70_000)), acknowledged: false }
    transfers.push(transfer)
    await begin()
    try {
      const [first] = world.gateways as [GatewayProcess]
      const refused = await Promise.all(world.gateways.flatMap(gateway => [call(gateway, true), call(gateway, false)]))
      expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 503))
      for (const { startedAt, endedAt } of refused) expect(endedAt - startedAt).toBeLessThan(WAIT_MS + LATE_MS)
      // The bank and load balancers do not wait long, so they, too, must get their replies in time.
      expect(await world.customers.notify(first.url, transfer)).toBe(503)
      const readiness = await fetch(`${first.url}/readyz`, { signal: AbortSignal.timeout(WAIT_MS + LATE_MS) })
      expect(readiness.status).toBe(503)
      expect((await fetch(`${first.url}/healthz`)).status).toBe(200)
      open()
      const finished = await Promise.all(inFlight)
      expect(finished.filter(({ complete }) => !complete)).toEqual([])
    } finally {
      open()
      world.oracle.gate = null
      await end()
    }
    await Promise.all(
      world.gateways.map(gateway =>
        eventually(
          () => call(gateway, false),
          ({ status }) => status === 200,
        ),
      ),
    )
    expect(await world.customers.notify((world.gateways[1] as GatewayProcess).url, transfer)).toBe(200)
    transfer.acknowledged = true
    await expectNothingLost()
    expect(world.gateways.flatMap(({ runs }) => runs).filter(({ endedAt }) => endedAt !== null)).toEqual([])
  },
)
