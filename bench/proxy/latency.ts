/** Measures added latency: 1 kB calls at a fixed rate, compared with the same calls sent directly to the upstream. */

import type { Row } from './rows.ts'
import { contendersOf, SMALL_CALL } from './scenarios.ts'
import { isCalm, measureSlice, type Slice } from './slices.ts'
import type { World } from './world.ts'

export interface LatencyOptions {
  readonly rounds: number
  readonly perSecond: number
  readonly milliseconds: number
}

interface Taken {
  readonly slice: Slice
  readonly times: readonly number[]
}

/**
 * Measures how many milliseconds each contender adds to a direct call to the upstream. Discards rounds in which the contender
 * had to wait for its core.
 */
export async function measureLatency(
  world: World,
  { rounds, perSecond, milliseconds }: LatencyOptions,
): Promise<Row[]> {
  await world.harness.setReplies(SMALL_CALL.pace)
  const contenders = contendersOf(world)
    .filter(({ name }) => /^(bare, chat|(base: )?chat → chat)$/.test(name))
    .map(({ name, proxy, load, call }) => ({ name, proxy, load, call: call(SMALL_CALL), taken: [] as Taken[] }))
  const [bare] = contenders
  if (bare === undefined) return []
  const direct = {
    name: 'upstream',
    // Direct calls pass through no measured process, but `measureSlice` needs one: meter the bare proxy, which is idle
    // meanwhile.
    proxy: world.bare,
    load: world.harness.loadGenerator(world.harness.upstreamUrl),
    call: bare.call,
    taken: [] as Taken[],
  }
  for (let round = -1; round < rounds; round++) {
    for (const { proxy, load, call, taken } of [direct, ...contenders]) {
      let times: readonly number[] = []
      const slice = await measureSlice(world, proxy, async () => {
        times = await load.pace(call, { perSecond, milliseconds })
        return { units: times.length, seconds: milliseconds / 1000 }
      })
      if (round >= 0) taken.push({ slice, times })
    }
  }
  await direct.load.close()
  const directTimes = sorted(direct.taken)
  return contenders.map(({ name, taken }) => {
    const calm = taken.filter(({ slice }) => isCalm(slice))
    const times = sorted(calm.length > 0 ? calm : taken)
    return {
      what: `latency added at ${perSecond} calls/s`,
      contender: name,
      figures: {
        p50Ms: quantile(times, 0.5) - quantile(directTimes, 0.5),
        p99Ms: quantile(times, 0.99) - quantile(directTimes, 0.99),
        disturbed: taken.length - calm.length,
      },
    }
  })
}

function sorted(taken: readonly Taken[]): number[] {
  return taken.flatMap(({ times }) => times).sort((left, right) => left - right)
}

function quantile(times: readonly number[], share: number): number {
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? Number.NaN
}
