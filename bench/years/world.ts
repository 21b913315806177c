/** Runs a Postgres server with two databases, `year` with a year of data and `empty` with next to none, and measures both. */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/app/embedded-postgres.ts'
import { migrate } from '../../src/ledger/migrate.ts'
import { openDatabase, type Sql } from '../../src/lib/database.ts'
import { meterOf, treeOf } from '../proxy/cpu.ts'
import { fillYear, type Size } from './rows.ts'
import { sumYear } from './sums.ts'

export interface Database {
  readonly name: string
  readonly url: string
  readonly sql: Sql
  /** Where gateways that use this database keep their secrets and spools. */
  readonly folder: string
  /** Numbers of accounts, keys and calls in it. */
  readonly size: Size
}

export interface World {
  /** Has `WALLETS` accounts that have not made a call yet. */
  readonly empty: Database
  readonly year: Database
  readonly folder: string
  postmasterPid(): number
  /** Adds a database without tables. `size` is what the caller will put into it; by default, the same as in `year`. */
  add(name: string, size?: Size): Promise<Database>
}

/** Postgres settings as an operator would choose them for this machine; the project's own defaults are for development. */
const SETTINGS = { shared_buffers: '2GB', max_wal_size: '4GB', effective_cache_size: '8GB', max_connections: '200' }
const STATEMENT_TIMEOUT_MS = 3 * 3_600_000
/** Number of accounts in `empty`, each with a wallet. The bench makes its calls with as many wallets in both databases. */
export const WALLETS = 1_000

/**
 * Fills the databases with fsync off, restarts Postgres with fsync on, runs `work`, and removes everything. If
 * `BENCH_YEARS_FOLDER` names a folder, the databases are kept there and filled only once.
 */
export async function withWorld(asked: Size, work: (world: World) => Promise<void>): Promise<void> {
  const kept = process.env.BENCH_YEARS_FOLDER
  const folder = kept ?? mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  const note = join(folder, 'filled.json')
  const isFilled = existsSync(note)
  const size = isFilled ? (JSON.parse(readFileSync(note, 'utf8')) as Size) : asked
  let postgres: EmbeddedPostgres | null = null
  const opened: Sql[] = []
  const databaseOf = (name: string, of: Size): Database => {
    const own = join(folder, name)
    mkdirSync(own, { recursive: true })
    const url = (postgres as EmbeddedPostgres).url.replace(/\/[^/]*$/, `/${name}`)
    const sql = openDatabase({
      url,
      name: 'bench',
      connectionsMax: 2,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      connectTimeoutMs: 60_000,
    })
    opened.push(sql)
    return { name, url, sql, folder: own, size: of }
  }
  const close = async (): Promise<void> => {
    await Promise.all(opened.splice(0).map(sql => sql.end({ timeout: 5 })))
    await postgres?.stop()
  }
  const create = async (name: string): Promise<void> => {
    const { url } = postgres as EmbeddedPostgres
    const admin = openDatabase({
      url,
      name: 'bench',
      connectionsMax: 1,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      connectTimeoutMs: 60_000,
    })
    await admin.unsafe(`drop database if exists ${name} with (force)`)
    await admin.unsafe(`create database ${name}`)
    await admin.end()
  }
  const none = { accounts: WALLETS, keys: WALLETS, calls: 0 }
  try {
    if (!isFilled) {
      postgres = await startEmbeddedPostgres({ dataDir: folder, durable: false, settings: SETTINGS })
      for (const [name, of] of [
        ['empty', none],
        ['year', size],
      ] as const) {
        await create(name)
        await fill(databaseOf(name, of))
      }
      await close()
      writeFileSync(note, JSON.stringify(size))
    }
    postgres = await startEmbeddedPostgres({ dataDir: folder, durable: true, settings: SETTINGS })
    const [empty, year] = [databaseOf('empty', none), databaseOf('year', size)]
    await Promise.all([migrate(empty.sql), migrate(year.sql)])
    await work({
      empty,
      year,
      folder,
      postmasterPid: () => Number(readFileSync(join(folder, 'postgres/data/postmaster.pid'), 'utf8').split('\n')[0]),
      async add(name, of = size) {
        await create(name)
        return databaseOf(name, of)
      },
    })
  } finally {
    await close()
    if (kept === undefined) rmSync(folder, { recursive: true, force: true })
  }
}

async function fill({ name, url, sql, size }: Database): Promise<void> {
  await migrate(sql)
  const filling = openDatabase({
    url,
    name: 'bench',
    connectionsMax: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    connectTimeoutMs: 60_000,
  })
  const started = performance.now()
  const seconds = (): string => ((performance.now() - started) / 1_000).toFixed(0)
  await fillYear(filling, size, url)
  const filled = seconds()
  await sumYear(filling)
  await filling.unsafe('update account set is_operator = true where account_id = 1')
  await filling.end()
  console.log(`${name}: ${JSON.stringify(size)}, filled in ${filled} s, summed in ${seconds()} s`)
}

export interface Took {
  readonly seconds: number
  /** CPU time of Postgres and the measured process. On a busy machine, prefer this figure to `seconds`. */
  readonly cpuSeconds: number
}

/** Runs `work` and measures it. `processId` is the process that does the work, apart from Postgres. */
export async function measure(
  { postmasterPid }: Pick<World, 'postmasterPid'>,
  work: () => Promise<unknown>,
  processId = process.pid,
): Promise<Took> {
  const used = meterOf(() => [processId, ...treeOf(postmasterPid())])
  const started = performance.now()
  await work()
  return { seconds: (performance.now() - started) / 1_000, cpuSeconds: (await used()).run / 1e6 }
}

export function describe({ seconds, cpuSeconds }: Took): string {
  return `${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU`
}

export function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN
}
