/** Measures holds, settlements and start-up on the empty database and the one with a year of data, alternating between them. */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type Customer, customersOf, drive, openBenchLedger, quantile, type Times } from '../ledger-load.ts'
import { listening } from '../listening.ts'
import { meterOf, treeOf } from '../proxy/cpu.ts'
import { keyOf } from './rows.ts'
import { type Database, median, WALLETS, type World } from './world.ts'

const CALLERS = 200
const SLICE_SECONDS = 2
const ROUNDS = 6
/** Calls with details like those of the year: smaller rows would go into the gaps at the end of old pages, each into another one. */
const DETAILS = {
  attempts: [{ credential: 'second#1', model: 'model-3', startedMs: 1, endedMs: 900, outcome: 'ok' }],
  tag: 'team-3',
} as const
const STARTS = 5

export interface HotPath {
  /** Each pair is a hold and its settlement. */
  readonly pairsPerSecond: number
  /** CPU time of this process per pair. */
  readonly cpuMicroseconds: number
  /** CPU time of Postgres per pair. */
  readonly postgresMicroseconds: number
  readonly holdMs: number
  readonly settleMs: number
}

/**
 * Measures holds and settlements on one wallet or on a thousand. In the database with a year of data, some of the accounts have
 * many calls, some few and some none.
 */
export async function measureHotPath(world: World, wallets: number): Promise<Record<'empty' | 'year', HotPath>> {
  const both = [world.empty, world.year] as const
  const ledgers = await Promise.all(both.map(({ url, folder }) => openBenchLedger({ url, folder })))
  const customers = await Promise.all(both.map(database => customersIn(database, wallets)))
  const slices = both.map((): HotPath[] => [])
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      for (const index of both.keys()) {
        const slice = await measureSlice(world, ledgers[index]!, customers[index]!)
        // The first round only warms up.
        if (round > 0) slices[index]!.push(slice)
      }
    }
  } finally {
    await Promise.all(ledgers.map(ledger => ledger.close()))
  }
  const [empty, year] = slices.map(all => {
    const of = (figure: keyof HotPath): number => median(all.map(slice => slice[figure]))
    return {
      pairsPerSecond: of('pairsPerSecond'),
      cpuMicroseconds: of('cpuMicroseconds'),
      postgresMicroseconds: of('postgresMicroseconds'),
      holdMs: of('holdMs'),
      settleMs: of('settleMs'),
    }
  }) as [HotPath, HotPath]
  return { empty, year }
}

async function measureSlice(
  world: World,
  ledger: Awaited<ReturnType<typeof openBenchLedger>>,
  customers: readonly Customer[],
): Promise<HotPath> {
  const postgres = meterOf(() => treeOf(world.postmasterPid()))
  const cpu = process.cpuUsage()
  const { pairs, pairsPerSecond, times } = await drive(ledger, customers, {
    seconds: SLICE_SECONDS,
    callers: CALLERS,
    settlement: DETAILS,
  })
  const { user, system } = process.cpuUsage(cpu)
  const middle = (of: keyof Times): number => quantile(times[of], 0.5)
  return {
    pairsPerSecond,
    cpuMicroseconds: (user + system) / pairs,
    postgresMicroseconds: (await postgres()).run / pairs,
    holdMs: middle('hold'),
    settleMs: middle('settle'),
  }
}

/** Picks customers spread evenly over the database's accounts, and so over the ledger's queues: half have an even number. */
function customersIn({ size, url }: Database, wallets: number): Promise<Customer[]> {
  const most = Math.floor(size.accounts / WALLETS)
  const step = most % 2 === 0 ? most - 1 : most
  const keyHashes = Array.from({ length: wallets }, (_, index) => {
    const key = keyOf(1 + index * step, size)
    return createHash('sha256').update(String(key)).digest()
  })
  return customersOf(url, keyHashes)
}

/** Measures the seconds that a gateway takes from the start of its process until it accepts calls. */
export async function measureStarts({ empty, year }: World): Promise<Record<'empty' | 'year', number>> {
  const seconds = { empty: [] as number[], year: [] as number[] }
  for (let turn = 0; turn <= STARTS; turn++) {
    for (const [name, database] of [
      ['empty', empty],
      ['year', year],
    ] as const) {
      const started = performance.now()
      const environment = { DATABASE_URL: database.url, DATA_DIR: database.folder, PORT: '0', LOG_LEVEL: 'info' }
      const gateway = spawn(process.execPath, ['src/start.js', 'serve'], {
        env: { ...process.env, ...environment },
        stdio: ['ignore', 'ignore', 'pipe'],
      })
      await listening(gateway)
      // The first start only fills the compile cache.
      if (turn > 0) seconds[name].push((performance.now() - started) / 1_000)
      gateway.kill('SIGTERM')
      await once(gateway, 'exit')
    }
  }
  return { empty: median(seconds.empty), year: median(seconds.year) }
}
