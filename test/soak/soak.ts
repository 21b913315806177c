/**
 * Runs two gateways with two workers each, on a durable Postgres and in front of the sandbox, through hours of mixed load,
 * faults, redeploys and secret rotations. Then audits the books and checks that no measurement, such as memory, keeps growing.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { sandboxFacts } from '../../src/app/sandbox-facts.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { startSandbox } from '../../src/sandbox/server.ts'
import { type Customer, VND } from '../fault/support/customers.ts'
import type { GatewayProcess } from '../fault/support/gateways.ts'
import { createWorld, settled, type World } from '../fault/support/world.ts'
import { copyProject } from '../support/project-copy.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { type BookFindings, checkBooks } from './books.ts'
import { Events } from './events.ts'
import { Load, REPRICED_MODEL } from './load.ts'
import { Samples } from './samples.ts'
import { type Judgement, judgeSeries, since } from './slope.ts'

export interface SoakOptions {
  readonly durationMs: number
  readonly ratePerSecond: number
  readonly seed: number
  readonly onProgress: (line: string) => void
}

export interface SoakReport {
  readonly seconds: number
  readonly calls: number
  readonly complete: number
  /** Number of calls that the load generator skipped because no gateway was ready or too many calls were in flight. */
  readonly skipped: number
  readonly statuses: Readonly<Record<string, number>>
  readonly faultsAsked: number
  readonly counts: Events['counts']
  readonly transfers: number
  readonly samples: number
  readonly samplesMissed: number
  readonly books: BookFindings
  /** A verdict on each series of measurements, based on the second half of the run. */
  readonly series: readonly Judgement[]
  /** Files that contain a prompt, a key or a secret, which they must not. */
  readonly leaks: readonly string[]
}

const GATEWAYS = 2
const CUSTOMERS = 8
const SAMPLES = 240
const SAMPLE_EVERY_MS_MIN = 5_000
const TRANSFER_EVERY_MS = 10_000
const UPSTREAM_SECRET = 'upstream-secret-soak'
const ENVIRONMENT = {
  WORKERS: '2',
  // The default of 76 s would leave little time between the redeploys of a short run.
  LIMIT_KEEP_ALIVE_TIMEOUT_MS: '8000',
  LIMIT_DRAIN_NOTICE_MS: '1000',
  LIMIT_DRAIN_IDLE_MS: '9000',
}

/** Environment variables that point every upstream of the catalogue to the sandbox at this address. */
function upstreamsAt(url: string): Record<string, string> {
  return Object.fromEntries(
    TABLES.upstreams.flatMap(({ id }) => {
      const name = `UPSTREAM_${id.toUpperCase().replaceAll('-', '_')}`
      return [
        [`${name}_BASE_URL`, `${url}/${id}`],
        [`${name}_API_KEY`, UPSTREAM_SECRET],
      ]
    }),
  )
}

export async function runSoak(options: SoakOptions): Promise<SoakReport> {
  const sandbox = await startSandbox({
    ...sandboxFacts(TABLES),
    pace: { firstTokenMs: 30, tokensPerSecond: 400 },
  })
  const project = copyProject()
  let world: World | null = null
  try {
    world = await createWorld({
      gateways: GATEWAYS,
      seed: options.seed,
      main: project.main,
      environment: { ...ENVIRONMENT, ...upstreamsAt(sandbox.url) },
    })
    return await soak(world, project, options)
  } finally {
    await world?.close()
    project.remove()
    await sandbox.close()
  }
}

