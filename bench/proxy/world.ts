/**
 * Starts everything that a bench run needs: Postgres, the load generator, the upstream, the proxies to compare with (bare,
 * limit, pipe), a gateway of this source tree and, if asked for, a gateway of another revision.
 */

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import postgres from 'postgres'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/app/embedded-postgres.ts'
import { type BenchProcess, startBenchProcess } from './bench-process.ts'
import { type Cores, findCores, pinSelf } from './cores.ts'
import { HAS_SCHEDSTAT, type Meter, meterOf, treeOf } from './cpu.ts'
import { type Harness, startHarness } from './harness.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const GATEWAY = 'http://gateway.invalid'

/** Node flags that this source tree's gateway runs with in production. */
export const { flags: FLAGS } = launchOf(ROOT)

export interface GatewayUnderTest {
  readonly proxy: BenchProcess
  readonly apiKey: string
}

export interface World {
  /** Lines printed above the table: how the run was measured. */
  readonly setup: readonly string[]
  readonly cores: Cores | null
  readonly harness: Harness
  /** The proxy that gateways are compared with: Fastify and undici. */
  readonly bare: BenchProcess
  /** The fastest HTTP proxy that Node can run: node:http and undici's dispatch. */
  readonly limit: BenchProcess
  /** Passes bytes between two sockets, without HTTP. */
  readonly pipe: BenchProcess
  readonly gateway: GatewayUnderTest
  /** The gateway of the revision to compare with; null if there is none. */
  readonly base: GatewayUnderTest | null
  startBare(): Promise<BenchProcess>
  /** Starts another gateway, of this tree or of the other revision, with its own database. */
  startGateway(name: string, of?: 'this' | 'base'): Promise<GatewayUnderTest>
  /** Creates a database with tables and an API key; resolves with the environment of a gateway that uses it. */
  prepare(name: string, of?: 'this' | 'base'): Promise<Prepared>
  /** Starts measuring the CPU time of a gateway or reference proxy. */
  meterOf(proxy: BenchProcess): Promise<Meter>
  /** Starts measuring the CPU time of Postgres. The meter reads zero if the system does not report it. */
  meterOfPostgres(): Meter
  /** Starts measuring the CPU time of the load generator and the upstream; again zero if the system does not report it. */
  meterOfHarness(): Meter
  stop(): Promise<void>
}

export interface Prepared {
  readonly apiKey: string
  /** The gateway's environment variables: NODE_ENV=production, and everything that it requires. */
  readonly environment: Readonly<Record<string, string>>
  readonly root: string
}

export interface WorldOptions {
  /** The revision to compare with; null for none. */
  readonly baseRef: string | null
  /**
   * For comparing this tree with itself instead of with a revision: environment variables that only the second gateway gets, such
   * as METRICS_PORT=0.
   */
  readonly baseEnvironment?: Readonly<Record<string, string>> | null
  /** Whether to run the load generator and the upstream in Node even if there is a C compiler. */
  readonly nodeHarness?: boolean
}

