/** Two faults at once: a crash of Postgres takes a hold that was not on the disk, a crash of its gateway takes the call. */

import { expect, test } from 'vitest'
import { audit } from '../../src/ledger/audit.ts'
import { judge } from './support/check.ts'
import { VND, walletOf } from './support/customers.ts'
import type { GatewayProcess } from './support/gateways.ts'
import { eventually } from './support/wait.ts'
import { createWorld, settled } from './support/world.ts'

const CREDIT = 1_000_000n * VND

test('a call whose hold and whose gateway are gone is charged nothing: the wallet is whole, and only its row is missing', async () => {
  // Nothing brings a hold to the disk now but a commit that waits for its own way there.
  const world = await createWorld({ gateways: 1, settings: { wal_writer_delay: '10s', bgwriter_delay: '10s' } })
  try {
    const gateway = world.gateways[0] as GatewayProcess
    const { sql, oracle, client } = world
    const customer = await world.customers.create(sql, CREDIT)
    const holds = async () => (await sql.unsafe('select call_id from hold')).map(row => row.call_id as string)
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    oracle.gate = gate
    const running = client.call({
      ...{ url: gateway.url, gateway: gateway.name, ...customer, entryId: 'gpt-5.5', secret: world.secret },
      ...{ format: 'chat_completions', streamed: true },
    })
    const [held] = await eventually(holds, ({ length }) => length === 1, { pauseMs: 1 })
    world.cluster.kill(true)
    // The stream has begun at its client, and has no end yet.
    await eventually(
      () => client.calls[0]?.callId,
      callId => callId === held,
    )
    await gateway.signal('SIGKILL')
    const call = await running
    open()
    await world.cluster.start()
    // The crash took the hold: from here on nothing tells of the call.
    expect(await eventually(holds, () => true)).toEqual([])
    expect(await gateway.start()).toBe(true)
    await settled(world)
    expect(call).toMatchObject({ callId: held, status: 200, complete: false })
    expect(await sql.unsafe('select 1 from usage')).toHaveLength(0)
    expect(await walletOf(sql, customer.accountId)).toEqual({ balance: CREDIT, held: 0n })
    expect(Object.values((await audit(sql)).differences).filter(count => count !== 0)).toEqual([])
    const lives = new Map([[gateway.name, gateway.lives]])
    const { findings } = await judge({ sql, replies: oracle.replies, calls: client.calls, transfers: [], lives })
    const found = Object.entries(findings).flatMap(([name, list]) => list.map(() => name))
    expect(found).toEqual(['missing'])
  } finally {
    await world.close()
  }
})
