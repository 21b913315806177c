/** Measures what a second worker adds: calls per second, and the CPU of a call, through one and two workers in turns. */

import { requestBody } from './bodies.ts'
import { meterOf, treeOf } from './cpu.ts'
import { type Call, callOf, type LoadGenerator } from './load.ts'
import { limitCpu, type Quota } from './quota.ts'
import type { Row } from './rows.ts'
import { SMALL_CALL } from './scenarios.ts'
import { NO_DRAIN, type Served, serve } from './serve.ts'
import { median, type Rotation } from './slices.ts'
import type { World } from './world.ts'

/** Calls in flight per worker, so that each worker's batches in Postgres are as large as those of a single one. */
const CALLS_PER_WORKER = 64
const WARM_UP_SLICE_MS = 1_000
/**
 * The share of a core that each worker gets when they are limited. Two cores then have enough left for Postgres, load and
 * upstream, as if those ran elsewhere.
 */
const WORKER_SHARE = 0.25

interface Contender {
  readonly workers: number
  readonly gateway: Served
  readonly load: LoadGenerator
  readonly call: Call
}

/**
 * Measures 1 kB calls through one and two workers: first on all cores, shared with Postgres, load and upstream; then with each
 * worker limited to a quarter of a core, where the system allows that.
 */
export async function measureWorkers(world: World, { rounds, sliceMs, warmUpCalls }: Rotation): Promise<Row[]> {
  await world.harness.setReplies(SMALL_CALL.pace)
  const contenders: Contender[] = []
  for (const workers of [1, 2]) contenders.push(await startWorkers(world, workers))
  const quotas: Quota[] = []
  try {
    for (const { workers, load, call } of contenders) {
      // Two workers never share the connections evenly; the one with fewer must be warm, too.
      for (let calls = 0; calls < 2 * warmUpCalls * workers; ) {
        calls += (await load.drive(call, { concurrency: CALLS_PER_WORKER * workers, milliseconds: WARM_UP_SLICE_MS }))
          .calls
      }
    }
    const shared = await takeTurns(contenders, { rounds, sliceMs })
    const workers = contenders.flatMap(({ gateway }) => treeOf(gateway.pid).slice(1))
    for (const pid of workers) {
      const quota = limitCpu(pid, WORKER_SHARE)
      if (quota !== null) quotas.push(quota)
    }
    if (quotas.length < workers.length) return shared
    const limited = await takeTurns(contenders, { rounds, sliceMs })
    return [...shared, ...limited.map(row => ({ ...row, what: `${row.what}, each a quarter of a core` }))]
  } finally {
    for (const { load, gateway } of contenders) {
      await load.close()
      await gateway.stop()
    }
    for (const quota of quotas) quota.remove()
  }
}

async function startWorkers(world: World, workers: number): Promise<Contender> {
  const { apiKey, environment } = await world.prepare(`workers${workers}`)
  const cores = world.cores?.all ?? null
  const gateway = await serve({ environment: { ...environment, ...NO_DRAIN, WORKERS: String(workers) }, cores })
  const body = requestBody('messages', { model: 'claude-opus-5', bytes: SMALL_CALL.bytes, streamed: false })
  const call = callOf({ url: gateway.url, path: '/v1/messages', apiKey, body })
  return { workers, gateway, load: world.harness.loadGenerator(gateway.url), call }
}

/** Gives each contender a slice per round. The figures are medians over slices. */
async function takeTurns(
  contenders: readonly Contender[],
  { rounds, sliceMs }: Pick<Rotation, 'rounds' | 'sliceMs'>,
): Promise<Row[]> {
  const slices = contenders.map(() => ({ callsPerSecond: [] as number[], cpuMicroseconds: [] as number[] }))
  for (let round = -1; round < rounds; round++) {
    for (const [index, { workers, gateway, load, call }] of contenders.entries()) {
      const meter = meterOf(() => treeOf(gateway.pid))
      const { calls, seconds } = await load.drive(call, {
        concurrency: CALLS_PER_WORKER * workers,
        milliseconds: sliceMs,
      })
      const { run } = await meter()
      if (round < 0) continue
      slices[index]?.callsPerSecond.push(calls / seconds)
      slices[index]?.cpuMicroseconds.push(run / calls)
    }
  }
  return contenders.map(({ workers }, index) => ({
    what: `WORKERS=${workers}`,
    contender: 'gateway',
    figures: {
      callsPerSecond: median(slices[index]?.callsPerSecond ?? []),
      cpuMicroseconds: median(slices[index]?.cpuMicroseconds ?? []),
    },
  }))
}
