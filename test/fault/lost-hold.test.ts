/**
 * Two simultaneous faults: a crash of Postgres loses a hold that had not reached the disk, and a crash of its gateway loses the
 * call.
 */

import { expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { judge } from './support/check.ts'
import { type Customer, VND, walletOf } from './support/customers.ts'
import type { GatewayProcess } from './support/gateways.ts'
import { eventually } from './support/wait.ts'
import { createWorld, settled, type World } from './support/world.ts'

const CREDIT = 1_000_000n * VND
/** A try fails if a heartbeat commits between the hold and the crash, because the hold then reaches the disk. */
const TRIES_MAX = 8

/** Kills Postgres and the gateway. Returns true if the hold was lost; otherwise the gateway finds it when it restarts. */
async function strikeTwice(world: World, customer: Customer): Promise<boolean> {
  const [gateway] = world.gateways as [GatewayProcess]
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  world.oracle.gate = gate
  const running = world.client.call({
    ...{ url: gateway.url, gateway: gateway.name, ...customer, entryId: 'gpt-5.5', secret: world.secret },
    ...{ format: 'chat_completions', streamed: true },
  })
  // Wait until the client has received the start of the stream, but not its end.
  await eventually(
    () => world.client.calls.at(-1)?.status,
    status => status === 200,
    { pauseMs: 1 },
  )
  expect(await world.sql.unsafe('select call_id from hold')).toEqual([{ call_id: world.client.calls.at(-1)?.callId }])
  world.cluster.kill(true)
  await gateway.signal('SIGKILL')
  expect(await running).toMatchObject({ status: 200, complete: false })
  open()
  await world.cluster.start()
  const kept = await eventually(
    () => world.sql.unsafe('select call_id from hold'),
    () => true,
  )
  expect(await gateway.start()).toBe(true)
  await settled(world)
  return kept.length === 0
}

test('a call whose hold and gateway are lost is not charged: the wallet is intact, and only the usage row is missing', async () => {
  // With this delay, Postgres flushes the WAL only every ten seconds, unless a session waits for a flush.
  const world = await createWorld({ gateways: 1, settings: { wal_writer_delay: '10s' } })
  try {
    const { sql, oracle, client, gateways } = world
    const customer = await world.customers.create(sql, CREDIT)
    let tries = 1
    while (!(await strikeTwice(world, customer))) expect(++tries).toBeLessThanOrEqual(TRIES_MAX)
    expect(await sql.unsafe('select 1 from usage where cost_micro_vnd > 0')).toHaveLength(0)
    expect(await sql.unsafe('select 1 from usage')).toHaveLength(tries - 1)
    expect(await walletOf(sql, customer.accountId)).toEqual({ balance: CREDIT, held: 0n })
    expect(Object.entries((await audit(sql)).differences).filter(([, count]) => count !== 0)).toEqual([])
    const runs = new Map(gateways.map(({ name, runs: all }) => [name, all]))
    const { findings } = await judge({ sql, replies: oracle.replies, calls: client.calls, transfers: [], runs })
    const found = Object.entries(findings).flatMap(([name, list]) => list.map(() => name))
    expect(found).toEqual(['missing'])
  } finally {
    await world.close()
  }
})
