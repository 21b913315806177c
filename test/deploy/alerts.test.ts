/**
 * Injects the faults of `make faults` into running gateways, one after another. Each fault raises its alerts, and no alert
 * fires without a fault. Time runs faster here: see `support/prometheus.ts`.
 */

import { appendFileSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { childrenOf, sendSignal } from '../fault/support/child.ts'
import { type Customer, VND } from '../fault/support/customers.ts'
import type { GatewayProcess } from '../fault/support/gateways.ts'
import { eventually } from '../fault/support/wait.ts'
import { createWorld, type World } from '../fault/support/world.ts'
import { freePort } from '../support/program.ts'
import { Prometheus } from '../support/prometheus.ts'

/** The number of scrapes in ten minutes. */
const CALM_ROUNDS = 40
const CALLERS = 4
/** Calls that finish between two scrapes, unless `ROUND_MS_MAX` passes first; enough to trigger the rate-based alerts. */
const CALLS_PER_ROUND = 4
const ROUND_MS_MAX = 1_000
/** Long enough for a busy machine. */
const WAIT_MS = 240_000

let world: World
let prometheus: Prometheus
let single: GatewayProcess
let supervised: GatewayProcess
let customer: Customer
let isCalling = true
let calls = 0
let rounds = 0
let calling: Promise<unknown>

beforeAll(async () => {
  world = await createWorld({ gateways: 0, environment: { METRICS_AUDIT_MINUTES: '0' } })
  const ports = [await freePort(), await freePort()] as const
  single = await world.add('single', { METRICS_PORT: String(ports[0]) })
  supervised = await world.add('supervised', { METRICS_PORT: String(ports[1]), WORKERS: '1' })
  for (const gateway of world.gateways) expect(await gateway.start(), gateway.lastRun?.lastWords).toBe(true)
  customer = await world.customers.create(world.sql, 1_000_000_000n * VND)
  prometheus = new Prometheus(
    [single, supervised].map(({ name }, index) => ({
      instance: name,
      url: `http://127.0.0.1:${ports[index]}/metrics`,
    })),
    betweenRounds,
  )
  calling = Promise.all(Array.from({ length: CALLERS }, (_, index) => keepCalling(index)))
  prometheus.start()
})
afterAll(async () => {
  isCalling = false
  await calling
  await prometheus?.stop()
  await world?.close()
})

async function betweenRounds(): Promise<void> {
  const enough = calls + CALLS_PER_ROUND
  const lateMs = performance.now() + ROUND_MS_MAX
  do await sleep(50)
  while (calls < enough && performance.now() < lateMs)
  rounds++
}

async function keepCalling(caller: number): Promise<void> {
  for (let turn = caller; isCalling; turn++) {
    const gateway = turn % 2 === 0 ? single : supervised
    if (gateway.ready) {
      await world.client.call({
        ...{ url: gateway.url, gateway: gateway.name, ...customer, entryId: 'gpt-5.5', secret: world.secret },
        format: 'chat_completions',
        streamed: turn % 4 < 2,
      })
    }
    calls++
    await sleep(20)
  }
}

async function passes(count: number): Promise<void> {
  const until = rounds + count
  await eventually(
    () => rounds,
    reached => reached >= until,
    { timeoutMs: WAIT_MS },
  )
}

function fires(...alerts: readonly string[]): Promise<readonly string[]> {
  const missing = () => alerts.filter(alert => !prometheus.fired.has(alert))
  return eventually(missing, names => names.length === 0, { timeoutMs: WAIT_MS, pauseMs: 100 })
}

/** Waits until none of these alerts is firing. */
function clears(...alerts: readonly string[]): Promise<readonly string[]> {
  const left = () => alerts.filter(alert => prometheus.firing.has(alert))
  return eventually(left, names => names.length === 0, { timeoutMs: WAIT_MS, pauseMs: 100 })
}

describe('the alerts on running gateways', { timeout: 2 * WAIT_MS }, () => {
  test('no alert fires while there is no fault', async () => {
    await passes(CALM_ROUNDS)
    expect([...prometheus.fired]).toEqual([])
  })

  test('a worker is killed: GatewayWorkersLost', async () => {
    sendSignal(childrenOf(supervised.pid)[0] as number, 'SIGKILL')
    await fires('GatewayWorkersLost')
  })

  test('the provider fails: the alerts on its errors, its circuit and the calls fire', async () => {
    const { options } = world.oracle
    world.oracle.options = { ...options, faultsPerMille: 1_000 }
    await fires('GatewayErrorRatioHigh', 'GatewayUpstreamFailures', 'GatewayUpstreamDown', 'GatewayEntryFails')
    world.oracle.options = options
    await clears('GatewayUpstreamDown')
  })

  test('Postgres hangs: GatewayDatabaseUnreachable, and GatewaySpoolNotDraining for the settlements that it does not take', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    world.oracle.gate = gate
    await eventually(
      () => world.oracle.open,
      count => count >= CALLERS,
    )
    world.cluster.pause()
    open()
    world.oracle.gate = null
    await fires('GatewayDatabaseUnreachable', 'GatewaySpoolNotDraining')
    world.cluster.resume()
    await clears('GatewayDatabaseUnreachable', 'GatewaySpoolNotDraining')
  })

  test('Postgres is killed: GatewayDatabaseUnreachable', async () => {
    world.cluster.kill(true)
    await eventually(
      () => prometheus.firing.has('GatewayDatabaseUnreachable'),
      isFiring => isFiring,
    )
    await world.cluster.start()
    await clears('GatewayDatabaseUnreachable')
  })

  test('a gateway is killed, and finds garbage in its spool: GatewayReplicaDown, then GatewaySpoolSetAside', async () => {
    await single.signal('SIGKILL')
    await fires('GatewayReplicaDown')
    const file = globSync('spool/*/*.jsonl', { cwd: single.dataDir })
      .filter(path => /\/\d{8}\.jsonl$/.test(path))
      .sort()
      .at(-1) as string
    appendFileSync(join(single.dataDir, file), '\n{"accountId":1,"callId":"\u0000\n')
    expect(await single.start()).toBe(true)
    await fires('GatewaySpoolSetAside')
    await clears('GatewayReplicaDown')
  })

  test('a gateway keeps restarting: GatewayRestarts', async () => {
    for (let times = 0; times < 3; times++) {
      await single.signal('SIGKILL')
      expect(await single.start(), single.lastRun?.lastWords).toBe(true)
      await passes(2)
    }
    await fires('GatewayRestarts')
  })
})
