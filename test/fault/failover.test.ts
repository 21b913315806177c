/** Kills the primary and promotes its standby, which gateways then reach at the primary's address. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Relay } from '../support/relay.ts'
import { judge } from './support/check.ts'
import type { Cluster } from './support/cluster.ts'
import { type Customer, VND } from './support/customers.ts'
import type { GatewayProcess } from './support/gateways.ts'
import { eventually } from './support/wait.ts'
import { createWorld, settled, type World } from './support/world.ts'

const CALLS = 20

async function createPair(synchronous: boolean): Promise<{ world: World; standby: Cluster }> {
  const world = await createWorld({ gateways: 2, relayed: true })
  try {
    await world.sql.unsafe('checkpoint')
    await world.cluster.stop()
    const standby = await world.cluster.copyAsStandby(join(world.folder, 'standby'))
    await Promise.all([world.cluster.start(), standby.startStandby()])
    await eventually(
      async () => (await world.sql.unsafe('select state, sync_state from pg_stat_replication'))[0],
      row => row?.state === 'streaming',
    )
    if (synchronous) {
      await world.sql.unsafe(`alter system set synchronous_standby_names = '*'`)
      await world.sql.unsafe('select pg_reload_conf()')
      await eventually(
        async () => (await world.sql.unsafe('select sync_state from pg_stat_replication'))[0],
        row => row?.sync_state === 'sync',
      )
    }
    return { world, standby }
  } catch (error) {
    await world.close()
    throw error
  }
}

function callAll(world: World, customer: Customer) {
  return Promise.all(
    Array.from({ length: CALLS }, (_, index) => {
      const { url, name } = world.gateways[index % 2] as GatewayProcess
      const plan = { url, gateway: name, ...customer, entryId: 'gpt-5.5', secret: world.secret }
      return world.client.call({ ...plan, format: 'messages', streamed: index % 4 < 2 })
    }),
  )
}

/** Kills the primary, promotes the standby, and redirects the network to it. */
async function failOver(world: World, standby: Cluster): Promise<void> {
  world.cluster.kill(true)
  const sql = standby.open(1)
  const promoted = await sql.unsafe('select pg_promote(true, 60) as done')
  await sql.end({ timeout: 1 })
  expect(promoted).toEqual([{ done: true }])
  ;(world.relay as Relay).moveTo(standby.port)
}

async function expectKept(world: World, standby: Cluster, customer: Customer): Promise<void> {
  await Promise.all(
    world.gateways.map(({ url, name }) =>
      eventually(
        () =>
          world.client.call({
            ...{ url, gateway: name, ...customer, entryId: 'gpt-5.5', secret: world.secret },
            format: 'messages',
            streamed: false,
          }),
        ({ status }) => status === 200,
      ),
    ),
  )
  const sql = standby.open(2)
  try {
    await settled({ sql }, 90_000)
    const look = () =>
      judge({
        sql,
        replies: world.oracle.replies,
        calls: world.client.calls,
        transfers: [],
        runs: new Map(world.gateways.map(gateway => [gateway.name, gateway.runs])),
      })
    const { findings } = await eventually(look, ({ clean }) => clean).catch(look)
    expect(findings).toEqual(Object.fromEntries(Object.keys(findings).map(name => [name, []])))
  } finally {
    await sql.end({ timeout: 1 })
  }
  expect(world.gateways.flatMap(({ runs }) => runs).filter(({ endedAt }) => endedAt !== null)).toEqual([])
}

test('a synchronous standby is promoted: it has every acknowledged settlement', async () => {
  const { world, standby } = await createPair(true)
  try {
    const customer = await world.customers.create(world.sql, 1_000_000n * VND)
    expect((await callAll(world, customer)).filter(({ complete }) => !complete)).toEqual([])
    const before = await eventually(
      async () => await world.sql.unsafe('select call_id, charged_micro_vnd from usage order by call_id'),
      ({ length }) => length === CALLS,
    )
    await failOver(world, standby)
    const sql = standby.open(1)
    const after = await sql.unsafe(
      `select call_id, charged_micro_vnd from usage where call_id = any ($1::text[]::uuid[]) order by call_id`,
      [`{${before.map(row => row.call_id).join(',')}}`],
    )
    await sql.end({ timeout: 1 })
    expect([...after]).toEqual([...before])
    await expectKept(world, standby, customer)
  } finally {
    await standby.remove()
    await world.close()
  }
})

test('an asynchronous standby that lags is promoted: spools restore what it never received, once each', async () => {
  const { world, standby } = await createPair(false)
  try {
    const customer = await world.customers.create(world.sql, 1_000_000n * VND)
    await callAll(world, customer)
    const served = async () =>
      (await world.sql.unsafe('select count(*)::integer as n from usage where status = 200'))[0]?.n
    await eventually(served, count => count === CALLS)
    await eventually(
      async () =>
        (
          await world.sql.unsafe('select pg_wal_lsn_diff(sent_lsn, replay_lsn)::integer as n from pg_stat_replication')
        )[0]?.n,
      lag => lag === 0,
    )
    // From here on, the standby receives nothing from the primary.
    const [sender] = await world.sql.unsafe('select pid from pg_stat_replication')
    process.kill(sender?.pid, 'SIGSTOP')
    expect((await callAll(world, customer)).filter(({ complete }) => !complete)).toEqual([])
    await eventually(served, count => count === 2 * CALLS)
    await failOver(world, standby)
    const sql = standby.open(1)
    const [count] = await sql.unsafe(`select count(*)::integer as n from usage where status = 200`)
    await sql.end({ timeout: 1 })
    expect(count?.n).toBe(CALLS)
    await expectKept(world, standby, customer)
  } finally {
    await standby.remove()
    await world.close()
  }
})

test('gateways that were led to a standby are not ready, and leave it once their address leads to the primary', async () => {
  const { world, standby } = await createPair(false)
  const relay = world.relay as Relay
  try {
    const customer = await world.customers.create(world.sql, 1_000_000n * VND)
    await callAll(world, customer)
    relay.moveTo(standby.port)
    const readiness = () =>
      Promise.all(world.gateways.map(async ({ url }) => (await fetch(new URL('/readyz', url))).status))
    await eventually(readiness, statuses => statuses.every(status => status === 503))
    expect((await callAll(world, customer)).map(({ status }) => status)).toEqual(Array(CALLS).fill(503))
    relay.leadTo(world.cluster.port)
    await eventually(readiness, statuses => statuses.every(status => status === 200))
    expect((await callAll(world, customer)).filter(({ complete }) => !complete)).toEqual([])
    const sql = standby.open(1)
    const sessions = `select application_name, query from pg_stat_activity where application_name like 'gateway%'`
    await eventually(
      async () => (await sql.unsafe(sessions)).length,
      count => count === 0,
    )
    await sql.end({ timeout: 1 })
    // The sessions for notifications connect again after a pause.
    await eventually(
      async () => (await world.sql.unsafe(sessions)).filter(({ query }) => query.startsWith('listen')).length,
      count => count === world.gateways.length,
    )
    await expectKept(world, world.cluster, customer)
  } finally {
    await standby.remove()
    await world.close()
  }
})
