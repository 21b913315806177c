/** Measures what must not grow: processes' memory and descriptors, connections, tables, indexes, dead rows, spools and logs. */

import { globSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { childrenOf } from '../fault/support/child.ts'
import type { GatewayProcess } from '../fault/support/gateways.ts'
import type { World } from '../fault/support/world.ts'
import type { Bound, Point, Series } from './slope.ts'

const MB = 2 ** 20
/** A table with at least this many rows is judged by its size per row, because its size may grow with the number of rows. */
const MANY_ROWS = 1_000

/**
 * How much a series may grow, by what it measures. Memory may grow by 24 MB, because V8's heap grows by some 20 MB in its first
 * minutes.
 */
const BOUNDS = {
  memory: { perHour: 0.1, floor: 24 },
  descriptors: { perHour: 0.1, floor: 10 },
  backendMemory: { perHour: 0.1, floor: 2 },
  connections: { perHour: 0.1, floor: 2 },
  tables: { perHour: 0.1, floor: 2 },
  bytesPerRow: { perHour: 0.1, floor: 60 },
  dead: { perHour: 0.5, floor: 5_000 },
  spool: { perHour: 0.1, floor: 1 },
  logPerCall: { perHour: 0.1, floor: 100 },
} as const satisfies Readonly<Record<string, Bound>>

interface Line extends Bound {
  readonly name: string
  readonly unit: string
  /** Points by the id of the measured process. Whatever no single process owns, such as a table, has its points under 0. */
  readonly pointsByProcess: Map<number, Point[]>
}

export interface SampleSource {
  readonly world: World
  readonly calls: () => number
  readonly startedMs: number
}

export class Samples {
  readonly #lines = new Map<string, Line>()
  readonly #source: SampleSource
  #count = 0
  #missed = 0

  constructor(source: SampleSource) {
    this.#source = source
  }

  get count(): number {
    return this.#count
  }

  /** Number of samples that are missing because Postgres did not respond. */
  get missed(): number {
    return this.#missed
  }

  get series(): readonly Series[] {
    return [...this.#lines.values()].map(({ pointsByProcess, ...line }) => ({
      ...line,
      segments: [...pointsByProcess.values()],
    }))
  }

  async take(): Promise<void> {
    const { world } = this.#source
    const { gateways, cluster } = world
    this.#count++
    for (const gateway of gateways) if (gateway.ready) this.#takeGateway(gateway)
    const processes = cluster.processes()
    this.#add(
      'Postgres: memory per process',
      'MB',
      BOUNDS.backendMemory,
      sum(processes.map(memoryMb)) / processes.length,
    )
    this.#add('Postgres: log', 'MB', BOUNDS.spool, statSync(cluster.logFile).size / MB)
    await this.#takeDatabase().catch(() => {
      this.#missed++
    })
  }

  #takeGateway(gateway: GatewayProcess): void {
    const { name, pid, dataDir, logFile } = gateway
    const workers = childrenOf(pid)
    for (const [role, each] of [['supervisor', pid] as const, ...workers.map(worker => ['workers', worker] as const)]) {
      this.#add(`${name} ${role}: memory`, 'MB', BOUNDS.memory, memoryMb(each), each)
      this.#add(`${name} ${role}: descriptors`, '', BOUNDS.descriptors, descriptors(each), each)
    }
    const spool = globSync('spool/**/*', { cwd: dataDir, withFileTypes: true }).filter(entry => entry.isFile())
    this.#add(`${name}: spool`, 'MB', BOUNDS.spool, sum(spool.map(file => size(join(file.parentPath, file.name)))) / MB)
    this.#add(`${name}: spool files`, '', BOUNDS.descriptors, spool.length)
    const calls = this.#source.calls()
    if (calls > 0) this.#add(`${name}: log per call`, 'B', BOUNDS.logPerCall, size(logFile) / calls)
  }

  async #takeDatabase(): Promise<void> {
    const { sql, gateways } = this.#source.world
    // Counts connections per worker, because more workers run during a redeploy.
    const workers = sum(gateways.map(({ pid }) => childrenOf(pid).length))
    const [connections] = await sql.unsafe(
      `select count(*)::integer as n from pg_stat_activity where application_name like 'gateway%'`,
    )
    this.#add('Postgres: connections per worker', '', BOUNDS.connections, connections?.n / workers)
    // Counts rows as inserted minus deleted, because Postgres updates its estimate of live rows only now and then.
    const tables = await sql.unsafe(
      `select relname as name, (n_tup_ins - n_tup_del)::double precision as rows, n_dead_tup::double precision as dead,
              pg_table_size(relid)::double precision as heap, pg_indexes_size(relid)::double precision as indexes
         from pg_stat_user_tables`,
    )
    for (const { name, rows, heap, indexes } of tables) {
      for (const [what, bytes] of [
        ['table', heap],
        ['indexes', indexes],
      ] as const) {
        if (rows < MANY_ROWS) this.#add(`${name}: ${what}`, 'MB', BOUNDS.tables, bytes / MB)
        else this.#add(`${name}: ${what} per row`, 'B', BOUNDS.bytesPerRow, bytes / rows)
      }
    }
    this.#add('Postgres: dead rows', '', BOUNDS.dead, sum(tables.map(({ dead }) => dead)))
  }

  #add(name: string, unit: string, bound: Bound, value: number, processId = 0): void {
    if (!Number.isFinite(value)) return
    const line = this.#lines.get(name) ?? { name, unit, ...bound, pointsByProcess: new Map<number, Point[]>() }
    this.#lines.set(name, line)
    const points = line.pointsByProcess.get(processId) ?? []
    line.pointsByProcess.set(processId, points)
    points.push({ atMs: performance.now() - this.#source.startedMs, value })
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

/** Private memory of a process, without what it shares with others or with files; NaN if the process has just ended. */
function memoryMb(pid: number): number {
  try {
    return Number(/^RssAnon:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
  } catch {
    return Number.NaN
  }
}

function descriptors(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length
  } catch {
    return Number.NaN
  }
}

/** Size of a file; 0 if it has just been removed. */
function size(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
