/** What a run needs: Postgres, an upstream, the references, and the gateway of this tree and of another revision. */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/app/embedded-postgres.ts'
import { type Role, startRole } from './role.ts'

const ROOT = join(import.meta.dirname, '..', '..')
export interface Ticks {
  /** Of the server and its children. */
  readonly postgres: number
  /** Of all processes of this run, Postgres among them. */
  readonly own: number
  /** Of the whole machine. */
  readonly machine: number
}

/** Of Node, as a gateway of this tree runs in production. */
export const FLAGS = ['--min-semi-space-size=16']
/** Microseconds of a tick of /proc/<pid>/stat. */
export const TICK_US = 10_000

export interface GatewayUnderTest {
  readonly role: Role
  readonly apiKey: string
}

export interface World {
  readonly folder: string
  readonly upstream: Role
  readonly bare: Role
  readonly pipe: Role
  readonly gateway: GatewayUnderTest
  /** The other revision; null without one. */
  readonly base: GatewayUnderTest | null
  /** Another gateway of this tree, on a database of its own. */
  startGateway(name: string): Promise<GatewayUnderTest>
  /** A database of its own, with tables and a key; the environment that a gateway needs for it. */
  prepare(name: string, root?: string): Promise<{ apiKey: string; environment: Record<string, string> }>
  /** CPU so far, in ticks of 10 ms; zeros where /proc is not there. */
  ticks(): Ticks
  stop(): Promise<void>
}

export interface WorldOptions {
  /** A revision to compare with. */
  readonly baseRef: string | null
  /** Or this tree with other variables in its environment, such as METRICS_PORT=0. */
  readonly baseEnvironment?: Readonly<Record<string, string>> | null
}

export async function openWorld({ baseRef, baseEnvironment = null }: WorldOptions): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  const server = await startEmbeddedPostgres({ dataDir: folder })
  const roles: Role[] = []
  const start = async (name: string, options: Parameters<typeof startRole>[1] = {}): Promise<Role> => {
    const role = await startRole(name, { logFile: join(folder, `${name}.log`), ...options })
    roles.push(role)
    return role
  }
  const upstream = await start('upstream')
  const startGateway = async (
    name: string,
    root = ROOT,
    changes: Readonly<Record<string, string>> = {},
  ): Promise<GatewayUnderTest> => {
    const { apiKey, environment } = await prepare(name, root)
    const role = await start('gateway', {
      environment: { ...environment, ...changes },
      root,
      flags: [...(root === ROOT ? FLAGS : []), '--expose-gc'],
      logFile: join(folder, `${name}.log`),
    })
    return { role, apiKey }
  }
  const prepare = async (name: string, root = ROOT) => {
    const databaseUrl = await createDatabase(server, name)
    const dataDir = join(folder, `${name}-data`)
    mkdirSync(dataDir)
    const prepared = execFileSync(process.execPath, [join(root, 'bench', 'proxy', 'prepare.ts')], {
      cwd: root,
      env: { ...process.env, DATABASE_URL: databaseUrl },
      encoding: 'utf8',
    })
    const { apiKey, peppers } = JSON.parse(prepared) as { apiKey: string; peppers: string }
    const environment = {
      PORT: '0',
      DATA_DIR: dataDir,
      DATABASE_URL: databaseUrl,
      KEY_PEPPERS: peppers,
      UPSTREAM_ANTHROPIC_BASE_URL: upstream.url,
      UPSTREAM_ANTHROPIC_API_KEY: 'key',
      UPSTREAM_OPENAI_BASE_URL: `${upstream.url}/v1`,
      UPSTREAM_OPENAI_API_KEY: 'key',
    }
    return { apiKey, environment }
  }
  const baseRoot = baseRef === null ? null : checkOut(baseRef, join(folder, 'base'))
  const stop = async () => {
    for (const role of roles.reverse()) await role.stop().catch(() => {})
    await server.stop()
    if (baseRoot !== null) execFileSync('git', ['worktree', 'remove', '--force', baseRoot], { cwd: ROOT })
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    return {
      folder,
      upstream,
      bare: await start('bare', { environment: { UPSTREAM_URL: upstream.url }, flags: ['--expose-gc'] }),
      pipe: await start('pipe', { environment: { UPSTREAM_URL: upstream.url } }),
      gateway: await startGateway('gateway'),
      base:
        baseRoot === null && baseEnvironment === null
          ? null
          : await startGateway('base', baseRoot ?? ROOT, baseEnvironment ?? {}),
      startGateway: name => startGateway(name),
      prepare,
      ticks: () => countTicks(folder),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function createDatabase(server: EmbeddedPostgres, name: string): Promise<string> {
  const sql = postgres(server.url, { max: 1, onnotice: () => {} })
  await sql.unsafe(`create database "bench_${name}"`)
  await sql.end()
  const url = new URL(server.url)
  url.pathname = `/bench_${name}`
  return url.href
}

/** The sources of a revision, with the packages and the roles of this tree. */
function checkOut(ref: string, folder: string): string {
  execFileSync('git', ['worktree', 'add', '--detach', '--quiet', folder, ref], { cwd: ROOT })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const name of ['gateway.ts', 'role.ts', 'prepare.ts']) {
    cpSync(join(ROOT, 'bench', 'proxy', name), join(folder, 'bench', 'proxy', name))
  }
  return folder
}

function countTicks(folder: string): Ticks {
  const [server] = readFileSync(join(folder, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')
  const self = String(process.pid)
  let postgresTicks = 0
  let ownTicks = 0
  for (const pid of processIds()) {
    const stat = statOf(pid)
    if (stat === null) continue
    if (pid === server || stat.parent === server) postgresTicks += stat.ticks
    else if (pid === self || stat.parent === self) ownTicks += stat.ticks
  }
  return { postgres: postgresTicks, own: ownTicks + postgresTicks, machine: machineTicks() }
}

/** Busy time of all processors. */
function machineTicks(): number {
  try {
    const [, user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'utf8').split(/\s+/, 10)
    return [user, nice, system, irq, softirq, steal].reduce((sum, ticks) => sum + Number(ticks), 0)
  } catch {
    return 0
  }
}

export function processIds(): string[] {
  try {
    return readdirSync('/proc').filter(name => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** Null for a process that has ended. */
export function statOf(pid: string): { parent: string; ticks: number } | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return { parent: fields[1] as string, ticks: Number(fields[11]) + Number(fields[12]) }
  } catch {
    return null
  }
}
