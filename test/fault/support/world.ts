/** The environment of a fault test: a private Postgres, gateway processes, the provider behind them, and customers. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sql } from '../../../src/lib/database.ts'
import { seededRandom } from '../../support/random.ts'
import { Relay } from '../../support/relay.ts'
import { Client } from './client.ts'
import { Cluster } from './cluster.ts'
import { Customers } from './customers.ts'
import { GatewayProcess } from './gateways.ts'
import { Oracle, type OracleOptions } from './oracle.ts'
import { eventually } from './wait.ts'

export interface WorldOptions {
  readonly gateways: number
  readonly environment?: Readonly<Record<string, string>>
  readonly settings?: Readonly<Record<string, string>>
  readonly oracle?: Partial<OracleOptions>
  /** Whether gateways connect to Postgres through a relay. */
  readonly relayed?: boolean
  readonly seed?: number
  readonly clientTimeoutMs?: number
  /** Data folder of Postgres; by default, a new one. */
  readonly clusterFolder?: string
  /** The program that gateways run, such as one in a modified copy of the project; by default, this project's own. */
  readonly main?: string
}

export interface World {
  readonly folder: string
  readonly cluster: Cluster
  readonly relay: Relay | null
  readonly sql: Sql
  readonly customers: Customers
  readonly oracle: Oracle
  readonly client: Client
  readonly gateways: readonly GatewayProcess[]
  /** Adds a gateway on the same database, without starting it. */
  add(name: string, environment?: Readonly<Record<string, string>>): Promise<GatewayProcess>
  /** Included in every prompt; must never show up anywhere but in the gateway, the provider and the client. */
  readonly secret: string
  /** Finds files that contain this text, such as the secret. */
  filesWith(text: string): string[]
  close(): Promise<void>
}

export async function createWorld(options: WorldOptions): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-fault-'))
  const seed = options.seed ?? 1
  const cluster = await Cluster.createMigrated(options.clusterFolder ?? join(folder, 'cluster'), options.settings)
  const relay = options.relayed ? await Relay.start(cluster.port) : null
  const sql = cluster.open(8)
  const customers = new Customers()
  const oracle = await Oracle.start({
    random: seededRandom(seed + 1),
    faultsPerMille: 0,
    pauseMsMax: 0,
    events: 3,
    ...options.oracle,
  })
  const client = new Client({ connections: 512, timeoutMs: options.clientTimeoutMs ?? 40_000 })
  const gatewaysFolder = join(folder, 'gateways')
  mkdirSync(gatewaysFolder)
  const databaseUrl = relay === null ? cluster.url : cluster.urlAt(relay.port)
  const gateways: GatewayProcess[] = []
  const add: World['add'] = async (name, environment = {}) => {
    const gateway = await GatewayProcess.create({
      name,
      folder: gatewaysFolder,
      ...(options.main !== undefined && { main: options.main }),
      environment: {
        DATABASE_URL: databaseUrl,
        ...customers.environment,
        ...oracle.environment(name),
        ...options.environment,
        ...environment,
      },
    })
    gateways.push(gateway)
    return gateway
  }
  for (let index = 0; index < options.gateways; index++) await add(`g${index}`)
  const world: World = {
    folder,
    cluster,
    relay,
    sql,
    customers,
    oracle,
    client,
    gateways,
    add,
    secret: `canary${seed}x${process.pid}`,
    filesWith: text => filesWith(text, [folder, cluster.folder]),
    async close() {
      await Promise.all(gateways.map(gateway => gateway.signal('SIGKILL')))
      await client.close()
      await oracle.close()
      await sql.end({ timeout: 1 })
      await relay?.close()
      // After a failure, the folder can be kept for inspection.
      if (process.env.KEEP === 'yes') {
        cluster.kill(true)
        process.stderr.write(`kept: ${folder}\n`)
        return
      }
      await cluster.remove()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  const started = await Promise.all(gateways.map(gateway => gateway.start()))
  if (!started.includes(false)) return world
  const { lastRun, logFile } = gateways[started.indexOf(false)] as GatewayProcess
  await world.close()
  throw new Error(`a gateway did not start; the end of ${logFile} says:\n${lastRun?.lastWords}`)
}

function filesWith(text: string, folders: readonly string[]): string[] {
  try {
    const found = execFileSync('grep', ['-rlaF', '--', text, ...new Set(folders)], { encoding: 'utf8' })
    return found.split('\n').filter(Boolean)
  } catch (error) {
    // grep exits with 1 if nothing matches.
    if ((error as { status?: number }).status === 1) return []
    throw error
  }
}

/** Waits until no holds are left. By then, the database has received every spooled settlement. */
export async function settled(world: Pick<World, 'sql'>, timeoutMs = 60_000): Promise<void> {
  const look = async () => (await world.sql.unsafe('select count(*)::integer as n from hold'))[0]?.n as number
  await eventually(look, holds => holds === 0, { timeoutMs })
}