async function soak(
  world: World,
  project: ReturnType<typeof copyProject>,
  { durationMs, ratePerSecond, seed, onProgress }: SoakOptions,
): Promise<SoakReport> {
  const random = seededRandom(seed)
  const customers = await Promise.all(
    Array.from({ length: CUSTOMERS }, () => world.customers.create(world.sql, 100_000_000n * VND)),
  )
  const startedMs = performance.now()
  const seconds = () => Math.round((performance.now() - startedMs) / 1000)
  const say = (line: string) => onProgress(`${seconds()} s: ${line}`)
  const avoided = new Set<GatewayProcess>()
  const load = new Load({
    gateways: world.gateways,
    avoided,
    customers,
    random: seededRandom(seed + 1),
    ratePerSecond,
    faultsPerMille: 30,
    secret: world.secret,
  })
  const samples = new Samples({ world, calls: () => load.calls.length, startedMs })
  const events = new Events({ world, project, random, avoided, durationMs, onProgress: say })
  let running = true
  const sampleEveryMs = Math.max(SAMPLE_EVERY_MS_MIN, durationMs / SAMPLES)
  const sampling = every(
    sampleEveryMs,
    () => running,
    async () => {
      await samples.take()
      if (samples.count % 12 === 0) say(`${load.calls.length} calls, ${samples.count} samples`)
    },
  )
  const bank = startBank(world, customers, random, () => running)
  const loading = load.run()
  try {
    await Promise.race([events.run(), sampling])
  } finally {
    running = false
    load.stop()
    await Promise.all([loading, sampling.catch(() => {}), bank.done])
  }
  await settled(world)
  const ended = await Promise.all(world.gateways.map(gateway => gateway.signal('SIGTERM')))
  const stuck = ended.filter(end => end?.code !== 0).map(end => `a gateway exited with ${JSON.stringify(end)}`)
  const books = await checkBooks(world.sql, REPRICED_MODEL, {
    calls: load.calls,
    disturbances: events.disturbances,
    acknowledgedVnd: bank.acknowledgedVnd(),
  })
  await world.sql.unsafe('checkpoint')
  const secrets = [world.secret, UPSTREAM_SECRET, ...customers.map(({ apiKey }) => apiKey)]
  return {
    seconds: seconds(),
    calls: load.calls.length,
    complete: load.calls.filter(({ complete }) => complete).length,
    skipped: load.skipped,
    statuses: countBy(load.calls.map(({ status }) => String(status))),
    faultsAsked: load.calls.filter(({ asked }) => asked !== null).length,
    counts: events.counts,
    transfers: bank.transfers(),
    samples: samples.count,
    samplesMissed: samples.missed,
    books: { ...books, failed: [...books.failed, ...stuck] },
    series: samples.series.map(series => judgeSeries(since(series, durationMs / 2))),
    leaks: secrets.flatMap(text => world.filesWith(text)),
  }
}

async function every(pauseMs: number, isRunning: () => boolean, act: () => Promise<void>): Promise<void> {
  let dueMs = performance.now()
  while (isRunning()) {
    if (performance.now() >= dueMs) {
      dueMs += pauseMs
      await act()
    }
    await sleep(Math.min(200, pauseMs))
  }
}

/** Tops up a customer now and then. The bank notifies one gateway after another until one acknowledges the transfer. */
function startBank(world: World, customers: readonly Customer[], random: Random, isRunning: () => boolean) {
  let [transfers, acknowledgedVnd] = [0, 0]
  const done = every(TRANSFER_EVERY_MS, isRunning, async () => {
    const customer = customers[random(customers.length)] as Customer
    const amountVnd = 20_000 + random(1_000)
    const transfer = await world.customers.transfer(world.sql, customer.accountId, amountVnd).catch(() => null)
    if (transfer === null) return
    transfers++
    for (const gateway of world.gateways.filter(({ ready }) => ready)) {
      const status = await world.customers.notify(gateway.url, transfer).catch(() => 0)
      if (status !== 200) continue
      acknowledgedVnd += amountVnd
      return
    }
  })
  return { done, transfers: () => transfers, acknowledgedVnd: () => acknowledgedVnd }
}

function countBy(values: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(values, value => value)].sort().map(([value, same]) => [value, same.length]),
  )
}