export async function openWorld({
  baseRef,
  baseEnvironment = null,
  nodeHarness = false,
}: WorldOptions): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  const cores = findCores()
  if (cores !== null) pinSelf(cores.others)
  const server = await startEmbeddedPostgres({ dataDir: folder })
  const stops: (() => Promise<void>)[] = [() => server.stop()]
  const stop = async () => {
    for (const each of stops.splice(0).reverse()) await each().catch(() => {})
    if (cores !== null) pinSelf(cores.all)
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const harness = await startHarness({ folder, cores: cores?.others ?? null, node: nodeHarness })
    stops.push(() => harness.stop())
    const start = async (
      name: string,
      options: Parameters<typeof startBenchProcess>[1] = {},
    ): Promise<BenchProcess> => {
      const logFile = join(folder, `${name}.log`)
      const proxy = await startBenchProcess(name, { logFile, cores: cores?.measured ?? null, ...options })
      stops.push(() => proxy.stop())
      return proxy
    }
    const baseRoot = baseRef === null ? null : checkOut(baseRef, join(folder, 'base'))
    if (baseRoot !== null) {
      stops.push(async () => {
        execFileSync('git', ['worktree', 'remove', '--force', baseRoot], { cwd: ROOT })
      })
    }
    const prepare = async (name: string, of: 'this' | 'base' = 'this'): Promise<Prepared> => {
      const root = of === 'base' ? (baseRoot ?? ROOT) : ROOT
      const settings = of === 'base' ? (baseEnvironment ?? {}) : {}
      const { apiKey, environment } = await prepareGateway({
        name,
        root,
        server,
        folder,
        upstream: harness.upstreamUrl,
        settings,
      })
      return { apiKey, environment: { ...environment, ...launchOf(root).environment, ...settings }, root }
    }
    const startGateway = async (name: string, of: 'this' | 'base' = 'this'): Promise<GatewayUnderTest> => {
      const { apiKey, environment, root } = await prepare(name, of)
      const proxy = await start('gateway', {
        environment,
        root,
        flags: [...launchOf(root).flags, '--expose-gc'],
        logFile: join(folder, `${name}.log`),
        kill: true,
      })
      return { proxy, apiKey }
    }
    const environment = { UPSTREAM_URL: harness.upstreamUrl, NODE_ENV: 'production' }
    const startBare = () => start('bare', { environment, flags: ['--expose-gc'] })
    return {
      setup: setupLines(cores, harness),
      cores,
      harness,
      bare: await startBare(),
      limit: await start('limit', { environment }),
      pipe: await start('pipe', { environment }),
      gateway: await startGateway('gateway'),
      base: baseRoot === null && baseEnvironment === null ? null : await startGateway('base', 'base'),
      startBare,
      startGateway,
      prepare,
      meterOf: proxy => meterOfProcess(proxy),
      meterOfPostgres: () => meterOf(() => treeOf(postmasterOf(folder))),
      meterOfHarness: () => meterOf(() => harness.pids),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Reads the Node flags from the package script that starts a gateway. */
interface Launch {
  readonly flags: readonly string[]
  readonly environment: Readonly<Record<string, string>>
}

/** How a source tree starts its gateway in production: Node flags and environment variables, from its `gateway` script. */
function launchOf(root: string): Launch {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [variables = '', command = ''] = (scripts.gateway ?? '').split(/\bnode /)
  return {
    flags: command.match(/--\S+/g) ?? [],
    environment: parseEnv(variables.replaceAll(' ', '\n')) as Record<string, string>,
  }
}

async function meterOfProcess(proxy: BenchProcess): Promise<Meter> {
  if (HAS_SCHEDSTAT) return meterOf(() => [proxy.pid])
  const before = await proxy.cpuMicroseconds()
  return async () => ({ run: (await proxy.cpuMicroseconds()) - before, wait: 0 })
}

function setupLines(cores: Cores | null, { name }: Harness): string[] {
  const version = (dependency: string) =>
    JSON.parse(readFileSync(join(ROOT, 'node_modules', dependency, 'package.json'), 'utf8')).version
  return [
    `bare: Fastify ${version('fastify')} and undici ${version('undici-7')}, \`request\`; limit: node:http and its \`dispatch\``,
    `load and upstream: ${name}`,
    cores === null
      ? 'not pinned to cores'
      : `measured processes on core ${cores.measured}; load, upstream and Postgres on ${cores.others}`,
    `CPU: ${HAS_SCHEDSTAT ? "all threads, by the scheduler's count" : "each process's own account; Postgres, load and upstream unknown"}`,
  ]
}

/** The company's details, which a gateway in production requires. */
const COMPANY = {
  COMPANY_NAME: 'Bench',
  COMPANY_ADDRESS: '1 Lê Lợi, TP. Hồ Chí Minh',
  COMPANY_TAX_CODE: '0302712571',
  SUPPORT_EMAIL: 'help@example.com',
}

interface Preparation {
  readonly name: string
  readonly root: string
  readonly server: EmbeddedPostgres
  readonly folder: string
  readonly upstream: string
  readonly settings: Readonly<Record<string, string>>
}

async function prepareGateway({ name, root, server, folder, upstream, settings }: Preparation) {
  const databaseUrl = await createDatabase(server, name)
  const dataDir = join(folder, `${name}-data`)
  mkdirSync(dataDir)
  const prepared = execFileSync(process.execPath, [join(root, 'bench', 'proxy', 'prepare.ts')], {
    cwd: root,
    env: { ...process.env, ...settings, DATABASE_URL: databaseUrl },
    encoding: 'utf8',
  })
  const { apiKey, peppers, encryption } = JSON.parse(prepared) as Record<'apiKey' | 'peppers' | 'encryption', string>
  const environment = {
    NODE_ENV: 'production',
    PUBLIC_URL: GATEWAY,
    ...COMPANY,
    PORT: '0',
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    KEY_PEPPERS: peppers,
    KEY_ENCRYPTION_KEYS: encryption,
    UPSTREAM_ANTHROPIC_BASE_URL: upstream,
    UPSTREAM_ANTHROPIC_API_KEY: 'key',
    UPSTREAM_OPENAI_BASE_URL: `${upstream}/v1`,
    UPSTREAM_OPENAI_API_KEY: 'key',
    UPSTREAM_ZHIPUAI_BASE_URL: `${upstream}/v1`,
    UPSTREAM_ZHIPUAI_API_KEY: 'key',
  }
  return { apiKey, environment }
}

async function createDatabase(server: EmbeddedPostgres, name: string): Promise<string> {
  const sql = postgres(server.url, { max: 1, onnotice: () => {} })
  await sql.unsafe(`create database "bench_${name}"`)
  await sql.end()
  const url = new URL(server.url)
  url.pathname = `/bench_${name}`
  return url.href
}

/** Checks out another revision. It runs with this tree's packages, and with this tree's code to prepare and start a gateway. */
function checkOut(ref: string, folder: string): string {
  execFileSync('git', ['worktree', 'add', '--detach', '--quiet', folder, ref], { cwd: ROOT })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  for (const name of ['gateway.ts', 'serve-process.ts', 'prepare.ts']) {
    cpSync(join(ROOT, 'bench', 'proxy', name), join(folder, 'bench', 'proxy', name))
  }
  return folder
}

function postmasterOf(folder: string): string {
  return readFileSync(join(folder, 'postgres', 'data', 'postmaster.pid'), 'utf8').split('\n')[0] as string
}
