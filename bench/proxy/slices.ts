/** Benchmarks contenders (the proxies under test), which take turns in short time slices, and summarizes the slices. */

import type { BenchProcess } from './bench-process.ts'
import { type Meter, meterOfCore } from './cpu.ts'
import { type Case, type Contender, SMALL_CALL } from './scenarios.ts'
import type { World } from './world.ts'

/** Measurements from one time slice; CPU is in microseconds per call or per event. */
export interface Slice {
  readonly cpu: number
  readonly postgres: number
  /** CPU of the load generator and of the bench's own upstream. */
  readonly harness: number
  /** How long the measured process waited for its core, divided by how long it ran. */
  readonly wait: number
  /** The share of the slice in which others had the measured process's core, the host included; NaN if unknown. */
  readonly others: number
  readonly perSecond: number
}

/** Summary of all slices of one contender. */
export interface Figures {
  readonly cpuMicroseconds: number
  readonly postgresMicroseconds: number
  /** CPU of the harness; results on disk have this name. */
  readonly toolsMicroseconds: number
  readonly unitsPerSecond: number
  /** Median of `wait` over all slices, disturbed ones included. */
  readonly wait: number
  /** Median of `others` over all slices; absent in older results. */
  readonly others?: number
  readonly slices: number
  /** Number of disturbed slices, which are left out of the medians, unless all are disturbed. */
  readonly disturbed: number
}

/** A row of the benchmark's first table, which shows CPU per call or event. */
export interface ProxyRow extends Figures {
  readonly case: string
  readonly contender: string
  readonly ofReference: number
}

/** A slice is disturbed if others had more than this share of the measured process's core. */
const OTHERS_SHARE_MAX = 0.1
/**
 * Where that is unknown: if the process waited for a core for more than this share of its running time. On a core of its own, its
 * threads also wait for each other: those that collect garbage or compile, for the one that serves calls.
 */
const WAIT_SHARE_MAX = 0.3

export function isCalm({ others, wait }: Slice): boolean {
  return Number.isNaN(others) ? wait <= WAIT_SHARE_MAX : others <= OTHERS_SHARE_MAX
}

/**
 * Summarizes slices by their medians, leaving out disturbed slices. Postgres, the load generator and the upstream work in
 * bursts, so their CPU is averaged instead.
 */
export function figuresOf(slices: readonly Slice[]): Figures {
  const calm = slices.filter(isCalm)
  const counted = calm.length > 0 ? calm : slices
  const of = (figure: keyof Slice) => median(counted.map(slice => slice[figure]))
  return {
    cpuMicroseconds: of('cpu'),
    postgresMicroseconds: mean(counted.map(({ postgres }) => postgres)),
    toolsMicroseconds: mean(counted.map(({ harness }) => harness)),
    unitsPerSecond: of('perSecond'),
    wait: median(slices.map(({ wait }) => wait)),
    others: median(slices.map(({ others }) => others)),
    slices: slices.length,
    disturbed: slices.length - calm.length,
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** The median; NaN if there are no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle] as number
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2
}

/**
 * Measures the CPU of a contender's process (`proxy`), of Postgres, and of the load generator and upstream, while `run` sends
 * calls through the contender.
 */
export async function measureSlice(
  world: World,
  proxy: BenchProcess,
  run: () => Promise<{ readonly units: number; readonly seconds: number }>,
): Promise<Slice> {
  const meters: Meter[] = [await world.meterOf(proxy), world.meterOfPostgres(), world.meterOfHarness()]
  const coreBusy = world.cores === null ? () => Number.NaN : meterOfCore(world.cores.measured)
  const { units, seconds } = await run()
  const busy = coreBusy()
  const [own, postgres, harness] = await Promise.all(meters.map(meter => meter()))
  if (own === undefined || postgres === undefined || harness === undefined) throw new Error('a meter is missing')
  return {
    cpu: own.run / units,
    postgres: postgres.run / units,
    harness: harness.run / units,
    wait: own.wait / own.run,
    others: Math.max(0, busy - own.run) / 1e6 / seconds,
    perSecond: units / seconds,
  }
}

export interface Rotation {
  readonly rounds: number
  readonly sliceMs: number
  /** Warm-up time of each contender before each case. */
  readonly warmUpMs: number
  /** Number of warm-up calls of each contender before the first case. */
  readonly warmUpCalls: number
}

/**
 * V8 gives functions that run once per call to its best compiler after some 17,000 calls (Node 26), and compiling them takes
 * seconds. The reference proxies are faster and would reach that number long before the gateways, so the warm-up is a number of
 * calls, not a time.
 */
export const WARM_UP_CALLS = 20_000
const WARM_UP_SLICE_MS = 500

/** Sends small calls through each contender until V8 has compiled the functions that run once per call. */
export async function warmUp(world: World, contenders: readonly Contender[], { warmUpCalls }: Rotation): Promise<void> {
  const { pace, concurrency } = SMALL_CALL
  await world.harness.setReplies(pace)
  for (const { load, call } of contenders) {
    for (let calls = 0; calls < warmUpCalls; ) {
      calls += (await load.drive(call(SMALL_CALL), { concurrency, milliseconds: WARM_UP_SLICE_MS })).calls
    }
  }
}

/** Runs a case: in each round, every contender in turn gets one slice. */
export async function runCase(
  world: World,
  one: Case,
  contenders: readonly Contender[],
  { rounds, sliceMs, warmUpMs }: Rotation,
): Promise<ReadonlyMap<string, readonly Slice[]>> {
  await world.harness.setReplies(one.pace)
  const calls = contenders.map(({ call }) => call(one))
  const taken = new Map(contenders.map(({ name }) => [name, [] as Slice[]]))
  for (let round = -1; round < rounds; round++) {
    for (const [index, { name, proxy, load }] of contenders.entries()) {
      const slice = await measureSlice(world, proxy, async () => {
        const driven = await load.drive(calls[index] as (typeof calls)[number], {
          concurrency: one.concurrency,
          milliseconds: round < 0 ? warmUpMs : sliceMs,
          spreadMs: one.pace.pauseMs ?? 0,
        })
        return { units: one.per === 'call' ? driven.calls : driven.calls * one.pace.events, seconds: driven.seconds }
      })
      if (round >= 0) taken.get(name)?.push(slice)
    }
  }
  return taken
}
